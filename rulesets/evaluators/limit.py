"""Confidence limits of figures under targets, and the number of samples that would meet a bound.

The formulas are in `rulesets.statistics`, with their sources.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass
from rulesets.statistics import (
    batch_means,
    bootstrap,
    early_stopping,
    effective_size,
    long_run,
    normal,
    order_statistics,
    wilson,
)
from rulesets.statistics.probability import exactly

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from fractions import Fraction

    from rulesets.demands import Confidence
    from rulesets.evidence import Accuracy, MetricValues
    from rulesets.quantity import Op

_INDEPENDENT: Final = "independent requests"

SEED: Final = 0
"""The seed of the bootstrap: the same run gets the same verdict."""


@dataclass(frozen=True, slots=True)
class ConfidenceLimit:
    """A confidence limit of a figure.

    Attributes:
        value: In the unit of figures; None where there are too few samples.
        words: What it is, for a person.
        needed: About how many samples would make it meet a bound; None where no such number is known.
        remedy: What else would give a limit, where there is none; empty where samples are what is missing.
    """

    value: float | None
    words: str
    needed: Callable[[Op, float], int | None]
    remedy: str = ""


NO_LIMIT: Final = ConfidenceLimit(None, "no confidence limit", lambda _op, _bound: None)


def of_percentile(
    sample: MetricValues, p: Fraction, confidence: Confidence, *, upper: bool
) -> ConfidenceLimit:
    """The limit of a percentile of a distribution."""
    match confidence.method:
        case "early_stopping":
            return _early_stopping(sample, p, confidence)
        case "effective":
            return _of_effective(sample, p, confidence.level, upper=upper)
        case _:
            return _order_statistic(sample, p, confidence.level, upper=upper)


def of_blocks(
    value: float, n: int, blocks: Sequence[float], confidence: Confidence, *, upper: bool
) -> ConfidenceLimit:
    """The limit of a mean or a rate, from the differences between equal spans of the run."""
    side, grouped = _side(upper=upper), batch_means.grouped(blocks)
    if len(grouped) <= 1:
        words = _words(side, confidence.level, "fewer than two blocks of time")
        return ConfidenceLimit(None, words, _unknown, "run for longer: --duration")
    far = _distance(grouped, confidence, upper=upper)
    how = "bootstrap" if confidence.method == "bootstrap" else "batch means"

    def needed(_op: Op, bound: float) -> int | None:
        return _scaled(n, far, bound - value)

    words = _words(side, confidence.level, f"{how}, {len(grouped)} blocks")
    return ConfidenceLimit(value + far if upper else value - far, words, needed)


def _distance(blocks: Sequence[float], confidence: Confidence, *, upper: bool) -> float:
    """How far the limit is from the mean of the blocks, at least 0."""
    two_sided = 2 * exactly(confidence.level) - 1
    if not two_sided:
        return 0.0
    if confidence.method != "bootstrap":
        interval = batch_means.interval(blocks, two_sided)
        return interval.half_width if interval else 0.0
    low, high = bootstrap.interval(blocks, two_sided, SEED) or (0.0, 0.0)
    return max(0.0, high - fmean(blocks) if upper else fmean(blocks) - low)


def of_share(count: int, of: int, level: float, *, upper: bool, what: str = _INDEPENDENT) -> ConfidenceLimit:
    """The limit of a share, by Wilson's score."""
    side = _side(upper=upper)
    value = wilson.upper(count, of, level) if upper else wilson.lower(count, of, level)

    def needed(_op: Op, bound: float) -> int | None:
        return wilson.samples_needed(count, of, bound, level, side)

    return ConfidenceLimit(value, _words(side, level, f"Wilson, {what}"), needed)


def of_score(
    score: Accuracy, value: float, confidence: Confidence, bound: float, *, upper: bool
) -> ConfidenceLimit:
    """The limit of a score.

    Args:
        score: The score.
        value: Its value, which it has.
        confidence: By which method, and how sure.
        bound: The bound: its size shows whether a share is a fraction or in per cent.
        upper: Which side.
    """
    if confidence.method == "wilson" or _spread_is_unknown(score):
        return _of_share_right(score, value, bound, confidence.level, upper=upper)
    return _of_standard_error(score, value, confidence.level, upper=upper)


def _spread_is_unknown(score: Accuracy) -> bool:
    """Whether questions say nothing of how much their scores differ; see docs/statistics.md, scores."""
    by_wilson = score.repeats > 1 and score.interval is not None and score.interval.method == "wilson"
    return score.unit == "share" and (score.standard_error == 0 or by_wilson)


