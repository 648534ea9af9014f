"""The Pareto plots of a sweep, as SVG. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.pareto import front, knee

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reporter.log.planes import Plane

_INCHES: Final = (7.0, 4.6)
"""Of each plane."""
_AWAY: Final = (6, 5)
"""Points between a spot and its name."""


def pareto(planes: Sequence[Plane], path: Path) -> None:
    """Draw every plane, one under the other: the front as a line, the knee marked.

    Raises:
        ImportError: matplotlib is not there.
        OSError: The file cannot be written.
    """
    # The figure is made without pyplot, which would look for a screen.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    width, height = _INCHES
    figure = Figure(figsize=(width, height * len(planes)), layout="constrained")
    for axes, plane in zip(figure.subplots(len(planes), squeeze=False)[:, 0], planes, strict=True):
        _draw(axes, plane)
    # The same spots give the same file: no date, and no names at random in it.
    with rc_context({"svg.hashsalt": "pareto"}):
        figure.savefig(path, format="svg", metadata={"Date": None})


def _draw(axes: Any, plane: Plane) -> None:
    line, bend = front(plane.spots), knee(plane.spots).spot
    axes.plot(
        [plane.at(spot) for spot in line], [spot.output_tps for spot in line], color="tab:blue", zorder=1
    )
    for spot in plane.spots:
        point = (plane.at(spot), spot.output_tps)
        color = "tab:red" if spot == bend else "tab:blue" if spot in line else "tab:gray"
        axes.scatter(*point, color=color, zorder=2)
        axes.annotate(
            f"{spot.name} (knee)" if spot == bend else spot.name,
            point,
            xytext=_AWAY,
            textcoords="offset points",
            fontsize=8,
            # A name with dollar signs is not a formula.
            parse_math=False,
        )
    axes.set_xlabel(plane.axis)
    axes.set_ylabel("throughput: output tokens/s")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
