"""A run in progress as small plots: drawn on the server, replaced with the figures of the page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from reporter.number_text import figure, seconds

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.report import Moment, Report

WIDTH: Final = 600
HEIGHT: Final = 160
_FEWEST: Final = 2
_PLOTS: Final = {
    "Output tokens/s": {"": "output_tps"},
    "TTFT, ms": {"p50": "ttft_p50_ms", "p99": "ttft_p99_ms"},
    "Requests in flight": {"": "in_flight"},
}
"""By title, the figures of a moment that are lines, by their names."""


@dataclass(frozen=True, slots=True)
class LivePlot:
    """A plot.

    Attributes:
        title: What it shows.
        lines: By the names of series, the points of a polyline.
        highest: The figure at the upper edge.
        start: The time at the left edge.
        end: The time at the right edge.
    """

    title: str
    lines: dict[str, str]
    highest: str
    start: str
    end: str


def live_plots(report: Report) -> list[LivePlot]:
    """The plots of the run so far; none before there are two moments."""
    moments = report.over_time
    return [] if len(moments) < _FEWEST else list(_plots(moments))


def _plots(moments: Sequence[Moment]) -> Iterator[LivePlot]:
    start = moments[0].start_s
    span = moments[-1].start_s - start
    for title, series in _PLOTS.items():
        points = {
            name: [
                (moment.start_s, value) for moment in moments if (value := getattr(moment, of)) is not None
            ]
            for name, of in series.items()
        }
        highest = max((value for line in points.values() for _, value in line), default=0.0)
        if highest and span > 0:
            lines = {
                name: " ".join(
                    f"{WIDTH * (at_s - start) / span:.1f},{HEIGHT * (1 - value / highest):.1f}"
                    for at_s, value in line
                )
                for name, line in points.items()
            }
            yield LivePlot(title, lines, figure(highest), seconds(start), seconds(moments[-1].start_s))
