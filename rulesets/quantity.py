"""The possible demands on a metric: kinds of figures, statistics, units and operators.

Targets are one-sided. A metric that has a better side takes only the operators that bound the worse one, so
that no target can fail a server for being faster. Lengths and scores can be bounded from either side; counts
are bookkeeping and take every operator.
"""

from __future__ import annotations

import math
import operator
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Op = Literal["<", "<=", ">", ">=", "==", "!="]
Kind = Literal[
    "latency",
    "length",
    "speed",
    "interactivity",
    "throughput",
    "share",
    "error",
    "good",
    "count",
    "accuracy",
]

COMPARE: Final[Mapping[Op, Callable[[float, float], bool]]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}


@dataclass(frozen=True, slots=True)
class Scale:
    """The units of a figure, and the range.

    Attributes:
        units: Those that it can be bounded in, each with its size in the unit of figures.
        default: The unit of a bare number; None when a bare number would be ambiguous.
        least: The least that a figure can be, in the unit of figures.
        greatest: The most that a figure can be.
    """

    units: Mapping[str, Decimal]
    default: str | None
    least: float = 0.0
    greatest: float = math.inf


TIME: Final = Scale(
    {"us": Decimal("0.001"), "ms": Decimal(1), "s": Decimal(1000), "m": Decimal(60_000)}, None
)
REQUESTS_A_SECOND: Final = Scale({"req/s": Decimal(1)}, "req/s")
TOKENS_A_SECOND: Final = Scale({"tok/s": Decimal(1)}, "tok/s")
SHARE: Final = Scale({"": Decimal(1), "%": Decimal("0.01")}, "", greatest=1.0)
BYTES: Final = Scale({"B": Decimal(1), "kB": Decimal(1000), "MB": Decimal(1_000_000)}, "B")
NUMBER: Final = Scale({"": Decimal(1)}, "")
SCORE: Final = Scale({"": Decimal(1)}, "", least=-math.inf)
CHANGE: Final = Scale({"": Decimal(1), "%": Decimal("0.01")}, "", least=-1.0)
"""Of a figure relative to the baseline's: 0.03 is 3 % more. What is not negative loses at most all."""


@dataclass(frozen=True, slots=True)
class Quantity:
    """The kind of a metric's figure.

    Attributes:
        kind: What it is, and so where a run has it.
        stats: The statistics that have a name.
        percentiles: Whether p(N) is a statistic too, for any N between 0 and 100.
        scales: Those of statistics that have their own.
    """

    kind: Kind
    stats: tuple[str, ...]
    scale: Scale
    ops: tuple[Op, ...]
    percentiles: bool = False
    scales: Mapping[str, Scale] = field(default_factory=dict)

    def scale_of(self, stat: str) -> Scale:
        """Give the scale of a statistic."""
        return self.scales.get(stat, self.scale)

    @property
    def units(self) -> tuple[str, ...]:
        """All units of the quantity's statistics."""
        all_scales = (self.scale, *self.scales.values())
        return tuple(dict.fromkeys(unit for scale in all_scales for unit in scale.units))


_BELOW: Final[tuple[Op, ...]] = ("<", "<=")
_ABOVE: Final[tuple[Op, ...]] = (">", ">=")
_DISTRIBUTION: Final = ("mean", "min", "max")

LATENCY: Final = Quantity("latency", _DISTRIBUTION, TIME, _BELOW, percentiles=True)
LENGTH: Final = Quantity("length", _DISTRIBUTION, NUMBER, (*_BELOW, *_ABOVE), percentiles=True)
SIZE: Final = Quantity("length", _DISTRIBUTION, BYTES, (*_BELOW, *_ABOVE), percentiles=True)
SPEED: Final = Quantity("speed", _DISTRIBUTION, TOKENS_A_SECOND, _ABOVE, percentiles=True)
INTERACTIVITY: Final = Quantity("interactivity", _DISTRIBUTION, TOKENS_A_SECOND, _ABOVE, percentiles=True)
REQUEST_RATE: Final = Quantity("throughput", ("value",), REQUESTS_A_SECOND, _ABOVE)
TOKEN_RATE: Final = Quantity("throughput", ("value",), TOKENS_A_SECOND, _ABOVE)
JOB_RATE: Final = Quantity("throughput", ("value",), NUMBER, _ABOVE)
HIT_SHARE: Final = Quantity("share", ("value",), SHARE, _ABOVE)
LEVEL: Final = Quantity("throughput", ("value",), NUMBER, (*_BELOW, *_ABOVE))
SHARE_LEVEL: Final = Quantity("throughput", ("value",), SHARE, (*_BELOW, *_ABOVE))
ERROR_RATE: Final = Quantity("error", ("rate",), SHARE, _BELOW)
GOOD: Final = Quantity(
    "good",
    ("fraction", "rate", "count"),
    SHARE,
    _ABOVE,
    scales={"rate": REQUESTS_A_SECOND, "count": NUMBER},
)
COUNT: Final = Quantity("count", ("count",), NUMBER, tuple(COMPARE))
ACCURACY: Final = Quantity("accuracy", ("value",), SCORE, (*_BELOW, *_ABOVE))

EVERYTHING: Final[Mapping[Kind, tuple[Op, float]]] = {
    "latency": ("<=", 86_400_000.0),
    "length": ("<=", 1e12),
    **dict.fromkeys(("speed", "interactivity", "throughput", "share", "good", "count"), (">=", 0.0)),
}
"""The operator and bound of a figure that is only shown, in the unit of figures: a day, more tokens than any
answer has, nothing at all. Shares of errors and scores have none: they are bounded or left out."""

