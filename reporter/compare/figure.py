"""A figure of one run, and how far it can be trusted.

Requests of one run are no independent replicates of the server: they shared its queue, its caches and its
clock. Rates and means therefore have the interval of batch means over blocks of time. Percentiles have that
of order statistics, and shares Wilson's, each of the *effective* number of requests
(reporter/compare/blocks.py) instead of their number: R. S. Woodruff, "Confidence intervals for medians and
other position measures", J. Am. Stat. Assoc. 47, 1952, does so for the percentiles of any sample that is not
a simple one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from statistics import stdev
from typing import TYPE_CHECKING, Any, Final, TypeVar

from reporter.compare.blocks import FEWEST_BLOCKS, effective_number
from reporter.kinds import members, number
from rulesets.errors import Unanswerable
from rulesets.statistics import batch_means, normal, order_statistics, student, wilson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reporter.compare.blocks import Blocks
    from reporter.compare.metric import Kind, Metric
    from rulesets.evidence import Evidence


Told = TypeVar("Told")


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of one run.

    Attributes:
        value: In the metric's unit.
        n: The requests (gaps, for `itl`) behind it.
        low: The lower end of its interval; None where none is known.
        high: The upper end.
        below: Its standard error downwards, relative to the value; absolute for shares. Infinite where there
            is no limit on that side.
        above: Its standard error upwards.
        freedom: Degrees of freedom of both; None where they are known as if from many.
        effective: How many independent requests would tell as much; None for rates and means.
        questions: Of a score, the value of each question, as far as they are known.
    """

    value: float
    n: int
    low: float | None = None
    high: float | None = None
    below: float = math.inf
    above: float = math.inf
    freedom: int | None = None
    effective: int | None = None
    questions: Mapping[str, float] | None = None


def figure(run: Evidence, metric: Metric, level: float) -> Figure | None:
    """The figure of a run; None where it has none, or only its report is left and does not hold it.

    Args:
        run: The run.
        metric: Which figure.
        level: Of its interval, such as 0.95.
    """
    try:
        return _FIGURES[metric.kind](run, metric, level)
    except Unanswerable:
        return None


def critical(level: float, freedom: float | None) -> float:
    """How many standard errors an interval of that level reaches to each side."""
    if freedom is None:
        return normal.quantile((1 + level) / 2)
    return student.bound(level, freedom)


def _rate(run: Evidence, metric: Metric, level: float) -> Figure | None:
    rate = run.rate(metric.of, metric.where)
    return None if rate.value is None else _by_blocks(rate.value, rate.n, rate.blocks, level)


def _mean(run: Evidence, metric: Metric, level: float) -> Figure | None:
    sample = run.sample(metric.of, metric.where)
    mean = sample.mean()
    if mean is None:
        return None
    return _by_blocks(mean, sample.count, _told(sample.block_means), level)


def _by_blocks(value: float, n: int, told: Sequence[float], level: float) -> Figure:
    blocks = batch_means.grouped(told)
    if len(blocks) < FEWEST_BLOCKS or value <= 0:
        return Figure(value, n)
    error, freedom = stdev(blocks) / math.sqrt(len(blocks)), len(blocks) - 1
    half = error * critical(level, freedom)
    return Figure(value, n, value - half, value + half, error / value, error / value, freedom)


def _percentile(run: Evidence, metric: Metric, level: float) -> Figure | None:
    sample, p = run.sample(metric.of, metric.where), metric.p or Fraction(1, 2)
    value, n = sample.percentile(p), sample.count
    if value is None or not math.isfinite(value):
        return None
    blocks = _told(partial(sample.block_counts, (value,)))
    if len(blocks) < FEWEST_BLOCKS or value <= 0:
        return Figure(value, n)
    effective = effective_number([(met, of) for met, of in blocks], level, n)
    ranks = order_statistics.interval(effective, p, level)
    low = None if ranks.lower is None else sample.at(ranks.lower * n // effective)
    high = None if ranks.upper is None else sample.at(-(-(ranks.upper + 1) * n // effective) - 1)
    # Interpolated percentiles of few values can lie beside the interval of ranks.
    low, high = None if low is None else min(low, value), None if high is None else max(high, value)
    z = critical(level, None)
    return Figure(
        *(value, n, low, high),
        below=math.log(value / low) / z if low and low > 0 else math.inf,
        above=math.log(high / value) / z if high and math.isfinite(high) else math.inf,
        effective=effective,
    )


def _error(run: Evidence, metric: Metric, level: float) -> Figure | None:
    counts = run.counts(metric.where)
    failed = counts["failed"] + counts["cancelled"]
    blocks = [] if metric.where else [_ended(moment) for moment in _moments(run.report)]
    return _of_share(failed, counts["completed"] + failed, blocks, level)


def _moments(report: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The moments of the measured time."""
    moments = [members(moment) for moment in report.get("over_time") or ()]
    return [moment for moment in moments if (number(moment.get("start_s")) or 0.0) >= 0]


def _ended(moment: Mapping[str, Any]) -> tuple[float, float]:
    """How many requests failed in a moment, and how many ended."""
    completed, failed, cancelled = (
        number(moment.get(name)) or 0 for name in ("completed", "failed", "cancelled")
    )
    return failed + cancelled, completed + failed + cancelled


def _good(run: Evidence, metric: Metric, level: float) -> Figure | None:
    good = run.good(metric.conditions, metric.where)
    return _of_share(good.good, good.ended, good.blocks, level)


def _of_share(count: int, of: int, blocks: Blocks, level: float) -> Figure | None:
    """A share by Wilson's interval of the effective number of requests."""
    if not of:
        return None
    value, effective = count / of, effective_number(blocks, level, of)
    low, high = wilson.interval(round(value * effective), effective, level)
    z = critical(level, None)
    return Figure(
        *(value, of, low, high), below=(value - low) / z, above=(high - value) / z, effective=effective
    )


def _accuracy(run: Evidence, metric: Metric, level: float) -> Figure | None:
    score = run.accuracy(metric.of)
    if score is None or score.value is None or score.unscored:
        return None
    # Only a log has them.
    ask = getattr(run, "by_question", None)
    questions = None if ask is None else ask(metric.of)
    if score.standard_error is None or score.value <= 0:
        return Figure(score.value, score.n, questions=questions)
    half, error = critical(level, None) * score.standard_error, score.standard_error / score.value
    return Figure(
        *(score.value, score.n, score.value - half, score.value + half),
        below=error,
        above=error,
        questions=questions,
    )


_FIGURES: Final[Mapping[Kind, Callable[[Evidence, Metric, float], Figure | None]]] = {
    "rate": _rate,
    "mean": _mean,
    "percentile": _percentile,
    "error": _error,
    "good": _good,
    "accuracy": _accuracy,
}


def _told(ask: Callable[[], Sequence[Told]]) -> Sequence[Told]:
    """What a run answers; nothing of one of which only the report is left."""
    try:
        return ask()
    except Unanswerable:
        return ()
