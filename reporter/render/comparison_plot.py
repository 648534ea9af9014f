"""The differences of a comparison and their intervals, as SVG. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Final

from reporter.render import compared

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison, MetricChange

_WIDE: Final = 7.0
_HIGH: Final = 0.28
"""Inches of a row."""

_COLORS: Final = {"better": "tab:green", "worse": "tab:red", "different": "tab:orange"}


def render(comparison: Comparison) -> str:
    """A row for each metric and side, in percent or in points; what has no interval is a point alone.

    Raises:
        ImportError: matplotlib is not there.
    """
    # The figure is made without pyplot, which would look for a screen.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    labelled_changes = [
        (f"{row.metric} of {compared.label(comparison, index)}, {'points' if row.in_points else '%'}", change)
        for row in comparison.rows
        for index, change in enumerate(row.changes, start=1)
        if change.by is not None
    ]
    figure = Figure(figsize=(_WIDE, 1 + _HIGH * len(labelled_changes)), layout="constrained")
    axes = figure.add_subplot()
    for place, (_, change) in enumerate(labelled_changes):
        color = _COLORS.get(change.finding, "tab:gray")
        axes.plot([100 * end for end in _ends(change)], [place, place], color=color)
        axes.plot([100 * (change.by or 0.0)], [place], "o", color=color, markersize=4)
    axes.axvline(0, color="black", linewidth=0.8)
    # A name with dollar signs is not a formula.
    axes.set_yticks(
        range(len(labelled_changes)), [name for name, _ in labelled_changes], parse_math=False, fontsize=8
    )
    axes.invert_yaxis()
    axes.set_xlabel(f"change from {compared.label(comparison, 0)}", parse_math=False)
    axes.grid(axis="x", alpha=0.3)
    # The same comparison gives the same file: no date, and no names at random in it.
    with rc_context({"svg.hashsalt": "comparison"}):
        figure.savefig(drawn := StringIO(), format="svg", metadata={"Date": None})
    return drawn.getvalue()


def _ends(change: MetricChange) -> tuple[float, float]:
    """The ends of the interval, where it has two."""
    by = change.by or 0.0
    return (by, by) if change.low is None or change.high is None else (change.low, change.high)
