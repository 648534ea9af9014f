"""The plots of a run in the order of a page: plots of one latency are under one heading, one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.render.html.page import PlotGroup

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.plots.plot_value import Plot

_DISTRIBUTIONS: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "latency": "Latency"}
_CHOICES: Final = {"histogram": "Histogram", "cdf": "Cumulative", "percentiles": "By percentile"}


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
    return PlotGroup(f"{_DISTRIBUTIONS[name]} distribution", tuple(members), choices)


def _with_titles(plot: Plot, titles: Mapping[str, str]) -> Plot:
    """The plot, with titles in place of names of other plots in the note."""
    note = plot.note
    for name, title in titles.items():
        note = note.replace(f"`{name}`", f"\u201c{title}\u201d")
    return replace(plot, note=note)
