"""The cards that a page of a run opens with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter import statements
from reporter.contents import metric_statements
from reporter.number_text import between, counted, decimals, figure, fixed, percent, whole
from reporter.render import rule_in_words
from reporter.render.console_page import clean
from reporter.render.html.page import CardFigure, FigureCard, FigureCards
from reporter.render.score_tables import PLAIN, called, interval_in_words, value_in_words
from reporter.render.table import Mark, Tone
from rulesets.expression import parse
from rulesets.quantity import spell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.contents.run_contents import HeadlineValue, RunContents
    from reporter.render.table import Cell
    from reporter.report import Report
    from reporter.values.task_score import TaskScore
    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.target import Target

_NOTE: Final = (
    "[low, high]: 95 % confidence interval, widened for autocorrelation; "
    "a figure without one has too few independent requests."
)
_TITLES: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "latency": "Latency"}
_MOST_ERRORS: Final = 3
"""Kinds of failures that the card of failures names."""


def cards(report: Report, contents: RunContents) -> FigureCards | None:
    """The cards: scores, sessions, throughput, latencies, failures; None without a figure."""
    headlines = contents.headlines
    bounds = _bounds(report)
    rates = statements.rates_of(report)
    made = (
        *_scores(report),
        *_sessions(report, headlines),
        *_throughput(report, headlines, bounds, rates),
        *_latencies(report, headlines, bounds),
    )
    if not made:
        return None
    note = _NOTE if any(headline.low is not None for headline in headlines.values()) else ""
    return FigureCards("figures", "Figures", (*made, *_failures(report, headlines, bounds)), note)


Bounds = Mapping[str, tuple[Tone, str]]
_MARKS: Final = {"PASS": "✓", "FAIL": "✗"}
_WHOLE: Final = {"value", "rate"}
"""The statistics of figures with a single statistic."""
_UNBOUND: Final[tuple[Tone, str]] = ("", "")


def _targets(report: Report) -> Iterator[tuple[VerdictRow, Target, str]]:
    """The targets of all requests in words, missed ones first."""
    rows = () if report.verdict is None else report.verdict.rows
    for row in sorted(rows, key=lambda row: row.status == "PASS"):
        if row.group == "target":
            target = parse(row.target)
            if not (target.where or target.delta):
                yield row, target, f"{_MARKS.get(row.status, '?')} {target.op} {rule_in_words.bound(row)}"


def _bounds(report: Report) -> Bounds:
    """By headline, the tone and the text of the first missed target, or else of the first met target."""
    bounds: dict[str, tuple[Tone, str]] = {}
    for row, target, words in _targets(report):
        name = target.metric if target.stat in _WHOLE else f"{target.metric}:{spell(target.stat)}"
        bounds.setdefault(name, ("bad" if row.status == "FAIL" else "", words))
    return bounds


_STATISTICS: Final = ("p50", "p99")


def _further_targets(report: Report, metric: str) -> Iterator[Cell]:
    """The targets of a metric's other statistics, each with the observed figure."""
    for row, target, words in _targets(report):
        statistic = spell(target.stat).translate({ord("("): None, ord(")"): None})
        if target.metric == metric and statistic not in _STATISTICS:
            shown = f"{statistic} {rule_in_words.observed(row)} {words}"
            yield Mark(shown, "bad") if row.status == "FAIL" else shown


def _scores(report: Report) -> Iterator[FigureCard]:
    for score in report.accuracy:
        name, headline = next(iter(score.headlines.items()))
        bound = "at least " if score.unscored and headline.value is not None else ""
        figure_of_score = CardFigure(
            f"{bound}{value_in_words(headline.value, headline.unit)}",
            interval=interval_in_words(headline.interval, headline.unit),
        )
        yield FigureCard(
            label=called(score) if name == PLAIN else f"{called(score)}: {name}",
            figures=(figure_of_score,),
            more=(", ".join(_samples(score)),),
            sql=statements.accuracy(),
        )


def _samples(score: TaskScore) -> Iterator[str]:
    yield counted(score.issued, "sample")
    for outcome in ("unparsed", "missing", "unscored"):
        if count := getattr(score, outcome):
            yield f"{whole(count)} {outcome}"


