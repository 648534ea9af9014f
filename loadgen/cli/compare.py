"""`loadgen compare`: runs side by side, with significance tests."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from loadgen.sessions.settings.compare import CompareSettings


def compare(settings: CompareSettings) -> None:
    """Compare runs with the first one, or with the runs of a baseline.

    Shows each metric with its interval in each run, and the change with its interval. The primary metrics and
    the scores that the runs have in common decide: exit 1 when one is significantly worse by more than
    --min-effect, 5 when none could be tested, else 0. One run per side does not show how much
    runs vary; a baseline of several runs does.

    [bold]Examples[/bold]

    loadgen compare runs/old runs/new

    loadgen compare runs/new-1 runs/new-2 --baseline runs/old-1 --baseline runs/old-2 --metric output_tps

    loadgen compare runs/old-sweep runs/new-sweep

    loadgen compare artifacts/main artifacts/change --format html -o comparison.html
    """
    from loadgen.cli.terminal.show import show_as
    from loadgen.cli.terminal.streams import end_with_the_reader
    from loadgen.sessions.compare_runs import answers_of_comparison, compare_runs
    from loadgen.sessions.files.run_folder import require_no_log
    from loadgen.sessions.files.series_file import is_series
    from loadgen.sessions.formats import format_facts, render
    from loadgen.sessions.gating.outputs import write_output
    from loadgen.sessions.plotting import plots_of_comparison
    from loadgen.sessions.series.sweep.run_sweep import require_plot
    from loadgen.sessions.settings.format_options import chosen_format
    from loadgen.sessions.settings.verdict_options import exit_code

    if any(map(is_series, map(Path, (*settings.baseline, *settings.runs)))):
        from loadgen.cli.compare_series import compare_series

        compare_series(settings, compare)
    form = chosen_format(settings.form, json=settings.json)
    require_plot(wanted=settings.plot is not None or form == "svg")
    files = (("--output", settings.output), ("--markdown", settings.markdown), ("--plot", settings.plot))
    for option, path in files:
        require_no_log(option, path)
    comparison = compare_runs(settings)
    for (option, path), other in zip(files[1:], ("md", "svg"), strict=True):
        if path is not None:
            write_output(option, path, render("comparison", other, comparison))
    end_with_the_reader()
    shown: dict[str, Any] = {}
    if format_facts(form).shows_plots:
        shown = {"plots": plots_of_comparison(comparison), "answers": answers_of_comparison(comparison)}
    show_as("comparison", form, comparison, settings.output, verbose=settings.verbose, **shown)
    raise SystemExit(exit_code(comparison.status))
