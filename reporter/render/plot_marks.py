"""Phases and bounds of rules in a picture of a plot."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.plots.marks import RunPhase, TargetLine

_WINDOW: Final = "window"
_GRAY: Final = "#777777"
_RED: Final = "#D55E00"
_DASHES: Final = ("--", ":", "-.")
_REACH: Final = 3.0
"""A bound this many times beyond the points is still drawn; one that is farther would flatten them."""


def shade(axes: Any, phases: Iterable[RunPhase]) -> None:
    """Shade and name warm-up and drain on the time axis, within the limits of the plot."""
    left, right = axes.get_xlim()
    for phase in phases:
        start, end = max(left, phase.start_s), min(right, phase.end_s)
        if start < end and phase.name != _WINDOW:
            axes.axvspan(start, end, color=_GRAY, alpha=0.15, linewidth=0, zorder=0)
            name = {"rotation": 90, "transform": axes.get_xaxis_transform(), "verticalalignment": "top"}
            axes.text(start, 0.98, phase.name, fontsize=7, color=_GRAY, **name)
    axes.set_xlim(left, right)


def draw_bounds(axes: Any, lines: Iterable[TargetLine]) -> None:
    """Draw each bound as a line across the plot, named in the legend; a far one is only named."""
    for number, line in enumerate(lines):
        get, put, draw = (
            (axes.get_xlim, axes.set_xlim, axes.axvline)
            if line.axis == "x"
            else (axes.get_ylim, axes.set_ylim, axes.axhline)
        )
        low, high = get()
        style = {"color": _RED, "linewidth": 1, "linestyle": _DASHES[number % len(_DASHES)]}
        if low <= line.bound <= _REACH * high:
            draw(line.bound, label=line.label, **style)
            put(low, max(high, 1.05 * line.bound))
        else:
            axes.plot([], [], label=f"{line.label} (outside)", **style)
