"""The bounds of rules as lines in the plots of a run."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from rulesets.errors import ExpressionError
from rulesets.expression import parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from rulesets.target import Target
    from rulesets.verdict import VerdictRow


@dataclass(frozen=True, slots=True)
class TargetLine:
    """A line across a plot.

    Attributes:
        axis: The axis that the bound is on.
        bound: The bound, in the unit of that axis.
        label: The rule as text.
    """

    axis: Literal["x", "y"]
    bound: float
    label: str


_PLOTS: Final[Mapping[str, Sequence[tuple[str, Literal["x", "y"]]]]] = {
    **{
        metric: (
            (f"{metric}-over-time", "y"),
            (f"{metric}-histogram", "x"),
            (f"{metric}-cdf", "x"),
            (f"{metric}-percentiles", "y"),
        )
        for metric in ("ttft", "tpot", "itl", "latency")
    },
    "qps": (("rate-over-time", "y"),),
    "output_tps": (("tokens-over-time", "y"),),
}
"""The plots with figures of a metric on the axis, by metric."""


def target_lines(rows: Iterable[VerdictRow]) -> Mapping[str, tuple[TargetLine, ...]]:
    """The lines of each plot, by name: targets on all requests, and the conditions of a goodput."""
    return lines_of(_targets(rows))


def _targets(rows: Iterable[VerdictRow]) -> Iterator[tuple[Target, str]]:
    for row in rows:
        if row.group in {"target", "goodput"}:
            with suppress(ExpressionError):
                yield parse(row.target), row.target


def lines_of(targets: Iterable[tuple[Target, str]]) -> Mapping[str, tuple[TargetLine, ...]]:
    """The lines of each plot, from targets with labels."""
    lines: dict[str, dict[TargetLine, None]] = {}
    for target, label in targets:
        for metric, bound, text in _bounds(target, label):
            for plot, axis in _PLOTS.get(metric, ()):
                lines.setdefault(plot, {})[TargetLine(axis, bound, text)] = None
    return {plot: tuple(of_plot) for plot, of_plot in lines.items()}


def _bounds(target: Target, label: str) -> Iterator[tuple[str, float, str]]:
    """The metric, the bound and the text of each bound of a target."""
    if target.where or target.delta:
        return
    yield target.metric, target.bound, label
    for condition in target.conditions:
        yield condition.metric, condition.bound, str(condition)
