"""The metrics of comparisons: a metric, one statistic, and the better direction."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING, Final, Literal

from lazy_dataclasses import dataclass
from reporter.errors import OptionError
from rulesets.errors import ExpressionError
from rulesets.expression import parse, unparse
from rulesets.metric_table import BY_NAME, TABLE, quantity_of
from rulesets.quantity import spell

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Where
    from rulesets.quantity import Better, MetricDefinition
    from rulesets.target import Condition, Target

Kind = Literal["rate", "share", "mean", "percentile", "error", "good", "accuracy"]


@dataclass(frozen=True, slots=True)
class ComparedMetric:
    """One figure that runs are compared in.

    Attributes:
        name: As it is written: `ttft:p(99)`.
        kind: How it and its uncertainty are computed.
        of: The metric without its statistic, as evidence is asked for it; of an accuracy its own name.
        better: Which side of it is better; `neither` for lengths.
        unit: Of the figure; empty for a share, which is between 0 and 1, and for a score.
        p: Of a percentile.
        conditions: Of a goodput.
        where: The requests that it is about; empty for all.
    """

    name: str
    kind: Kind
    of: str
    better: Better
    unit: str
    p: Fraction | None = None
    conditions: tuple[Condition, ...] = ()
    where: Where = ()

    @property
    def is_share(self) -> bool:
        """Whether differences are in percentage points: a ratio of shares near 0 is meaningless."""
        return self.kind in {"share", "error", "good"}


DECIDING: Final = ("output_tps", "ttft:mean", "ttft:p(99)", "tpot:mean", "latency:p(99)", "error")
"""What a comparison fails by, with the scores that both sides have, unless `--metric` names others. They are
six so that five runs a side can tell: the smallest p that five and five can have is 1/126, and six times that
is below 0.05."""

_FIRST: Final = (
    *("ttft", "latency", "generation_tps", "prompt_tps", "qps", "tpot", "itl"),
    *("input_tokens", "output_tokens"),
)
"""The order of the further metrics; others of the table follow."""


def _written(metric: MetricDefinition, stat: str) -> str:
    """A figure in the notation of `--metric`: without a statistic if there is only one."""
    return metric.name if metric.quantity.stats == (stat,) else f"{metric.name}:{stat}"


FURTHER: Final = tuple(
    _written(BY_NAME[name], stat)
    for name in dict.fromkeys((*_FIRST, *BY_NAME))
    for stat in BY_NAME[name].compared
)
"""What is shown as well and decides nothing."""

BRIEF: Final = frozenset(_written(metric, stat) for metric in TABLE for stat in metric.compared_briefly)
"""Of the further metrics, those on the console without `--verbose`."""

_HOW: Final = "a metric is written as in a rule, without the bound: 'ttft:p(99)', 'output_tps', 'error'"
_IN_BRACKETS: Final = re.compile(r"\([^)]*\)|\{[^}]*\}")
_BOUND: Final = re.compile(r"[<>=!@]")
_SIMPLE: Final[Mapping[str, Kind]] = {
    "throughput": "rate",
    "share": "share",
    "error": "error",
    "accuracy": "accuracy",
}
_DISTRIBUTIONS: Final = frozenset({"latency", "length", "speed"})


def metric(text: str) -> ComparedMetric:
    """Read a metric as the short form of a rule begins: `ttft{region:eu}:p(99)`, `qps`, `good(ttft<500ms)`.

    Raises:
        OptionError: The metric does not exist, or runs cannot be compared in it.
    """
    target = target_of(text)
    quantity = quantity_of(target.metric)
    kind = _kind(text, target, quantity.kind)
    return ComparedMetric(
        name=_name(target),
        kind=kind,
        of=target.metric.removeprefix("accuracy.") if kind == "accuracy" else target.metric,
        better=_better(target, kind),
        unit="" if kind == "accuracy" else BY_NAME[target.metric].unit,
        p=Fraction(target.stat[1:]) / 100 if kind == "percentile" else None,
        conditions=target.conditions,
        where=target.where,
    )


def target_of(text: str) -> Target:
    """A metric, parsed as part of a rule with a placeholder bound: no change from a baseline.

    Raises:
        OptionError: The metric does not exist, or has a bound.
    """
    if _BOUND.search(_IN_BRACKETS.sub("", text)):
        raise OptionError(f"{text!r}: leave the bound out; {_HOW}")
    mistakes = []
    for bound in (":delta<=0%", ":delta>=0%"):
        try:
            return parse(f"{text}{bound}")
        except ExpressionError as error:
            mistakes.append((error.column, str(error).partition(": ")[2].replace(bound, "")))
    # Of the two, the one that is not about the bound.
    raise OptionError(f"{text!r}: {min(mistakes)[1].rstrip('?')}; {_HOW}")


def _kind(text: str, target: Target, kind: str) -> Kind:
    if kind in _SIMPLE:
        return _SIMPLE[kind]
    if kind == "good" and target.stat == "fraction":
        return "good"
    if kind in _DISTRIBUTIONS and target.stat not in {"min", "max"}:
        return "mean" if target.stat == "mean" else "percentile"
    why = {
        "interactivity": "equal to 1000 / tpot: compare tpot",
        "good": "compare its fraction",
    }.get(kind, "an extreme value says nothing of a server: compare a percentile")
    raise OptionError(f"{text!r}: runs are not compared in {target.metric}:{spell(target.stat)}, for {why}")


def _name(target: Target) -> str:
    """The short form without the bound, and without a statistic that is the only one."""
    name, _, _ = unparse(target).partition(":delta")
    return name.removesuffix(":rate" if target.quantity.kind == "error" else ":value")


def _better(target: Target, kind: Kind) -> Better:
    if kind == "accuracy":
        return "higher"
    return BY_NAME[target.metric].better
