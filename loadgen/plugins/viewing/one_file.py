"""Reports and comparisons as pages of one file each, as `--format html` writes them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import quote

from loadgen.sessions.compare_runs import compare_runs
from loadgen.sessions.formats import render
from loadgen.sessions.plotting import plots_of_comparison
from loadgen.sessions.run.repeat import repeat_command
from loadgen.sessions.run.report_of_log import opened_report
from loadgen.sessions.series.outcomes_so_far import ended_so_far
from loadgen.sessions.series.overview import overview
from loadgen.sessions.settings.compare import CompareSettings
from reporter.contents.run_contents import run_contents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_HTML = "html"


def report_page(run: Path, name: str) -> str:
    """The report of a run, computed from its log; no file is written."""
    with opened_report(run, None) as (report, evidence):
        contents = run_contents(report, evidence)
    command = f"loadgen report {name} --format html"
    return render("report", _HTML, report, contents=contents, command=command, repeat=repeat_command(run))


def series_page(folder: Path, where: str) -> str:
    """The runs of a series that have ended, with links to their reports, and the result of the series."""
    from loadgen.sessions.files.series_file import read

    series = read(folder)
    shown = overview(folder, series, ended_so_far(folder, series))
    links = {row["folder"]: f"{where}/{quote(row['folder'])}" for row in shown.rows}
    return render("series", _HTML, replace(shown, links=links))


def comparison_page(runs: Sequence[Path]) -> str:
    """Runs compared with the first one of them."""
    comparison = compare_runs(CompareSettings(runs=list(runs)))
    return render("comparison", _HTML, comparison, plots=plots_of_comparison(comparison))
