"""The names of the runs of a series, and their axes, as columns of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.render.console_page import clean
from reporter.render.table import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.series_outcome import PointOutcome

NONE: Final = "-"
_LEAST_AXIS: Final = 16


def axis_columns(axes: Sequence[str]) -> list[Column]:
    """The folder, and the values of the axes, which are removed before any figure; long texts are folded."""
    values = [Column(name, 6, justify="left", folds=True, least=_LEAST_AXIS) for name in axes]
    return [Column("run", justify="left", folds=True, least=24), *values]


def axis_cells(outcome: PointOutcome, axes: Sequence[str]) -> list[str]:
    """The folder of a run, and the values on the axes."""
    return [outcome.folder.name, *(shown(outcome.point.axes.get(name)) for name in axes)]


def shown(value: object) -> str:
    """A value of an axis."""
    return clean(f"{value:g}" if isinstance(value, float) else NONE if value is None else str(value))
