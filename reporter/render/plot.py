"""The Pareto plot of a sweep, as SVG. Needs matplotlib, the extra `plot`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.sweep import front, knee

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reporter.sweep import Spot

_INCHES: Final = (7.0, 4.6)
_AWAY: Final = (6, 5)
"""Points between a spot and its name."""


def pareto(spots: Sequence[Spot], path: Path) -> None:
    """Draw throughput against interactivity, the front as a line, the knee marked.

    Raises:
        ImportError: matplotlib is not there.
        OSError: The file cannot be written.
    """
    # The figure is made without pyplot, which would look for a screen.
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=_INCHES, layout="constrained")
    axes = figure.add_subplot()
    line, bend = front(spots), knee(spots)
    axes.plot(
        [spot.user_tps for spot in line], [spot.output_tps for spot in line], color="tab:blue", zorder=1
    )
    for spot in spots:
        color = "tab:red" if spot == bend else "tab:blue" if spot in line else "tab:gray"
        axes.scatter(spot.user_tps, spot.output_tps, color=color, zorder=2)
        name = f"{spot.name} (knee)" if spot == bend else spot.name
        axes.annotate(
            *(name, (spot.user_tps, spot.output_tps)),
            xytext=_AWAY,
            textcoords="offset points",
            fontsize=8,
            # A name with dollar signs is no formula.
            parse_math=False,
        )
    axes.set_xlabel("interactivity: output tokens/s a user (1000 / median TPOT)")
    axes.set_ylabel("throughput: output tokens/s")
    axes.set_xlim(left=0)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    # The same spots give the same file: no date, and no names at random in it.
    with rc_context({"svg.hashsalt": "pareto"}):
        figure.savefig(path, format="svg", metadata={"Date": None})
