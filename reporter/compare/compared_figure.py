"""A figure of one run, with the uncertainty.

Requests of one run are not independent samples of the server: they shared its queue, caches and clock. How
much a request resembles those before it is estimated from the run itself, in the order of issue
(`rulesets.statistics.long_run`), and widens the interval: that of a mean by the design effect, that of a
percentile or a share by the *effective* number of requests in place of their number. R. S. Woodruff,
"Confidence intervals for medians and other position measures", J. Am. Stat. Assoc. 47, 1952, does so for the
percentiles of any sample that is not a simple one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Literal, TypeVar

from lazy_dataclasses import dataclass, replace
from reporter.json_values import members, number
from rulesets.errors import Unanswerable
from rulesets.evaluators.figure import failures
from rulesets.session_metrics import OF_SESSIONS, SESSION_ERROR
from rulesets.statistics import effective_size, normal, order_statistics, student, wilson
from rulesets.statistics.long_run import long_run
from rulesets.statistics.two_percentiles import Ordered, ordered

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from reporter.compare.compared_metric import ComparedMetric, Kind
    from rulesets.evidence import Accuracy, Evidence

POWER: Final = 0.8
"""The chance with which a difference is found that is called detectable."""


@dataclass(frozen=True, slots=True)
class FigureDifference:
    """How a figure differs from the reference's.

    Attributes:
        low: The lower end of its interval; None where none is known.
        p: The chance of a difference as large between two that do not differ; None where none is known.
        detectable: The difference that would be found in four of five comparisons such as this one, in either
            direction; None where none would, or none is known.
        needed: Where p is None for want of requests, how many each run would need.
        paired: Of a score, how many questions both runs were asked and were compared by.
    """

    by: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    detectable: float | None = None
    needed: int | None = None
    paired: int | None = None


def to_ratio(by: float, *, in_points: bool) -> float:
    """A difference of logarithms as a share; a difference in points unchanged."""
    return by if in_points else math.expm1(by)


Value = TypeVar("Value")

Cells = Sequence[tuple[float, float]]
"""In the order of time, of how many and what amount; each a request, or the requests of a span of time."""


@dataclass(frozen=True, slots=True)
class ComparedFigure:
    """A figure of one run.

    Attributes:
        value: In the metric's unit.
        n: The requests (gaps, for `itl`) behind it.
        low: The lower end of its interval; None where none is known.
        below: Its standard error downwards, relative to the value; absolute for shares. Infinite without
            a limit on that side.
        above: Its standard error upwards.
        freedom: Degrees of freedom of both; None where they are known as if from many.
        effective: The equivalent number of independent requests; None for rates and scores.
        ordered: Of a percentile, the values around it; None where their order in time is not known.
        questions: Of a score, the value of each question, as far as they are known.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    below: float = math.inf
    above: float = math.inf
    freedom: float | None = None
    effective: int | None = None
    ordered: Ordered | None = None
    is_share: bool = False
    better: Literal["higher", "lower"] = "higher"
    questions: Mapping[str, float] | None = None


