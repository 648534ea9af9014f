"""The runs of series as values of a page: points on the axes that a reader chooses."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.plots.plot_value import Axis


@dataclass(frozen=True, slots=True)
class CurvePoint:
    """A run on the axes that a reader chooses.

    Attributes:
        label: The load.
        values: By axis, the figure with the ends of the interval; None where these are unknown.
        result: In a word or two; empty without requirements.
        link: The address of the report; empty where there is none.
    """

    label: str
    run: str
    values: Mapping[str, tuple[float, float | None, float | None]]
    result: str
    is_valid: bool
    warnings: tuple[str, ...]
    link: str


@dataclass(frozen=True, slots=True)
class LoadCurve:
    """Runs that differ in the load alone, in the order of the load."""

    name: str
    points: tuple[CurvePoint, ...]


@dataclass(frozen=True, slots=True)
class LoadCurves:
    """Runs of series on two axes that the reader chooses.

    Attributes:
        axes: By name; each has two runs with a figure.
        targets: The axis, the relation, the bound in the unit of the axis, and the target.
        chosen: The axes at first: x and y.
        planes: By the figure against the output tok/s, the runs of the Pareto front and the knee.
    """

    template: ClassVar = "curves"
    anchor: str
    title: str
    axes: Mapping[str, Axis]
    curves: tuple[LoadCurve, ...]
    targets: tuple[tuple[str, str, float, str], ...]
    chosen: tuple[str, str]
    planes: Mapping[str, Mapping[str, tuple[str, ...]]]
    sql: str = ""
