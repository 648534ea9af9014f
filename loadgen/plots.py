"""Plots of runs as values, as tables of points and as pictures, for scripts and notebooks."""

from __future__ import annotations

from base64 import b64encode
from html import escape
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from lazy_dataclasses import dataclass, fields
from loadgen.sessions.error_exit_codes import one_tree
from loadgen.sessions.errors import UsageError
from reporter.plots.plot_value import Plot

if TYPE_CHECKING:
    import pyarrow as pa
    from matplotlib.figure import Figure


class OnDisk(Protocol):
    """A run or a sweep, which has a folder."""

    @property
    def folder(self) -> Path:
        """The folder on disk."""


def plot(*runs: OnDisk | str | Path, name: str, tag: str | None = None) -> DrawnPlot:
    """A plot of a run, of several runs in one plot, or of a sweep.

    Args:
        *runs: Runs, or their folders; or a sweep.
        name: As `loadgen plot --list` names it; one plot, not a picture of several.
        tag: A tag of the dataset, for a series per value.

    Raises:
        UsageError: The plot does not exist, the runs have no data for it, or a log cannot be read.
    """
    from loadgen.sessions.plotting import plots_of
    from reporter.plots.make import SETS
    from reporter.plots.plot_value import NoPlot

    if not runs:
        raise UsageError("plot: name at least one run")
    folders = tuple(Path(run) if isinstance(run, str | Path) else run.folder for run in runs)
    with one_tree():
        if name in SETS:
            raise UsageError(f"{name}: is a picture of several plots; name one: {', '.join(SETS[name])}")
        (made,) = plots_of(folders, name, tag)
    if isinstance(made, NoPlot):
        raise UsageError(f"{name}: {made.reason}")
    return DrawnPlot(**{field.name: getattr(made, field.name) for field in fields(made)}, runs=folders)


@dataclass(frozen=True, slots=True)
class DrawnPlot(Plot):
    """A plot that a notebook shows as a picture.

    Attributes:
        runs: The folders of the runs.
    """

    runs: tuple[Path, ...] = ()

    def arrow(self) -> pa.Table:
        """The points: `series`, `group`, `x`, `y`, `low`, `high`, `label`, in the units of the axes."""
        import pyarrow as pa

        columns: dict[str, list[Any]] = {
            name: [] for name in ("series", "group", "x", "y", "low", "high", "label")
        }
        for series in self.series:
            count, unknown = len(series.x), [None] * len(series.x)
            columns["series"] += [series.name] * count
            columns["group"] += [series.group] * count
            columns["x"] += series.x
            columns["y"] += series.y
            columns["low"] += series.low or unknown
            columns["high"] += series.high or unknown
            columns["label"] += series.labels or unknown
        types = {"series": pa.string(), "group": pa.string(), "label": pa.string()}
        numbers = dict.fromkeys(("y", "low", "high"), pa.float64())
        return pa.table(
            {name: pa.array(values, types.get(name) or numbers.get(name)) for name, values in columns.items()}
        )

    def df(self) -> Any:
        """The points of `arrow` as a pandas DataFrame.

        Raises:
            UsageError: pandas is not installed.
        """
        if find_spec("pandas") is None:
            raise UsageError("df: needs pandas, which is not installed: pip install pandas, or use arrow()")
        return self.arrow().to_pandas()

    def figure(self) -> Figure:
        """The picture as a figure of matplotlib, to change, show or save.

        Raises:
            UsageError: matplotlib is not installed.
        """
        from loadgen.sessions.plotting import marks_of_runs, require_plot_library
        from reporter.render.plot_picture import figure

        require_plot_library()
        with one_tree():
            return figure([self], marks_of_runs(self.runs))

    def _repr_html_(self) -> str:
        from loadgen.sessions.plotting import marks_of_runs
        from reporter.render import notebook_tables
        from reporter.render.plot_picture import picture

        if find_spec("matplotlib") is None:
            return notebook_tables.plot(self)
        with one_tree():
            data = b64encode(picture([self], "svg", marks_of_runs(self.runs))).decode()
        return f'<img alt="{escape(self.title)}" src="data:image/svg+xml;base64,{data}">'