def _of_share_right(
    score: Accuracy, value: float, bound: float, level: float, *, upper: bool
) -> ConfidenceLimit:
    """The limit of a share of right answers, by Wilson's score.

    It also covers a mean of partial credits from 0 to 1, which varies at most as much as a share of as many
    answers. Where questions repeat, it uses the effective number of samples.
    """
    whole = 100 if max(value, bound) > 1 else 1
    size = score.n if score.effective is None else score.effective
    if not size or not 0 <= value <= whole:
        words = _words(_side(upper=upper), level, "Wilson, and the score is not a share of answers")
        return ConfidenceLimit(None, words, _unknown, "use its standard error: ci: clustered")
    what = "independent samples" if size == score.n else f"effective n = {size:,}"
    limit = of_share(round(value / whole * size), size, level, upper=upper, what=what)

    def needed(op: Op, bound: float) -> int | None:
        samples = limit.needed(op, bound / whole)
        return None if samples is None else math.ceil(samples * score.n / size)

    return ConfidenceLimit((limit.value or 0.0) * whole, limit.words, needed)


def _of_standard_error(score: Accuracy, value: float, level: float, *, upper: bool) -> ConfidenceLimit:
    """The limit of a score, by a normal distribution with the standard error."""
    side, error = _side(upper=upper), score.standard_error
    if error is None:
        words = _words(side, level, "its standard error is not known")
        return ConfidenceLimit(
            None, words, _unknown, "give its standard_error too, or use wilson for a share"
        )
    far = normal.quantile(level) * error

    def needed(_op: Op, bound: float) -> int | None:
        return _scaled(score.n, far, bound - value)

    return ConfidenceLimit(value + far if upper else value - far, _words(side, level, "normal"), needed)


def _early_stopping(sample: MetricValues, p: Fraction, confidence: Confidence) -> ConfidenceLimit:
    """The test passes where the (t* + 1)-th largest value meets the bound; the estimate is the t*-th."""
    n, level, form = sample.count, confidence.level, confidence.form or "test"
    if form == "test":
        over = early_stopping.most_over(n, p, level)
        rank = None if over is None else n - 1 - over
    else:
        rank = early_stopping.estimate_rank(n, p, level)

    def needed(op: Op, bound: float) -> int | None:
        return early_stopping.samples_needed(sample.unmet(op, bound), n, p, form, level)

    value = None if rank is None else sample.at(rank)
    return ConfidenceLimit(value, f"early stopping, {form}, {100 * level:g} %, {_INDEPENDENT}", needed)


def _order_statistic(sample: MetricValues, p: Fraction, level: float, *, upper: bool) -> ConfidenceLimit:
    n, side = sample.count, _side(upper=upper)
    find = order_statistics.upper_rank if upper else order_statistics.lower_rank
    rank = find(n, p, level)

    def needed(op: Op, bound: float) -> int | None:
        return order_statistics.samples_needed(sample.unmet(op, bound), n, p, level, side)

    value = None if rank is None else sample.at(rank)
    return ConfidenceLimit(value, _words(side, level, "order statistic"), needed)


def _of_effective(sample: MetricValues, p: Fraction, level: float, *, upper: bool) -> ConfidenceLimit:
    """The order statistic of the effective number of requests: for autocorrelated requests."""
    n, side = sample.count, _side(upper=upper)
    size = _effective(sample, p, 2 * level - 1) if n else None
    if size is None:
        words = _words(side, level, f"order statistic of at least {long_run.FEWEST_VALUES} requests in order")
        return ConfidenceLimit(None, words, _unknown, "send more requests")
    find = order_statistics.upper_rank if upper else order_statistics.lower_rank
    rank = find(size, p, level)

    def needed(op: Op, bound: float) -> int | None:
        unmet = round(sample.unmet(op, bound) * size / n)
        samples = order_statistics.samples_needed(unmet, size, p, level, side)
        return None if samples is None else math.ceil(samples * n / size)

    # Of n values, those that have the rank among `size` evenly spaced ones, on the safe side.
    place = None if rank is None else -(-(rank + 1) * n // size) - 1 if upper else rank * n // size
    words = _words(side, level, f"order statistic, effective n = {size:,}")
    return ConfidenceLimit(None if place is None else sample.at(place), words, needed)


def _effective(sample: MetricValues, p: Fraction, level: float) -> int | None:
    """The effective number of values around a percentile."""
    n = sample.count
    size = effective_size.of_share(sample.in_order(sample.at(min(n - 1, math.floor(n * p)))), level)
    return None if size is None else min(n, size)


def _scaled(n: int, far: float, room: float) -> int | None:
    """The samples that bring a limit `far` away to within `room`: the distance falls as 1 / sqrt(n)."""
    return math.ceil(n * max(far / abs(room), 1.0) ** 2) if room else None


def _unknown(_op: Op, _bound: float) -> None:
    return None


def _side(*, upper: bool) -> Literal["upper", "lower"]:
    return "upper" if upper else "lower"


def _words(side: str, level: float, how: str) -> str:
    return f"{side} {100 * level:g} % limit ({how})"
