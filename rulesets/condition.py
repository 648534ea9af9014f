"""A condition that a good request meets: `ttft<500ms`; several conditions make a goodput."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets.errors import TargetError, listing, suggestion
from rulesets.metric_table import METRICS, TABLE
from rulesets.quantity import DECIMAL, METRIC_ALIASES, exact

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Literal

_WRITTEN: Final = re.compile(
    rf"\s*([A-Za-z]\w*)\s*([<>=!]+)\s*({DECIMAL})\s*([A-Za-z%][\w%/]*)?\s*",
    re.ASCII,
)
_OF_GAPS: Final = frozenset(metric.name for metric in TABLE if metric.per == "gap")
_OF_A_REQUEST: Final = [
    metric.name
    for metric in TABLE
    if metric.in_rules and metric.quantity.kind == "latency" and metric.per == "request"
]
"""A request has many gaps between tokens: tpot is their mean."""


@dataclass(frozen=True, slots=True)
class Condition:
    """One of the conditions that a request must meet to be good. Make one with `Condition.of`.

    Attributes:
        metric: A latency of a request, so any but `itl`.
        op: `<` or `<=`.
        value: The bound, in `unit`.
    """

    metric: str
    op: Literal["<", "<="]
    value: float
    unit: str

    @classmethod
    def of(cls, *, metric: str, op: str, value: float, unit: str | None) -> Condition:
        """Make a condition from names in the user's spelling.

        Raises:
            TargetError: One of them does not exist, or nothing can meet it; its part is `conditions`.
        """
        name = METRIC_ALIASES.get(metric, metric)
        if name in _OF_GAPS:
            raise _error(f"a request has many gaps between tokens ({name}); tpot is their mean")
        if name not in _OF_A_REQUEST:
            hint = suggestion(metric, [*_OF_A_REQUEST, "e2e"])
            raise _error(f"{metric!r} is not a latency of a request; {hint}")
        if op not in {"<", "<="}:
            raise _error(f"{name} takes < or <=, not {op!r}: a faster answer must never be a worse one")
        units = METRICS[name].units
        if unit not in units:
            what = (
                f"{value:g} of what? {name} needs a unit" if unit is None else f"{name} has no unit {unit!r}"
            )
            raise _error(f"{what}: {listing(units)}")
        made = cls(name, op, float(value), unit)  # type: ignore[arg-type]  # it is one of the two
        if not math.isfinite(made.value) or not math.isfinite(made.bound):
            raise _error(f"the bound must be a finite number, and {value:g}{unit} is not")
        if made.value < 0 or (made.value == 0 and op == "<"):
            raise _error(f"{name}{op}{value:g}{unit} can never be met: no time is below 0")
        return made

    @classmethod
    def parse(cls, text: str) -> Condition:
        """Parse a condition in the short form: `ttft<500ms`.

        Raises:
            TargetError: The text is not a condition; its part is `conditions`.
        """
        written = _WRITTEN.fullmatch(text)
        if written is None:
            raise _error(f"{text.strip()!r} is not a condition; write one like ttft<500ms")
        return cls.of(metric=written[1], op=written[2], value=float(written[3]), unit=written[4])

    @property
    def bound(self) -> float:
        """The bound in ms."""
        return float(exact(self.value) * METRICS[self.metric].scale.units[self.unit])

    def __str__(self) -> str:
        """The condition in the short form."""
        return f"{self.metric}{self.op}{repr(self.value).removesuffix('.0')}{self.unit}"


def check(conditions: Iterable[Condition]) -> tuple[Condition, ...]:
    """Bring conditions into the order of the table of metrics.

    Raises:
        TargetError: No condition is given, or two are on one metric.
    """
    ordered = tuple(sorted(conditions, key=lambda condition: _OF_A_REQUEST.index(condition.metric)))
    if not ordered:
        raise _error("good needs conditions, e.g. good(ttft<500ms,tpot<50ms)")
    for condition, other in pairwise(ordered):
        if condition.metric == other.metric:
            raise _error(f"{condition} and {other} are both on {condition.metric}; leave one out")
    return ordered


def _error(message: str) -> TargetError:
    return TargetError("conditions", message)
