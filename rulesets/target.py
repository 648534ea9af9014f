"""One demand on one figure of a report, and the table of what can be demanded.

Targets are one-sided. A metric that has a better side takes only the operators that bound the worse one, so
that no target can fail a server for being faster. Counts are bookkeeping and take every operator.
"""

from __future__ import annotations

import math
import operator
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal, cast, get_args

from rulesets.errors import TargetError
from rulesets.nearest import listing, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Op = Literal["<", "<=", ">", ">=", "==", "!="]
Severity = Literal["fail", "warn", "info"]

COMPARE: Final[Mapping[Op, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Quantity:
    """What kind of figure a metric is.

    Attributes:
        kind: Where a report keeps it: a distribution, a rate over the window, the share of failures, a count.
        stats: The statistics that a report holds of it.
        units: The units that it can be bounded in; each is so many of the report's own.
        default_unit: The unit of a bare number; None when a bare number would be ambiguous.
        ops: The operators that it takes.
        limit: No bound reaches it.
    """

    kind: Literal["latency", "throughput", "error", "count"]
    stats: tuple[str, ...]
    units: Mapping[str, Decimal]
    default_unit: str | None
    ops: tuple[Op, ...]
    limit: float = math.inf


LATENCY: Final = Quantity(
    kind="latency",
    stats=("mean", "min", "max", "p50", "p90", "p95", "p99", "p99.9"),
    units={"us": Decimal("0.001"), "ms": Decimal(1), "s": Decimal(1000), "m": Decimal(60_000)},
    default_unit=None,
    ops=("<", "<="),
)
REQUEST_RATE: Final = Quantity("throughput", ("value",), {"req/s": Decimal(1)}, "req/s", (">", ">="))
TOKEN_RATE: Final = Quantity("throughput", ("value",), {"tok/s": Decimal(1)}, "tok/s", (">", ">="))
ERROR_RATE: Final = Quantity("error", ("rate",), {"": Decimal(1), "%": Decimal("0.01")}, "", ("<", "<="), 1.0)
COUNT: Final = Quantity("count", ("count",), {"": Decimal(1)}, "", ("<", "<=", ">", ">=", "==", "!="))

METRICS: Final[Mapping[str, Quantity]] = {
    "ttft": LATENCY,
    "ttfo": LATENCY,
    "ttfv": LATENCY,
    "ttfb": LATENCY,
    "tpot": LATENCY,
    "itl": LATENCY,
    "latency": LATENCY,
    "latency_from_schedule": LATENCY,
    "ttft_from_schedule": LATENCY,
    "ttfo_from_schedule": LATENCY,
    "ttfv_from_schedule": LATENCY,
    "ttfb_from_schedule": LATENCY,
    "last_token": LATENCY,
    "last_token_from_schedule": LATENCY,
    "held": LATENCY,
    "issue_lag": LATENCY,
    "send_lag": LATENCY,
    "connect": LATENCY,
    "qps": REQUEST_RATE,
    "output_tps": TOKEN_RATE,
    "total_tps": TOKEN_RATE,
    "error": ERROR_RATE,
    "issued": COUNT,
    "completed": COUNT,
    "failed": COUNT,
    "cancelled": COUNT,
}
"""Every metric that a target can name."""

METRIC_ALIASES: Final = {"e2e": "latency", "tps": "output_tps", "rps": "qps"}
STAT_ALIASES: Final = {"avg": "mean", "med": "p50", "p999": "p99.9"}

_PERCENTILE: Final = re.compile(r"p\s*(?:\(\s*(\d+(?:\.\d+)?)\s*\)|(\d+(?:\.\d+)?))")


@dataclass(frozen=True, slots=True)
class Target:
    """One demand on one figure of a report. Make one with `Target.of`, which validates.

    Attributes:
        metric: A name of `METRICS`.
        stat: One of the metric's statistics.
        op: How the figure must stand to the bound.
        value: The bound, in `unit`.
        unit: One of the metric's units; empty for counts and for a rate that is a fraction.
        severity: Whether a miss fails the run (`fail`) or is only shown (`warn`, `info`).
        source: Where the number comes from.
        where: The part of the requests that it concerns, as (tag, value) pairs; empty for all of them.
        id: Its name in the verdict, unique in a ruleset.
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
    ) -> Target:
        """Make a target from names as people write them.

        Args:
            metric: A metric or an alias of one.
            op: An operator.
            value: The bound, in `unit`.
            stat: A statistic or an alias; None for the only one of the metric.
            unit: A unit; None for the metric's default.
            severity: `fail`, `warn` or `info`.
            source: Where the number comes from.

        Raises:
            TargetError: One of them does not exist, or they do not go together.
        """
        name = _metric(metric)
        quantity = METRICS[name]
        target = cls(
            metric=name,
            stat=_stat(name, quantity, stat),
            op=_op(name, quantity, op),
            value=float(value),
            unit=_unit(name, quantity, unit, value),
            severity=_severity(severity),
            source=source,
        )
        _check_bound(target)
        return target

    @property
    def quantity(self) -> Quantity:
        """What kind of figure it bounds."""
        return METRICS[self.metric]

    @property
    def bound(self) -> float:
        """The bound in the report's own unit. Decimal, so that 0.7 % is 0.007 and not its neighbour."""
        return float(_exact(self.value) * self.quantity.units[self.unit])

    def in_unit(self, figure: float) -> float:
        """Convert a figure of the report into the target's unit."""
        return float(_exact(figure) / self.quantity.units[self.unit])


def spell(stat: str) -> str:
    """Write a statistic as the short form does: `p(99)`, `mean`."""
    return f"p({stat[1:]})" if _PERCENTILE.fullmatch(stat) else stat


def _metric(name: str) -> str:
    metric = METRIC_ALIASES.get(name, name)
    if metric not in METRICS:
        raise TargetError(
            "metric", f"there is no metric {name!r}; {suggestion(name, [*METRICS, *METRIC_ALIASES])}"
        )
    return metric


def _stat(metric: str, quantity: Quantity, name: str | None) -> str:
    if name is None and len(quantity.stats) == 1:
        return quantity.stats[0]
    if not name:
        raise TargetError("stat", f"{metric} needs a statistic: {listing(map(spell, quantity.stats))}")
    stat = STAT_ALIASES.get(name, name)
    percentile = _PERCENTILE.fullmatch(stat)
    if percentile:
        stat = f"p{Decimal(percentile[1] or percentile[2]).normalize():f}"
    if stat in quantity.stats:
        return stat
    if percentile and quantity.kind == "latency":
        held = listing([spell(held) for held in quantity.stats if _PERCENTILE.fullmatch(held)], "and")
        raise TargetError("stat", f"the report does not hold {spell(stat)}; it holds {held}")
    aliases = [alias for alias, meant in STAT_ALIASES.items() if meant in quantity.stats]
    known = suggestion(name, [*map(spell, quantity.stats), *aliases])
    raise TargetError("stat", f"{metric} has no statistic {name!r}; {known}")


def _op(metric: str, quantity: Quantity, name: str) -> Op:
    if name in quantity.ops:
        return name
    why = ": a faster server must never fail" if name in COMPARE else ""
    raise TargetError("op", f"{metric} takes {listing(quantity.ops)}, not {name!r}{why}")


def _unit(metric: str, quantity: Quantity, name: str | None, value: float) -> str:
    if name is None:
        if quantity.default_unit is None:
            raise TargetError("unit", f"{value:g} of what? {metric} needs a unit: {listing(quantity.units)}")
        return quantity.default_unit
    if name in quantity.units:
        return name
    units = [unit for unit in quantity.units if unit]
    known = suggestion(name, units) if units else "it is a plain number"
    raise TargetError("unit", f"{metric} has no unit {name!r}; {known}")


def _severity(name: str) -> Severity:
    if name not in get_args(Severity):
        raise TargetError(
            "severity", f"there is no severity {name!r}; {suggestion(name, get_args(Severity))}"
        )
    return cast("Severity", name)


def _check_bound(target: Target) -> None:
    value = target.value
    if not math.isfinite(value) or not math.isfinite(target.bound):
        raise TargetError("value", f"the bound must be a finite number, and {value:g}{target.unit} is not")
    if value < 0:
        raise TargetError("value", f"the bound is {value:g}, and {target.metric} is never negative")
    if target.bound >= target.quantity.limit:
        raise TargetError(
            "value",
            f"{value:g}{target.unit} bounds nothing: the {target.metric} rate is a fraction below 1; "
            "for one in a hundred write 1% or 0.01",
        )


def _exact(number: float) -> Decimal:
    return Decimal(repr(float(number)))
