"""The plots of a run's page: one on the first screen, then time series, then distributions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.plots.marks import target_lines
from reporter.render.html.page import PlotGroup, Plots

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.contents.run_contents import RunContents
    from reporter.plots.plot_value import Plot
    from rulesets.verdict import VerdictRow

_DISTRIBUTIONS: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "latency": "Latency"}
_CHOICES: Final = {"histogram": "Histogram", "cdf": "CDF", "percentiles": "Percentiles"}


def grouped(plots: Sequence[Plot]) -> tuple[PlotGroup, ...]:
    """Group the plots; a plot without a group gets a separate one."""
    titles = {plot.name: plot.title for plot in plots}
    groups: dict[str, list[Plot]] = {}
    for plot in plots:
        metric, _, kind = plot.name.rpartition("-")
        is_distribution = metric in _DISTRIBUTIONS and kind in _CHOICES
        groups.setdefault(metric if is_distribution else plot.name, []).append(_with_titles(plot, titles))
    return tuple(_group(name, members) for name, members in groups.items())


def _group(name: str, members: Sequence[Plot]) -> PlotGroup:
    if name not in _DISTRIBUTIONS:
        return PlotGroup(members[0].title, tuple(members))
    choices = tuple(_CHOICES[plot.name.rpartition("-")[2]] for plot in members)
    return PlotGroup(_DISTRIBUTIONS[name], tuple(members), choices)


def _with_titles(plot: Plot, titles: Mapping[str, str]) -> Plot:
    """The plot, with titles in place of names of other plots in the note."""
    note = plot.note
    for name, title in titles.items():
        note = note.replace(f"`{name}`", f"\u201c{title}\u201d")
    return replace(plot, note=note)


_OPENING: Final = ("ttft-over-time", "latency-over-time", "rate-over-time")
"""The plot of the first screen: the first plot with data."""

_ZOOM: Final = "Drag across a plot to zoom, double-click to reset; a name in a legend hides its series."


class RunPlots:
    """The plots of a run, by section."""

    def __init__(self, contents: RunContents, rows: Sequence[VerdictRow]) -> None:
        self._contents = contents
        self._lines = target_lines(rows)
        names = {plot.name for plot in contents.plots}
        self._first = next((name for name in _OPENING if name in names), None)

    def opening(self) -> Iterator[Plots]:
        """The plot of the first screen."""
        for plot in self._contents.plots:
            if plot.name == self._first:
                titled = replace(plot, title=plot.title.replace(" and failures", ""))
                yield self._section("first", titled.title, [titled])

    def distributions(self) -> Iterator[Plots]:
        """The plots that are not over time."""
        if plots := [plot for plot in self._contents.plots if plot.x.scale != "time"]:
            yield self._section("distributions", "Distributions", plots, is_last=True)

    def over_time(self) -> Iterator[Plots]:
        """The plots over time but that of the first screen."""
        of_time = (plot for plot in self._contents.plots if plot.x.scale == "time")
        if plots := [plot for plot in of_time if plot.name != self._first]:
            yield self._section("over-time", "Over time", plots, note=_ZOOM)

    def _section(
        self, anchor: str, title: str, plots: Sequence[Plot], *, note: str = "", is_last: bool = False
    ) -> Plots:
        contents = self._contents
        return Plots(
            anchor,
            title,
            grouped(plots),
            {} if anchor == "first" else contents.parts,
            contents.absent if is_last else (),
            note,
            self._lines,
            contents.phases,
        )