SCORES: Final = "accuracy."
"""What the metrics begin with that are scores; the rest is the name of one."""

METRIC_ALIASES: Final = {
    "e2e": "latency",
    "tps": "output_tps",
    "rps": "qps",
    "osl": "output_tokens",
    "isl": "input_tokens",
    "interactivity": "tps_per_user",
}
STAT_ALIASES: Final = {"avg": "mean", "med": "p50", "median": "p50", "p999": "p99.9"}

PERCENTILE: Final = re.compile(r"p\s*(?:\(\s*(\d+(?:\.\d+)?)\s*\)|(\d+(?:\.\d+)?))", re.ASCII)
DECIMAL: Final = r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?"
"""A number as the short form writes it."""
SCORE_NAME: Final = re.compile(r"[A-Za-z0-9_.-]+")


def spell(stat: str) -> str:
    """Write a statistic as the short form does: `p(99)`, `mean`."""
    return f"p({stat[1:]})" if PERCENTILE.fullmatch(stat) else stat


def exact(number: float) -> Decimal:
    """Convert a number by its decimal notation: 0.7 is 7/10 and not a binary neighbour."""
    return Decimal(repr(float(number)))


Per = Literal["request", "gap", "session", "run"]
Origin = Literal["scheduled", "issued", "sent"]
Need = Literal["stream", "tokens", "gpus", "connections"]
ValueEnd = Literal["low", "high"]
Overhead = Literal["ttft", "latency", "rate"]
Better = Literal["higher", "lower", "neither"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsoleRow:
    """How the latency table of the console shows a metric.

    Attributes:
        group: `server`, what the server is measured by; `held`, how long requests waited for a place;
            `client`, what the client itself took, which `--verbose` adds; `speed`, tokens per second, which
            `--verbose` shows in a separate table.
        twin: The metric of an earlier row whose figures are nearly the same in many runs: with all of them
            within 1 %, this row is left out.
        always: Whether it is shown even then.
        open_loop: Whether it is for open loops alone, where requests may wait to be sent.
        detail: Whether only `--verbose` shows it.
        headline: Whether it is also in what shows few metrics: the summary, findings.
    """

    group: Literal["server", "held", "client", "speed"] = "server"
    twin: str = ""
    always: bool = False
    open_loop: bool = False
    detail: bool = False
    headline: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricDefinition:
    """A metric.

    Attributes:
        name: What rules and `--metric` call it: `ttft`.
        quantity: Its kind, statistics, units and operators.
        definition: How it is computed from the moments of a request (docs/metrics.md); empty of a run's.
        per: What has a value: a request (a column of the view `samples`), a gap between chunks, a session (a
            column of the view `sessions`), or the run.
        in_rules: Whether a rule, and `--metric` of a comparison, can name it.
        origin: The moment of a request that it counts from; None where that is a moment of the response, or
            there is none. The definition `latency_origin` takes the place of `issued` and `sent`.
        needs: What a run must have for it to have values.
        depends_on: The definitions (`rulesets.definitions`) that change it, in addition to those of its kind.
        ends: The ends of its values that `samples` has for stamps in doubt; where one is missing, the value
            is that end.
        while_running: Whether a request's own events determine it: `--abort-on-fail` can end a run for it.
        overhead: The figure whose client overhead it shares; None where it has none.
        label: What tables of people call it; empty where none shows it.
        console: Where the console shows it; None where it does not. A speed is in the group `speed`, a time
            in another; lengths cannot be there.
        in_parts: Whether the parts of a run have it as well.
        in_samples: Whether the results per sample have it as well; those that are in parts always do.
        compared: The statistics that a comparison shows, in addition to the figures that decide.
        compared_briefly: Those of them that the console shows without `--verbose`.
    """

    name: str
    quantity: Quantity
    meaning: str
    definition: str = ""
    use: str = ""
    per: Per = "request"
    in_rules: bool = True
    origin: Origin | None = None
    needs: tuple[Need, ...] = ()
    depends_on: tuple[str, ...] = ()
    ends: tuple[ValueEnd, ...] = ()
    while_running: bool = False
    overhead: Overhead | None = None
    label: str = ""
    console: ConsoleRow | None = None
    in_parts: bool = False
    in_samples: bool = False
    compared: tuple[str, ...] = ()
    compared_briefly: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """The unit of the figures; empty for shares and counts."""
        units = {"latency": "ms", "length": "tokens", "speed": "tok/s"}
        return self.quantity.scale.default or units.get(self.quantity.kind, "")

    @property
    def column(self) -> str:
        """The key of the metric's summary in a report, and the column of `samples`."""
        return f"{self.name}_ms" if self.unit == "ms" else self.name

    def end_column(self, end: ValueEnd) -> str:
        """The column of `samples` with one end of the values; `column` where the values are that end."""
        if end not in self.ends:
            return self.column
        return f"{self.name}_{end}_ms" if self.unit == "ms" else f"{self.name}_{end}"

    @property
    def better(self) -> Better:
        """The better direction of the metric, which rules leave unbounded."""
        below, above = "<" in self.quantity.ops, ">" in self.quantity.ops
        if below and above:
            return "neither"
        return "lower" if below else "higher"
