"""One demand on one figure of a run. The table in `quantity` lists the possible demands."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from lazy_dataclasses import dataclass
from rulesets import condition
from rulesets.condition import Condition
from rulesets.demands import Confidence  # noqa: TC001 (`from_plain` reads the annotation)
from rulesets.errors import TargetError, listing, suggestion
from rulesets.metric_table import METRICS, quantity_of
from rulesets.quantity import (
    CHANGE,
    COMPARE,
    EVERYTHING,
    METRIC_ALIASES,
    PERCENTILE,
    SCORE_NAME,
    SCORES,
    STAT_ALIASES,
    Op,
    Quantity,
    Scale,
    exact,
    spell,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["COMPARE", "METRICS", "Condition", "OnMissing", "Op", "Quantity", "Severity", "Target", "spell"]

Severity = Literal["fail", "warn", "info"]
OnMissing = Literal["fail", "skip", "inconclusive"]

_ALL = 100
"""Per cent."""


@dataclass(frozen=True, slots=True)
class Target:
    """One demand on one figure of a run. Make one with `Target.of`, which validates.

    Attributes:
        metric: A name of `METRICS`, or `accuracy.` and the name of a score.
        stat: One of the metric's statistics.
        op: How the figure must compare with the bound.
        value: The bound, in `unit`.
        unit: One of the metric's units; empty for counts, lengths, scores and for a share that is a fraction.
        severity: Whether a miss fails the run (`fail`) or is only shown (`warn`, `info`).
        where: The part of the requests that it concerns, as sorted (tag, value) pairs; empty for all.
        id: Its name in the verdict, unique in a ruleset.
        confidence: The proof that it asks for; None for the figure itself.
        on_missing: Its outcome when there are no samples.
        conditions: Of metric `good`: what a request must meet, in the order of `METRICS`.
        delta: Whether the relative change from the baseline is bounded, as a share; it may be negative.
    """

    metric: str
    stat: str
    op: Op
    value: float
    unit: str
    severity: Severity = "fail"
    source: str = ""
    where: tuple[tuple[str, str], ...] = ()
    id: str = ""
    confidence: Confidence | None = None
    on_missing: OnMissing = "fail"
    conditions: tuple[Condition, ...] = ()
    delta: bool = False
    note: str = ""

    @classmethod
    def of(
        cls,
        *,
        metric: str,
        op: str,
        value: float,
        stat: str | None = None,
        unit: str | None = None,
        severity: str = "fail",
        source: str = "",
        where: Iterable[tuple[str, str]] = (),
        confidence: Mapping[str, Any] | None = None,
        on_missing: str = "fail",
        conditions: Iterable[Condition] = (),
        delta: bool = False,
        note: str = "",
    ) -> Target:
        """Make a target from names in the user's spelling.

        Raises:
            TargetError: One of them does not exist, or they do not go together, or nothing can meet them.
        """
        name = _metric(metric)
        quantity = quantity_of(name)
        named = _stat(name, quantity, stat)
        compared = _op(name, quantity, op)
        scale = _scale(name, quantity, named, delta=delta)
        target = cls(
            metric=name,
            stat=named,
            op=compared,
            value=float(value),
            unit=_unit("a change" if delta else name, scale, unit, value),
            severity=cast("Severity", _one_of("severity", severity, get_args(Severity))),
            source=source,
            where=_where(name, where),
            confidence=_confidence(confidence, name, named, compared, delta=delta),
            on_missing=cast("OnMissing", _one_of("on_missing", on_missing, get_args(OnMissing))),
            conditions=_conditions(name, conditions),
            delta=delta,
            note=note,
        )
        _check_bound(target)
        return target

    @property
    def quantity(self) -> Quantity:
        """The quantity that the target bounds."""
        return quantity_of(self.metric)

    @property
    def scale(self) -> Scale:
        """The units of the bounded quantity."""
        return CHANGE if self.delta else self.quantity.scale_of(self.stat)

    @property
    def percentile(self) -> Fraction | None:
        """The percentile as a share, exactly: 999/1000 for p(99.9). None for other statistics."""
        return Fraction(self.stat[1:]) / 100 if PERCENTILE.fullmatch(self.stat) else None

    @property
    def bound(self) -> float:
        """The bound in ms, per second, or as a share. Exact: 0.7 % is 0.007, not a neighbouring float."""
        return float(exact(self.value) * self.scale.units[self.unit])

    @property
    def is_only_shown(self) -> bool:
        """Whether the target bounds nothing: an informational figure, which every value meets."""
        bounds_nothing = EVERYTHING.get(self.quantity.kind) == (self.op, self.bound)
        return self.severity == "info" and not self.delta and bounds_nothing

    def in_unit(self, figure: float) -> float:
        """Convert a figure into the target's unit."""
        return float(exact(figure) / self.scale.units[self.unit])


def _confidence(
    asked: Mapping[str, Any] | None, metric: str, stat: str, op: Op, *, delta: bool
) -> Confidence | None:
    if asked is None:
        return None
    from rulesets.confidence import resolve

    return resolve(asked, metric, stat, op, delta=delta)


