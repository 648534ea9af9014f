"""The plots of a run in the order of a page: plots of one latency are under one heading, one at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.render.html.page import PlotGroup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.plots.plot import Plot

_DISTRIBUTIONS: Final = {"ttft": "TTFT", "tpot": "TPOT", "itl": "ITL", "latency": "Latency"}
_KINDS: Final = ("histogram", "cdf", "percentiles")


def grouped(plots: Iterable[Plot]) -> tuple[PlotGroup, ...]:
    """The plots as groups; one that belongs to no other has a group of its own."""
    groups: dict[str, list[Plot]] = {}
    for plot in plots:
        metric, _, kind = plot.name.rpartition("-")
        is_distribution = metric in _DISTRIBUTIONS and kind in _KINDS
        groups.setdefault(metric if is_distribution else plot.name, []).append(plot)
    return tuple(
        PlotGroup(
            f"{_DISTRIBUTIONS[name]} distribution" if name in _DISTRIBUTIONS else members[0].title,
            tuple(members),
        )
        for name, members in groups.items()
    )
