"""The results of a sweep, a search, a suite or an optimization."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from loadgen.notebook import html_of_series

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plots import DrawnPlot
    from loadgen.run import Run


@dataclass(frozen=True, slots=True)
class SweepResult:
    """The runs of a sweep.

    Attributes:
        folder: That of the sweep.
        runs: Its runs, in the order of the points.
        summary: What `sweep.json` has: `points` with their figures, the Pareto fronts and their knees.
    """

    folder: Path
    runs: Sequence[Run]
    summary: Mapping[str, Any]

    def plot(self, name: str = "pareto-interactivity") -> DrawnPlot:
        """A plot of the points of the sweep.

        Args:
            name: `pareto-interactivity` or `pareto-ttft`.

        Raises:
            UsageError: The plot is not one of a sweep, or the sweep has no data for it.
        """
        from loadgen.plots import plot

        return plot(self.folder, name=name)

    def _repr_html_(self) -> str | None:
        return html_of_series(self.folder)


@dataclass(frozen=True, slots=True)
class SearchResult:
    """The end of a search.

    Attributes:
        folder: That of the search.
        load: The highest rate (req/s) or concurrency that met every requirement; None if none was found.
        summary: What `search.json` has: why it ended, between which loads the limit is, and every trial.
        runs: The trials, in their order.
    """

    folder: Path
    load: float | None
    summary: Mapping[str, Any]
    runs: Sequence[Run]

    def _repr_html_(self) -> str | None:
        return html_of_series(self.folder)


@dataclass(frozen=True, slots=True)
class SuiteResult:
    """The runs of a suite.

    Attributes:
        folder: That of the suite.
        runs: Its runs, in the order of the matrix.
        summary: What `summary.json` has: the `verdict` of all runs together, and `points` with their figures.
    """

    folder: Path
    runs: Sequence[Run]
    summary: Mapping[str, Any]

    def _repr_html_(self) -> str | None:
        return html_of_series(self.folder)