def _metric(name: str) -> str:
    if name.startswith(SCORES):
        if not SCORE_NAME.fullmatch(name.removeprefix(SCORES)):
            raise TargetError("metric", f"{name!r} names no score; write accuracy.ROUGE1, say")
        return name
    if name.startswith("good("):
        raise TargetError(
            "metric", "write the conditions of good separately: metric good, conditions [ttft<1s]"
        )
    metric = METRIC_ALIASES.get(name, name)
    if metric not in METRICS:
        hint = suggestion(name, [*METRICS, *METRIC_ALIASES, f"{SCORES}NAME"])
        raise TargetError("metric", f"unknown metric {name!r}; {hint}")
    return metric


def _stat(metric: str, quantity: Quantity, name: str | None) -> str:
    if name is None and len(quantity.stats) == 1:
        return quantity.stats[0]
    shown = [*quantity.stats, *["p(N)"] * quantity.percentiles]
    if not name:
        raise TargetError("stat", f"{metric} needs a statistic: {listing(shown)}")
    stat = STAT_ALIASES.get(name, name)
    percentile = PERCENTILE.fullmatch(stat)
    if percentile and quantity.percentiles:
        return _percentile(Decimal(percentile[1] or percentile[2]))
    if stat in quantity.stats:
        return stat
    if name == "delta":
        raise TargetError("stat", "a change is one of a statistic: name that, and add delta: true")
    aliases = [
        alias for alias, meant in STAT_ALIASES.items() if meant in quantity.stats or quantity.percentiles
    ]
    raise TargetError("stat", f"{metric} has no statistic {name!r}; {suggestion(name, [*shown, *aliases])}")


def _percentile(percent: Decimal) -> str:
    if not 0 < percent < _ALL:
        instead = "min" if percent == 0 else "max"
        raise TargetError(
            "stat", f"a percentile is between 0 and 100, and {percent} is not; there is {instead}"
        )
    return f"p{percent.normalize():f}"


def _op(metric: str, quantity: Quantity, name: str) -> Op:
    if name in quantity.ops:
        return name
    one_sided = name in COMPARE and name not in {"==", "!="}
    why = ": a faster server must never fail" if one_sided else ""
    raise TargetError("op", f"{metric} takes {listing(quantity.ops)}, not {name!r}{why}")


def _scale(metric: str, quantity: Quantity, stat: str, *, delta: bool) -> Scale:
    if not delta:
        return quantity.scale_of(stat)
    if quantity.kind == "count":
        raise TargetError(
            "delta", f"{metric} is a count, and counts have no change from a baseline; qps and error have"
        )
    return CHANGE


def _unit(what: str, scale: Scale, name: str | None, value: float) -> str:
    if name is None:
        if scale.default is None:
            raise TargetError("unit", f"{value:g} of what? {what} needs a unit: {listing(scale.units)}")
        return scale.default
    if name in scale.units:
        return name
    units = [unit for unit in scale.units if unit]
    hint = suggestion(name, units) if units else "write a plain number"
    raise TargetError("unit", f"{what} has no unit {name!r}; {hint}")


def _one_of(part: str, name: str, allowed: tuple[str, ...]) -> str:
    if name not in allowed:
        raise TargetError(part, f"unknown {part} {name!r}; {suggestion(name, allowed)}")
    return name


def _where(metric: str, where: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    pairs = tuple(sorted(where))
    if pairs and metric.startswith(SCORES):
        raise TargetError("where", f"{metric} is a score of the whole run, and of no part of it")
    for (tag, _), (following, _) in pairwise(pairs):
        if tag == following:
            raise TargetError("where", f"the tag {tag!r} stands twice, and no request has two values of it")
    if any(not tag for tag, _ in pairs):
        raise TargetError("where", "a tag has no name")
    return pairs


def _conditions(metric: str, conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    if metric == "good":
        return condition.check(conditions)
    if tuple(conditions):
        raise TargetError("conditions", f"{metric} takes no conditions; good does")
    return ()


def _check_bound(target: Target) -> None:
    """Refuse a bound that nothing can meet, and one that everything meets by mistake."""
    value, bound, scale = f"{target.value:g}{target.unit}", target.bound, target.scale
    if not math.isfinite(target.value) or not math.isfinite(bound):
        raise _bad(f"the bound must be a finite number, and {value} is not")
    if bound < scale.least:
        floor = "nothing falls by more than 100 %" if target.delta else f"{target.metric} is never negative"
        raise _bad(f"the bound is {value}, and {floor}")
    if target.quantity.kind == "error" and bound >= scale.greatest:
        raise _bad(
            f"{value} bounds nothing: the error rate is a fraction below 1; "
            "for one in a hundred write 1% or 0.01"
        )
    if bound > scale.greatest:
        raise _bad(f"{target.op}{value} can never be met: a fraction is at most 1, or 100%")
    if (target.op, bound) in {("<", scale.least), (">", scale.greatest)}:
        raise _bad(f"{target.op}{value} can never be met; {target.op}={value} can")
    if target.op in {"==", "!="} and not target.value.is_integer():
        raise _bad(f"{target.metric} is a whole number, and never {value}")


def _bad(message: str) -> TargetError:
    return TargetError("value", message)


def meets(target: Target, figure: float) -> bool:
    """Whether a figure meets a target; NaN, infinity and negative figures never do.

    Args:
        target: The target.
        figure: In ms, req/s, tok/s, or as a share.
    """
    is_possible = math.isfinite(figure) and (figure >= 0 or target.delta)
    return is_possible and COMPARE[target.op](figure, target.bound)
