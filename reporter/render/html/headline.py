"""The cards that a page of a run opens with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.number_text import NOTHING, decimals, figure, fixed, whole
from reporter.render.accuracy import PLAIN, called, interval_in_words, value_in_words
from reporter.render.html.page import FigureCard, FigureCards

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from reporter.contents.headline import HeadlineValue
    from reporter.contents.run import RunContents
    from reporter.report import Report

_NOTE: Final = "95 % confidence intervals, widened for autocorrelation."
_NO_INTERVAL: Final = "no interval: too few independent requests"
_TITLES: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "latency": "Latency"}
_FURTHER: Final[Mapping[str, tuple[str, ...]]] = {
    "ttft:p(50)": ("ttft:p(99)",),
    "tpot:p(50)": ("tpot:p(99)", "itl:p(99)"),
    "latency:p(50)": ("latency:p(99)",),
}
"""The latencies of the cards, with what is below them."""


def cards(report: Report, contents: RunContents) -> FigureCards | None:
    """The cards: scores, throughput, TTFT, TPOT and latency; None where the run has none of these."""
    headlines = contents.headlines
    rates = statements.rates(report, contents.windows)
    made = (*_scores(report), *_throughput(report, headlines, rates), *_latencies(report, headlines))
    note = _NOTE if any(headline.low is not None for headline in headlines.values()) else ""
    return (
        FigureCards("figures", "Figures", made, note, (("Requests", statements.counts()),)) if made else None
    )


def _scores(report: Report) -> Iterator[FigureCard]:
    for score in report.accuracy:
        name, headline = next(iter(score.headlines.items()))
        ends = interval_in_words(headline.interval, headline.unit)
        bound = "at least " if score.unscored and headline.value is not None else ""
        yield FigureCard(
            label=called(score) if name == PLAIN else f"{called(score)}: {name}",
            value=f"{bound}{value_in_words(headline.value, headline.unit)}",
            interval=f"95 %: {ends.replace('..', ' to ')}" if ends else "",
            more=(f"{whole(score.issued)} samples, {whole(score.unscored)} unscored",),
            sql=statements.accuracy(),
        )


def _throughput(report: Report, headlines: Mapping[str, HeadlineValue], rates: str) -> Iterator[FigureCard]:
    tokens, requests = headlines.get("output_tps"), headlines.get("qps")
    first = tokens or requests
    if first is None:
        return
    more = [] if tokens is None or requests is None else [_line("", requests, "requests/s")]
    if report.throughput.total_tps is not None:
        more.append(f"{figure(report.throughput.total_tps, 4)} total tokens/s")
    yield FigureCard(
        label="Output throughput" if tokens else "Throughput",
        value=_number(first, first.value),
        unit="tokens/s" if tokens else "requests/s",
        interval=_interval(first),
        more=tuple(more),
        sql=rates,
    )


def _latencies(report: Report, headlines: Mapping[str, HeadlineValue]) -> Iterator[FigureCard]:
    for name, further in _FURTHER.items():
        if (first := headlines.get(name)) is None:
            continue
        column = f"{name.partition(':')[0]}_ms"
        yield FigureCard(
            label=_title(name),
            value=_number(first, first.value),
            unit=first.unit,
            interval=_interval(first),
            more=tuple(
                _line(_title(other), headlines[other], headlines[other].unit, but=_title(name))
                for other in further
                if other in headlines
            ),
            sql=statements.latency(report, column),
        )


def _title(name: str) -> str:
    """`TTFT p99` of `ttft:p(99)`."""
    metric, _, statistic = name.partition(":")
    return f"{_TITLES[metric]} {statistic.replace('(', '').replace(')', '')}"


def _line(title: str, headline: HeadlineValue, unit: str, but: str = "") -> str:
    """A further figure; without the metric's name if equal to the card's."""
    metric, _, statistic = title.partition(" ")
    shown = statistic if but.startswith(f"{metric} ") else title
    ends = "" if headline.low is None or headline.high is None else f" ({_ends(headline)})"
    return f"{shown} {_number(headline, headline.value)} {unit}{ends}".strip()


def _interval(headline: HeadlineValue) -> str:
    return _NO_INTERVAL if headline.low is None and headline.high is None else f"95 %: {_ends(headline)}"


def _ends(headline: HeadlineValue) -> str:
    low, high = (NOTHING if end is None else _number(headline, end) for end in (headline.low, headline.high))
    return f"{low} to {high}"


def _number(headline: HeadlineValue, value: float) -> str:
    """With as many decimals as show three digits of the figure."""
    return fixed(value, decimals(headline.value))
