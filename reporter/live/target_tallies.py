"""The targets of a run so far: every measured request that ended counts once, in bounded memory.

Whether a percentile meets a bound is decided by counting the requests that do, wherever the count decides it;
the percentile itself is that of values rounded to `_STEP` of their size.
"""

from __future__ import annotations

import math
from collections import defaultdict
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reporter.json_values import members
from reporter.live.current_figures import LiveTarget
from reporter.percentiles import position
from rulesets.definitions import Definitions
from rulesets.errors import RulesetError
from rulesets.metric_table import BY_NAME
from rulesets.quantity import COMPARE
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from rulesets.target import Target

FOLLOWED: Final = frozenset(
    {
        *("ttft", "ttfo", "ttfv", "ttfb", "last_token", "latency", "tpot", "itl", "decode"),
        *("ttft_from_schedule", "ttfo_from_schedule", "ttfv_from_schedule", "ttfb_from_schedule"),
        *("latency_from_schedule", "last_token_from_schedule"),
        *("input_tokens", "output_tokens"),
    }
)
"""The metrics of requests that the end of a log has figures for, by a request's own events."""

_OF_TOTALS: Final = frozenset(
    {"issued", "completed", "failed", "cancelled", "error", "qps", "output_tps", "total_tps"}
)
"""The metrics that follow from counts."""

_STEP: Final = 0.005
_ZERO: Final = -(10**6)
"""The bin of a value of 0."""
_NO_REQUEST: Final = "no request yet"
_AFTER: Final = "after the run: "


def targets_of(settings: Mapping[str, Any]) -> tuple[Target, ...]:
    """The targets that a run was started with; none where the log has none that can be read."""
    return () if (rules := _rules(settings)) is None else rules.targets


def tallies_of(settings: Mapping[str, Any]) -> TargetTallies:
    """The targets that a run was started with, before the first request."""
    rules = _rules(settings)
    return TargetTallies(
        () if rules is None else rules.targets, Definitions() if rules is None else rules.definitions
    )


def _rules(settings: Mapping[str, Any]) -> Ruleset | None:
    try:
        return Ruleset.of_dict(members(settings.get("ruleset")))
    except RulesetError:
        return None


class SoFar(NamedTuple):
    """The totals since the measured phase began, and its seconds; `cancelled` counts in no rate of errors."""

    seconds: float
    issued: int
    completed: int
    failed: int
    cancelled: int
    input_tokens: float
    output_tokens: float


class TargetTallies:
    """The targets of a run, each with the requests that ended so far.

    Args:
        targets: The targets.
        definitions: The meaning of the figures; of others than the usual one the log's end has no figure.

    Attributes:
        metrics: The metrics of requests that figures are wanted of.
    """

    def __init__(self, targets: Sequence[Target], definitions: Definitions) -> None:
        self._values: defaultdict[str, _Values] = defaultdict(_Values)
        self._tallies = [
            _Tally(target, definitions, self._values) for target in targets if not target.is_only_shown
        ]
        self.metrics = frozenset(metric for tally in self._tallies for metric in tally.metrics)

    def completed(self, figures: Mapping[str, Collection[float]], weight: int) -> None:
        """Take a request with the values of its metrics, in ms and tokens.

        Args:
            figures: The values by metric: one, or of gaps many.
            weight: How many requests it stands for.
        """
        for metric, values in figures.items():
            self._values[metric].add(values, weight)
        for tally in self._tallies:
            tally.completed(figures, weight)

    def shown(self, so_far: SoFar) -> tuple[LiveTarget, ...]:
        """Each target as of now."""
        return tuple(tally.shown(so_far) for tally in self._tallies)


class _Values:
    """The values of a metric, rounded to `_STEP` of their size."""

    def __init__(self) -> None:
        self.count = 0
        self.total = 0.0
        self.lowest, self.highest = math.inf, -math.inf
        self._bins: defaultdict[int, int] = defaultdict(int)

    def add(self, values: Collection[float], weight: int) -> None:
        if not values:
            return
        self.count += weight * len(values)
        self.total += weight * sum(values)
        self.lowest, self.highest = min(self.lowest, *values), max(self.highest, *values)
        for value in values:
            self._bins[round(math.log(value) / _STEP) if value > 0 else _ZERO] += weight

    def ranked(self, rank: int) -> float:
        """The value with this many values below it."""
        for number in sorted(self._bins):
            rank -= self._bins[number]
            if rank < 0:
                break
        return 0.0 if number == _ZERO else min(max(math.exp(number * _STEP), self.lowest), self.highest)


