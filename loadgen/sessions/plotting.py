"""Plots of a run, of several runs, or of a sweep, as values and as files."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

from loadgen.sessions.compare_runs import compare_runs
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import folder_of, require_distinct, require_no_log, write_whole
from loadgen.sessions.files.series_file import SeriesKind, is_series, read
from loadgen.sessions.series.outcomes_so_far import outcomes_so_far
from loadgen.sessions.series.sweep.sweep_files import plots_of as plots_of_sweep
from loadgen.sessions.settings.compare import CompareSettings
from reporter.log.database import OpenLog, open_log
from reporter.plots.make import DIFFERENCES, OF_SWEEPS, PLOTS, SETS, described, make_plot, overlaid
from reporter.plots.marks import PlotMarks, marks_of
from reporter.plots.plot_value import NoPlot, Plot
from reporter.references import has_log
from reporter.render.comparison_figure import differences
from reporter.render.plot_picture import Picture, picture
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.compare.comparison import Comparison

MOST_RUNS: Final = 6
"""More curves could not be distinguished."""


def usual_plot(runs: Sequence[Path]) -> str:
    """The plot that is made where none is named."""
    if len(runs) > 1:
        return "ttft-cdf"
    return "pareto" if is_series(runs[0]) else "over-time"


def plots_of(runs: Sequence[Path], what: str, tag: str | None = None) -> list[Plot | NoPlot]:
    """Make the plots of a name."""
    require_plot_name(what)
    of_sweep = len(runs) == 1 and is_series(runs[0])
    if len(runs) > MOST_RUNS:
        raise UsageError(f"{len(runs)} runs: at most {MOST_RUNS} can be distinguished in a plot")
    names = SETS.get(what, (what,))
    if of_sweep != (names[0] in OF_SWEEPS) or any(map(is_series, runs[1:])):
        raise UsageError(
            f"--what {what}: is a plot of {'a sweep' if names[0] in OF_SWEEPS else 'runs'}; "
            f"{runs[0] if of_sweep else ', '.join(map(str, runs))}: {'a series' if of_sweep else 'no sweep'}"
        )
    if tag is not None and (of_sweep or len(runs) > 1 or what == DIFFERENCES):
        raise UsageError("--by: takes one run: curves are distinguished by the tag or by the run")
    if of_sweep:
        return _of_sweep(runs[0], names)
    if what == DIFFERENCES:
        return [differences(compare_runs(CompareSettings(runs=list(runs))))]
    return _of_runs(runs, names, tag)


def require_plot_name(what: str) -> None:
    """Make sure that there is a plot of this name."""
    names = described()
    if what not in names:
        raise UsageError(
            f"--what {what}: no plot has this name{did_you_mean(what, names)}\n{listed()}".rstrip()
        )


def listed() -> str:
    """Every name, with what it shows, a line each."""
    names = described()
    width = max(map(len, names))
    return "".join(f"{name:<{width}}  {shows}\n" for name, shows in names.items())


def require_plot_library() -> None:
    """Make sure that there is what plots are drawn with."""
    if find_spec("matplotlib") is None:
        raise UsageError(
            "plots are drawn with matplotlib, which is not installed: pip install 'llm-loadgen[plot]' "
            "(--json prints the points without it)"
        )


def picture_path(what: str, out: Path | None) -> Path:
    """Where the picture is written, by default `WHAT.svg` in the current folder."""
    path = Path(f"{what}.svg") if out is None else out
    if path.suffix.removeprefix(".") not in get_args(Picture):
        raise UsageError(f"-o {path}: the ending decides the format: .svg or .png")
    require_no_log("-o", path)
    return path


def write_picture(plots: Sequence[Plot | NoPlot], path: Path, runs: Sequence[Path]) -> bool:
    """Draw plots into a file, and create the folder; return whether any plot could be made.

    Args:
        plots: What was made.
        path: From `picture_path`.
        runs: What they are of; those of one run have its phases and the bounds of its rules.
    """
    made = [plot for plot in plots if isinstance(plot, Plot)]
    if not made:
        return False
    content = picture(made, "png" if path.suffix == ".png" else "svg", marks_of_runs(runs))
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path.resolve(), content)
    except OSError as error:
        raise SetupError(f"-o {path}: cannot be written ({error.strerror})") from error
    return True


def plots_of_comparison(comparison: Comparison) -> list[Plot | NoPlot]:
    """The distributions of compared runs over each other."""
    runs = [Path(run) for side in comparison.sides for run in side.runs]
    with_logs = [run for run in runs if has_log(run)]
    names = [name for latency in _LATENCIES for name in SETS[latency] if PLOTS[name].overlays]
    if 1 < len(with_logs) <= MOST_RUNS:
        return _of_runs(with_logs, names, None)
    reason = (
        f"{len(runs)} runs are more than can be distinguished in a plot (at most {MOST_RUNS})"
        if len(runs) > MOST_RUNS
        else "fewer than two of the runs have a log"
    )
    return [NoPlot(name, PLOTS[name].title, reason) for name in names]


def marks_of_runs(runs: Sequence[Path]) -> PlotMarks | None:
    """The phases of one run and the bounds of its rules; None of several runs or a series."""
    if len(runs) > 1 or is_series(runs[0]):
        return None
    with open_log(runs[0]) as log:
        return marks_of(log)


_LATENCIES: Final = ("ttft", "tpot", "itl", "latency")


def _of_runs(runs: Sequence[Path], names: Sequence[str], tag: str | None) -> list[Plot | NoPlot]:
    chosen = [name for name in names if len(runs) == 1 or PLOTS[name].overlays]
    if not chosen:
        raise UsageError(f"--what {names[0]}: takes one run; {names[0].partition('-')[0]}-cdf takes several")
    plots: dict[str, dict[str, Plot | NoPlot]] = {name: {} for name in chosen}
    for label, run in labels(runs).items():
        with open_log(run) as log:
            if tag is not None:
                _require_tag(log, tag)
            samples = log.with_samples_table()
            for name in chosen:
                plots[name][label] = make_plot(samples, name, tag)
    if len(runs) > 1:
        return [overlaid(of_runs) for of_runs in plots.values()]
    return [plot for of_runs in plots.values() for plot in of_runs.values()]


def labels(runs: Sequence[Path]) -> dict[str, Path]:
    """Short names of runs or series: of their folders, where these differ."""
    require_distinct(runs)
    names = [folder_of(run).resolve().name for run in runs]
    return dict(zip(names if len(set(names)) == len(names) else map(str, runs), runs, strict=True))


def _require_tag(log: OpenLog, tag: str) -> None:
    rows = log.execute(
        "SELECT DISTINCT unnest(json_keys(tags)) AS tag FROM samples WHERE measured AND tags IS NOT NULL "
        "ORDER BY tag"
    ).fetchall()
    tags = [name for (name,) in rows]
    if tag not in tags:
        there = f"there are {', '.join(tags)}" if tags else "requests have no tags (`--tag` gives them)"
        raise UsageError(
            f"--by {tag}: no request of {log.run} has this tag{did_you_mean(tag, tags)}; {there}"
        )


def _of_sweep(folder: Path, names: Sequence[str]) -> list[Plot | NoPlot]:
    folder = folder_of(folder)
    series = read(folder)
    if series.kind != SeriesKind.SWEEP:
        raise UsageError(
            f"{folder}: is the folder of a {series.kind}; plots are of a run, of runs or of a sweep"
        )
    return [plot for plot in plots_of_sweep(outcomes_so_far(folder, series)) if plot.name in names]