def figure(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    """The figure of a run; None if absent, or if a report lacks the figure."""
    if metric.of in OF_SESSIONS and not run.report.get("sessions"):
        return None
    try:
        return _FIGURES[metric.kind](run, metric, level)
    except Unanswerable:
        return None


def critical(level: float, freedom: float | None) -> float:
    """How many standard errors an interval of that level reaches to each side."""
    if freedom is None:
        return normal.quantile((1 + level) / 2)
    return student.bound(level, freedom)


def _rate(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    rate = run.rate(metric.of, metric.where)
    if rate.value is None:
        return None
    varies = long_run(rate.series)
    if varies is None:
        return ComparedFigure(rate.value, rate.n)
    by_error = _by_error(rate.value, rate.n, math.sqrt(varies.of_mean), varies.freedom, level)
    if metric.kind != "share":
        return by_error
    error = math.sqrt(varies.of_mean)
    return replace(by_error, high=min(by_error.high or 1.0, 1.0), below=error, above=error)


def _mean(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    sample = run.sample(metric.of, metric.where)
    mean = sample.mean()
    if mean is None:
        return None
    cells = _asked(sample.in_order)
    varies = long_run([amount - mean * of for of, amount in cells])
    if varies is None:
        return ComparedFigure(mean, sample.count)
    # Of the sum over the cells, over how many values there are.
    error = math.sqrt(varies.of_mean) * len(cells) / max(1.0, sum(of for of, _ in cells))
    return _by_error(mean, sample.count, error, varies.freedom, level)


def _by_error(value: float, n: int, error: float, freedom: float, level: float) -> ComparedFigure:
    if value <= 0:
        return ComparedFigure(value, n)
    half = error * critical(level, freedom)
    return ComparedFigure(
        value, n, max(0.0, value - half), value + half, error / value, error / value, freedom
    )


def _percentile(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    sample, p = run.sample(metric.of, metric.where), metric.p or Fraction(1, 2)
    value, n = sample.percentile(p), sample.count
    if value is None or not math.isfinite(value):
        return None
    effective = effective_size.of_share(_asked(partial(sample.in_order, value)), level)
    if effective is None or value <= 0:
        return ComparedFigure(value, n)
    effective = min(n, effective)
    ranks = order_statistics.interval(effective, p, level)
    low = None if ranks.lower is None else sample.at(ranks.lower * n // effective)
    high = None if ranks.upper is None else sample.at(-(-(ranks.upper + 1) * n // effective) - 1)
    # Interpolated percentiles of few values can lie outside of the interval of ranks.
    return ComparedFigure(
        value,
        n,
        None if low is None else min(low, value),
        None if high is None or not math.isfinite(high) else max(high, value),
        effective=effective,
        ordered=ordered(sample.at, n, effective, p),
    )


def _error(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    counts = failures(metric.of, metric.where, run)
    failed = counts["failed"] + counts["cancelled"]
    cells = (
        []
        if metric.where or metric.of == SESSION_ERROR
        else [_ended(moment) for moment in _moments(run.report)]
    )
    return _of_share(failed, counts["completed"] + failed, cells, level)


def _moments(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The moments of the measured time."""
    moments = [members(moment) for moment in report.get("over_time") or ()]
    return [moment for moment in moments if (number(moment.get("start_s")) or 0.0) >= 0]


def _ended(moment: Mapping[str, Any]) -> tuple[float, float]:
    """The numbers of ended and of failed requests in a moment."""
    completed, failed, cancelled = (
        number(moment.get(name)) or 0 for name in ("completed", "failed", "cancelled")
    )
    return completed + failed + cancelled, failed + cancelled


def _good(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    good = run.good(metric.conditions, metric.where)
    # Only a log has their order.
    ask = getattr(run, "good_in_order", None)
    cells = () if ask is None else ask(metric.conditions, metric.where)
    return _of_share(good.good, good.ended, cells, level)


def _of_share(count: int, of: int, cells: Cells, level: float) -> ComparedFigure | None:
    """A share by Wilson's interval of the effective number of requests."""
    if not of:
        return None
    value, effective = count / of, min(of, effective_size.of_share(cells, level) or of)
    low, high = wilson.interval(round(value * effective), effective, level)
    z = critical(level, None)
    return ComparedFigure(
        value, of, low, high, below=(value - low) / z, above=(high - value) / z, effective=effective
    )


def _accuracy(run: Evidence, metric: ComparedMetric, level: float) -> ComparedFigure | None:
    score = run.accuracy(metric.of)
    if score is None or score.value is None or score.unscored:
        return None
    # Only a log has them.
    ask = getattr(run, "by_question", None)
    questions = None if ask is None else ask(metric.of)
    is_share = score.unit == "share"
    low, high = _of_score(score, level)
    error = math.inf
    if score.standard_error is not None and (is_share or score.value > 0):
        error = score.standard_error / (1.0 if is_share else score.value)
    z = critical(level, None)
    return ComparedFigure(
        *(score.value, score.n, low, high),
        below=(score.value - low) / z if is_share and low is not None else error,
        above=(high - score.value) / z if is_share and high is not None else error,
        is_share=is_share,
        better=score.better,
        questions=questions,
    )


def _of_score(score: Accuracy, level: float) -> tuple[float | None, float | None]:
    """The interval in the report; for another level, one by an equal method."""
    interval, value = score.interval, score.value or 0.0
    if interval is not None and interval.level == level:
        return interval.low, interval.high
    if interval is not None and interval.method == "wilson":
        size = score.effective or score.n
        return wilson.interval(value * size, size, level)
    if score.standard_error is None:
        return None, None
    half = critical(level, None) * score.standard_error
    low, high = value - half, value + half
    return (max(low, 0.0), min(high, 1.0)) if score.unit == "share" else (low, high)


_FIGURES: Final[Mapping[Kind, Callable[[Evidence, ComparedMetric, float], ComparedFigure | None]]] = {
    "rate": _rate,
    "share": _rate,
    "mean": _mean,
    "percentile": _percentile,
    "error": _error,
    "good": _good,
    "accuracy": _accuracy,
}


def _asked(ask: Callable[[], Sequence[Value]]) -> Sequence[Value]:
    """The values that a run has; empty where there is only a report."""
    try:
        return ask()
    except Unanswerable:
        return ()