class _Tally:
    def __init__(self, target: Target, definitions: Definitions, values: Mapping[str, _Values]) -> None:
        self._target = target
        self._why = _why_not(target, definitions)
        self.metrics = frozenset() if self._why else _metrics_of(target)
        self._method = definitions.percentile_method
        self._is_inverse = target.quantity.kind == "interactivity"
        self._bound, self._compare = target.bound, COMPARE[target.op]
        self._conditions = [(of.metric, COMPARE[of.op], of.bound) for of in target.conditions]
        self._values = _Values() if self._conditions else values[next(iter(self.metrics), "")]
        self._meets = self._judged = 0

    def completed(self, figures: Mapping[str, Collection[float]], weight: int) -> None:
        if self._conditions:
            self._judged += weight
            self._meets += weight * all(
                any(compare(value, bound) for value in figures.get(metric, ()))
                for metric, compare, bound in self._conditions
            )
        elif self.metrics:
            compare, bound = self._compare, self._bound
            values = figures.get(next(iter(self.metrics)), ())
            if self._is_inverse:
                values = [1e3 / value if value else math.inf for value in values]
            self._meets += weight * sum(compare(value, bound) for value in values)

    def shown(self, so_far: SoFar) -> LiveTarget:
        target = self._target
        if self._why:
            return LiveTarget(target.id, why=self._why)
        figure = self._figure(so_far)
        if figure is None:
            return LiveTarget(target.id, why=_NO_REQUEST)
        shown = LiveTarget(target.id, target.in_unit(figure), target.unit)
        if target.confidence is not None:
            return LiveTarget(target.id, shown.observed, shown.unit, why=f"{_AFTER}limit")
        return LiveTarget(target.id, shown.observed, shown.unit, self._holds(figure))

    def _holds(self, figure: float) -> bool:
        p = self._target.percentile
        if p is not None and (self._is_inverse or self._target.op in {"<", "<="}):
            place = position(self._method, self._values.count, p)
            if self._meets > place.above or self._meets <= place.below:
                return self._meets > place.above
        return self._compare(figure, self._bound)

    def _figure(self, so_far: SoFar) -> float | None:
        target, seconds = self._target, so_far.seconds
        match target.quantity.kind:
            case "error":
                ended = so_far.completed + so_far.failed
                return so_far.failed / ended if ended else None
            case "count":
                return float(getattr(so_far, target.metric))
            case "good":
                of = self._judged + so_far.failed
                per = {"fraction": of, "rate": seconds, "count": 1}[target.stat]
                return self._meets / per if of and per else None
            case "throughput":
                totals = {
                    "qps": so_far.completed,
                    "output_tps": so_far.output_tokens,
                    "total_tps": so_far.output_tokens + so_far.input_tokens,
                }
                return totals[target.metric] / seconds if seconds and so_far.completed else None
            case _:
                value = self._value() if self._values.count else None
                return 1e3 / value if self._is_inverse and value else value

    def _value(self) -> float:
        values = self._values
        match self._target.stat:
            case "mean":
                return values.total / values.count
            case "min":
                return values.highest if self._is_inverse else values.lowest
            case "max":
                return values.lowest if self._is_inverse else values.highest
        place = position(self._method, values.count, self._target.percentile or Fraction(0))
        return place.between(values.ranked(place.below), values.ranked(place.above))


def _metrics_of(target: Target) -> frozenset[str]:
    match target.quantity.kind:
        case "good":
            return frozenset(condition.metric for condition in target.conditions)
        case "interactivity":
            return frozenset({"tpot"})
        case "latency" | "length":
            return frozenset({target.metric})
        case _:
            return frozenset()


def _why_not(target: Target, definitions: Definitions) -> str:
    """The reason why the log so far cannot tell; empty where it can."""
    metrics = _metrics_of(target)
    if target.where:
        return f"{_AFTER}part of requests"
    if target.delta:
        return f"{_AFTER}baseline"
    if not (metrics or target.metric in _OF_TOTALS) or not metrics <= FOLLOWED:
        return f"{_AFTER}whole log"
    usual = Definitions()
    named = {"latency_origin", *(name for of in metrics for name in BY_NAME[of].depends_on)}
    if metrics and any(getattr(definitions, name) != getattr(usual, name) for name in named):
        return f"{_AFTER}own definition"
    return ""
