"""The page of one request: figures, life, chunks, texts, attempts, and the server's own times."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.viewing.one_request import tables as request_tables
from loadgen.plugins.viewing.one_request.detail import CHUNKS, FIGURES
from reporter.number_text import counted, figure, whole
from reporter.plots.plot_value import Axis, Plot, PlotSeries
from reporter.render.html.excerpts import request_quotes, timeline
from reporter.render.html.page import (
    CardFigure,
    FigureCard,
    FigureCards,
    Page,
    PlotGroup,
    Plots,
    QuotedTexts,
    RequestLife,
    Tables,
)
from reporter.render.table import Mark

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.viewing.one_request.detail import RequestDetail
    from reporter.contents.texts import Excerpt
    from reporter.render.html.page import Section

_TEXTS: Final = "SELECT * FROM outputs WHERE sample_uuid = {uuid}"
_TONES: Final = {"completed": "good", "failed": "bad"}


def page_of(detail: RequestDetail, run: str) -> Page:
    """The page of a request as a value.

    Args:
        detail: The request.
        run: The name of the run, for the command that shows the request in a terminal.
    """
    texts = detail.texts
    phase = str(detail.figures["phase"]).replace("warmup", "warm-up")
    facts = (texts.issued_at, texts.endpoint, phase, f"id {detail.uuid}")
    return Page(
        title=f"Request {whole(detail.number)} of {whole(detail.requests)}",
        marks=(Mark(texts.status, _TONES.get(texts.status, "doubt")),),  # type: ignore[arg-type]
        lines=tuple(fact for fact in facts if fact),
        sections=tuple(_sections(detail)),
        footer=(f"In a terminal: loadgen request {shlex.quote(run)} {shlex.quote(detail.uuid)}",),
        variables=detail.definitions,
        answer=f"{texts.error}: {texts.message or ''}" if texts.error else "",
        folded=frozenset({"chunks", "columns"}),
    )


def _sections(detail: RequestDetail) -> Iterator[Section]:
    yield FigureCards("figures", "Figures", tuple(_cards(detail)))
    yield RequestLife("life", "Life of the request", timeline(detail.texts), request_tables.moments(detail))
    if detail.attempts:
        yield Tables("attempts", "Failed attempts", (request_tables.attempts(detail),))
    if plot := _intervals(detail):
        yield Plots("intervals", "Chunks", (PlotGroup(plot.title, (plot,)),), {})
    yield QuotedTexts(
        "texts", "Prompt and answer", tuple(request_quotes(detail.texts))[1:], detail.sql(_TEXTS)
    )
    if detail.server_times:
        yield Tables("server", "The server's own times", (request_tables.server_times(detail),))
    if detail.chunks:
        yield Tables("chunks", "All chunks", (request_tables.chunks(detail),))
    yield Tables("columns", "All columns of the log", (request_tables.columns(detail),))


def _cards(detail: RequestDetail) -> Iterator[FigureCard]:
    row, sql = detail.figures, detail.sql(FIGURES)

    def ms(column: str, name: str = "") -> CardFigure:
        return CardFigure(figure(row[column]), "ms", name)

    latency = "latency_ms" if row["latency_ms"] is not None else None
    ended = CardFigure(figure(detail.texts.ended_ms), "ms", "until its failure")
    yield FigureCard("Latency", (ms(latency) if latency else ended,), _also(row, "latency"), sql)
    failed = (f"with {counted(len(detail.attempts), 'failed attempt')}",) if detail.attempts else ()
    waited = CardFigure(figure(detail.texts.waited_ms), "ms")
    yield FigureCard("Queue", (waited,), ("from schedule to send", *failed), sql)
    if row["ttft_ms"] is not None:
        yield FigureCard("TTFT", (ms("ttft_ms"),), _also(row, "ttft"), sql)
    if row["tpot_ms"] is not None:
        yield FigureCard(
            "TPOT",
            (ms("tpot_ms"),),
            (f"{figure(row['generation_tps'])} tok/s",) if row["generation_tps"] else (),
            sql,
        )
    gaps = sorted(gap_ms for _, _, gap_ms in detail.chunks if gap_ms is not None)
    if gaps:
        both = (
            CardFigure(figure(gaps[len(gaps) // 2]), "ms", "p50"),
            CardFigure(figure(gaps[-1]), "ms", "max"),
        )
        yield FigureCard("ITL", both, (f"{counted(len(gaps), 'interval')}",), detail.sql(CHUNKS))
    tokens = CardFigure(whole(row["output_tokens"]), "output")
    cached = (f"{whole(row['cached_tokens'])} cached",) if row["cached_tokens"] is not None else ()
    yield FigureCard("Tokens", (CardFigure(whole(row["input_tokens"]), "input"), tokens), cached, sql)


def _also(row: Any, metric: str) -> tuple[str, ...]:
    queued = row[f"{metric}_from_schedule_ms"]
    return () if queued is None else (f"{figure(queued)} ms incl. queueing",)


def _intervals(detail: RequestDetail) -> Plot | None:
    """The intervals between chunks over time; None for fewer than two chunks."""
    drawn = [(at_ms, gap_ms) for _, at_ms, gap_ms in detail.chunks if gap_ms is not None]
    if not drawn:
        return None
    at_ms, gaps_ms = zip(*drawn, strict=True)
    return Plot(
        "intervals",
        "Intervals between chunks",
        Axis("since the request was sent", "ms"),
        Axis("interval", "ms"),
        (PlotSeries("interval", "points", at_ms, gaps_ms),),
        detail.sql(CHUNKS),
    )


def text_of(detail: RequestDetail, run: str, *, width: int, color: bool) -> str:
    """The request as lines for a terminal."""
    from reporter.render.console_page import block, draw, styled, tables, text

    texts = detail.texts
    shown = [
        request_tables.figures(detail),
        request_tables.moments(detail),
        *([request_tables.attempts(detail)] if detail.attempts else []),
        *([request_tables.server_times(detail)] if detail.server_times else []),
    ]
    error = [text(f"{texts.error}: {texts.message or ''}")] if texts.error else []
    name = f"request {whole(detail.number)} of {whole(detail.requests)} of {run}, id {detail.uuid}"
    quotes = [(quote.label, quote.text) for quote in tuple(request_quotes(texts))[1:] if quote.text.text]
    return draw(
        [
            [
                text(name),
                block("Result", styled(texts.status), *error),
                block("Issued", f"{texts.issued_at} UTC"),
            ],
            *(tables(table, width=width) for table in shown),
            *([block(label, *_lines(words))] for label, words in quotes),
        ],
        width=width,
        color=color,
    )


def _lines(words: Excerpt) -> list[str]:
    rest = [f"… {counted(words.left_out, 'more character')}"] if words.left_out else []
    return [*words.text.splitlines(), *rest]