def _sessions(report: Report, headlines: Mapping[str, HeadlineValue]) -> Iterator[FigureCard]:
    sessions = report.sessions
    durations = {
        name: headlines[key] for name in ("p50", "p95") if (key := f"session:p({name[1:]})") in headlines
    }
    if sessions is None or not durations:
        return
    more = [f"{whole(sessions.endings.get('completed', 0))} of {whole(sessions.count)} completed"]
    if jobs := headlines.get("jobs_per_hour"):
        more.append(f"{figure(jobs.value)} jobs/h{_range(jobs)}")
    if hits := headlines.get("hit_rate"):
        more.append(f"{fixed(100 * hits.value, 1)} % cached")
    figures = tuple(_figure(_in_seconds(duration), name) for name, duration in durations.items())
    yield FigureCard("Session duration", figures, tuple(more), statements.figures("sessions"))


def _range(of: HeadlineValue) -> str:
    return "" if of.low is None else f" {_ends(of)}"


def _in_seconds(of: HeadlineValue) -> HeadlineValue:
    low, high = (None if end is None else end / 1e3 for end in (of.low, of.high))
    return replace(of, value=of.value / 1e3, low=low, high=high, unit="s")


def _throughput(
    report: Report, headlines: Mapping[str, HeadlineValue], bounds: Bounds, rates: str
) -> Iterator[FigureCard]:
    figures = tuple(
        _figure(headlines[name], target=bounds.get(name, _UNBOUND))
        for name in ("output_tps", "qps")
        if name in headlines
    )
    if figures:
        total = report.throughput.total_tps
        more = () if total is None else (f"{figure(total, 4)} total tok/s",)
        label = "Output throughput" if "output_tps" in headlines else "Throughput"
        yield FigureCard(label, figures, more, rates)


def _latencies(
    report: Report, headlines: Mapping[str, HeadlineValue], bounds: Bounds
) -> Iterator[FigureCard]:
    for metrics in (("ttft",), ("tpot", "itl"), ("latency",)):
        shown = {
            metric: tuple(
                _figure(headlines[name], statistic, target=bounds.get(name, _UNBOUND))
                for statistic in _STATISTICS
                if (name := f"{metric}:p({statistic[1:]})") in headlines
            )
            for metric in metrics
        }
        first = next((metric for metric, figures in shown.items() if figures), None)
        if first is not None:
            more = (
                *_further_targets(report, first),
                *(
                    f"{_TITLES[metric]} {', '.join(f'{it.name} {it.value}' for it in figures)} ms"
                    for metric, figures in shown.items()
                    if metric != first and figures
                ),
            )
            names = (f"{it}:p({each.name[1:]})" for it, figures in shown.items() for each in figures)
            sql = metric_statements.figures(names, report)
            yield FigureCard(_TITLES[first], shown[first], more, sql)


def _failures(report: Report, headlines: Mapping[str, HeadlineValue], bounds: Bounds) -> Iterator[FigureCard]:
    counts, error = report.counts, headlines.get("error")
    interval = "" if error is None or error.high is None else f"{_ends(error, scale=100, of=error.high)} %"
    value = CardFigure(
        percent(counts.failed, counts.issued),
        interval=interval,
        tone="bad" if counts.failed else "",
        bound=bounds.get("error", _UNBOUND)[1],
    )
    common = sorted(counts.by_error.items(), key=lambda item: (-item[1], item[0]))
    named = [f"{whole(count)} {clean(name)}" for name, count in common[:_MOST_ERRORS]]
    others = sum(count for _, count in common[_MOST_ERRORS:])
    more = (
        f"{whole(counts.failed)} of {whole(counts.issued)} requests",
        *named,
        *([f"{whole(others)} others"] if others else []),
    )
    yield FigureCard("Failures", (value,), more, statements.figures("counts"))


def _figure(headline: HeadlineValue, name: str = "", target: tuple[Tone, str] = _UNBOUND) -> CardFigure:
    """A figure with as many decimals as show three digits."""
    return CardFigure(
        fixed(headline.value, decimals(headline.value)),
        headline.unit,
        name,
        "" if headline.low is None and headline.high is None else _ends(headline),
        *target,
    )


def _ends(headline: HeadlineValue, scale: int = 1, of: float | None = None) -> str:
    """The ends of an interval, with as many decimals as show three digits of a figure."""
    places = decimals(scale * (headline.value if of is None else of))
    ends = (None if end is None else scale * end for end in (headline.low, headline.high))
    return between(*(fixed(end, places) for end in ends))
