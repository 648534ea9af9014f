"""Tables about one request, for its page and for a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.viewing.one_request.detail import ATTEMPTS, CHUNKS, FIGURES, SERVER_TIMES
from reporter.number_text import NOTHING, figure, fixed, whole
from reporter.render.table import Column, Table, headed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.viewing.one_request.detail import RequestDetail

MOST_CHUNKS: Final = 2000
"""Rows of the table of chunks; a page stays small."""

_MOMENTS: Final = {
    "scheduled_ns": "due",
    "issued_ns": "issued",
    "sent_ns": "first byte sent",
    "uploaded_ns": "last byte sent",
    "first_byte_ns": "first byte of the response",
    "first_token_ns": "first token",
    "first_output_ns": "first token of the output",
    "last_token_ns": "last token",
    "ended_ns": "end",
}
"""The stamps of a request, in order."""

_SERVER: Final = {
    "queue_ms": ("queue", None),
    "prefill_ms": ("prefill", None),
    "head_ms": ("response head", "client_head_ms"),
    "ttft_ms": ("TTFT", "client_ttft_ms"),
    "decode_ms": ("decode", "client_decode_ms"),
    "latency_ms": ("latency", "client_latency_ms"),
}
"""The times that a server states, and the client's columns for the same times."""

_FIGURES: Final = {
    "latency_ms": "Latency",
    "latency_from_schedule_ms": "Latency, incl. queueing",
    "ttft_ms": "TTFT",
    "ttft_from_schedule_ms": "TTFT, incl. queueing",
    "tpot_ms": "TPOT",
}
_COUNTS: Final = {
    "input_tokens": "Input tokens",
    "cached_tokens": "Cached tokens",
    "output_tokens": "Output tokens",
    "chunks": "Chunks",
    "attempts": "Attempts",
}


def figures(detail: RequestDetail) -> Table:
    """Latencies in ms, tokens, chunks and attempts."""
    row = detail.figures
    times = [(label, f"{figure(row[name])} ms") for name, label in _FIGURES.items() if row[name] is not None]
    counts = [(label, whole(row[name])) for name, label in _COUNTS.items() if row[name] is not None]
    return Table(headed("figure", "value", words=1), (*times, *counts))


def moments(detail: RequestDetail) -> Table:
    """The stamps of the request: since it was due, and since the stamp before."""
    rows = tuple(_moments(detail))
    return Table(headed("moment", "at (ms)", "after (ms)", words=1), rows, sql=detail.sql(FIGURES))


def _moments(detail: RequestDetail) -> Iterator[tuple[str, str, str]]:
    row = detail.figures
    hidden = {"first_output_ns"} if row["first_output_ns"] == row["first_token_ns"] else set()
    stamps = [(label, row[of]) for of, label in _MOMENTS.items() if row[of] is not None and of not in hidden]
    for attempt in detail.attempts:
        label = f"attempt {attempt.get('attempt')}"
        stamps.append((f"{label} failed: {attempt.get('error')}", attempt["at_ns"]))
        if (sent_ns := attempt.get("sent_ns")) is not None:
            stamps.append((f"{label} sent", sent_ns))
    stamps.sort(key=lambda stamp: stamp[1])
    if not stamps:
        return
    before = begin = stamps[0][1]
    for label, at_ns in stamps:
        after = NOTHING if label == stamps[0][0] else fixed((at_ns - before) / 1e6, 3)
        yield label, fixed((at_ns - begin) / 1e6, 3), after
        before = at_ns


def attempts(detail: RequestDetail) -> Table:
    """The attempts that failed before the last one."""
    columns = headed("attempt", "error", "message", "status", "took (ms)", "wait (ms)", words=3)
    return Table(columns, tuple(map(_attempt, detail.attempts)), sql=detail.sql(ATTEMPTS))


def _attempt(attempt: Any) -> tuple[str, ...]:
    sent_ns, status = attempt.get("sent_ns"), attempt.get("status")
    return (
        str(attempt.get("attempt")),
        str(attempt.get("error")),
        str(attempt.get("message") or ""),
        NOTHING if status is None else str(status),
        NOTHING if sent_ns is None else fixed((attempt["at_ns"] - sent_ns) / 1e6, 3),
        fixed(attempt.get("wait_ms"), 3),
    )


def server_times(detail: RequestDetail) -> Table:
    """What the server or a gateway states in the response, and the client's figure of the same time."""
    columns = headed("time, stated in", "server (ms)", "client (ms)", "difference (ms)", words=1)
    rows = tuple(row for stated in detail.server_times for row in _stated(stated))
    return Table(columns, rows, sql=detail.sql(SERVER_TIMES))


def _stated(stated: Any) -> Iterator[tuple[str, ...]]:
    for name, (label, of_client) in _SERVER.items():
        if (server_ms := stated[name]) is not None:
            client_ms = None if of_client is None else stated[of_client]
            apart_ms = None if client_ms is None else client_ms - server_ms
            figures_ms = (server_ms, client_ms, apart_ms)
            yield f"{label}, {stated['source']}", *(fixed(value_ms, 3) for value_ms in figures_ms)


def chunks(detail: RequestDetail) -> Table:
    """The chunks with a token: when they arrived since the request was sent, and the intervals."""
    rows = tuple(
        (whole(index + 1), fixed(at_ms, 3), fixed(gap_ms, 3))
        for index, at_ms, gap_ms in detail.chunks[:MOST_CHUNKS]
    )
    cut = (
        f"the first {whole(MOST_CHUNKS)} of {whole(len(detail.chunks))}"
        if len(detail.chunks) > MOST_CHUNKS
        else ""
    )
    return Table(headed("chunk", "at (ms)", "interval (ms)"), rows, cut, detail.sql(CHUNKS))


def columns(detail: RequestDetail) -> Table:
    """Every column of the view `samples`."""
    shown = (Column("column", justify="left"), Column("value", justify="left", folds=True))
    rows = tuple((name, str(value)) for name, value in detail.figures.items() if value is not None)
    return Table(shown, rows, sql=detail.sql(FIGURES))
