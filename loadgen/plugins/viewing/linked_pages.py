"""Pages of runs, series, comparisons and requests, with links to each other."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from loadgen.plugins.viewing.one_request import page as pages_of_requests
from loadgen.plugins.viewing.one_request.detail import request_detail
from loadgen.plugins.viewing.run_table import address
from loadgen.sessions.compare_runs import answers_of_comparison, compare_runs
from loadgen.sessions.plotting import plots_of_comparison
from loadgen.sessions.run.repeat import repeat_command
from loadgen.sessions.run.report_of_log import opened_report
from loadgen.sessions.series.outcomes_so_far import ended_so_far
from loadgen.sessions.series.overview import overview, overviews_of
from loadgen.sessions.series_by_point import compare_points, points_of_series
from loadgen.sessions.settings.compare import CompareSettings
from reporter.contents.run_contents import run_contents
from reporter.render.html import comparison_page as comparisons
from reporter.render.html import run_page
from reporter.render.html import series_page as pages_of_series
from reporter.render.html.page_writer import write
from reporter.render.table import Link

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from reporter.render.html.page import Page
    from reporter.render.series_overview import SeriesOverview

_RUNS: Final = Link("Runs", "/")


def _written(page: Page, *above: Link) -> str:
    return write(replace(page, trail=(_RUNS, *above)))


def _link(name: str) -> Link:
    return Link(name, address(name))


def report_page(run: Path, name: str, series: str) -> str:
    """The report of a run, computed from its log; no file is written.

    Args:
        run: The run's folder.
        name: The name of the run in addresses.
        series: The name of the series that the run belongs to; empty without one.
    """
    with opened_report(run, None) as (report, evidence):
        contents = run_contents(report, evidence)
    page = run_page.page_of(report, contents, f"loadgen report {name} --format html")
    requests_at = f"/request?run={quote(name, safe='')}&id="
    page = replace(page, command=repeat_command(run), requests_at=requests_at)
    return _written(page, *([_link(series)] if series else []))


def request_page(run: Path, name: str, named: str) -> str:
    """One request of a run."""
    return _written(pages_of_requests.page_of(request_detail(run, named), name), _link(name))


def series_page(folder: Path, where: str) -> str:
    """The runs of a series that have ended, with links to their reports, and the result of the series."""
    from loadgen.sessions.files.series_file import read

    series = read(folder)
    return _written(
        pages_of_series.page_of(_linked(overview(folder, series, ended_so_far(folder, series)), where))
    )


def _linked(series: SeriesOverview, where: str) -> SeriesOverview:
    """A series with the addresses of the reports of runs."""
    return replace(series, links={row["folder"]: f"{where}/{quote(row['folder'])}" for row in series.rows})


def series_comparison_page(folders: Sequence[Path], names: Sequence[str]) -> str:
    """Two series point by point, with the curves of both in one plot."""
    settings = CompareSettings(runs=list(folders))
    comparison = compare_points(settings, *points_of_series(settings))
    overviews = [_linked(of, address(name)) for of, name in zip(overviews_of(folders), names, strict=True)]
    return _written(comparisons.page_of_series(comparison, overviews))


def comparison_page(runs: Sequence[Path]) -> str:
    """Runs compared with the first one of them."""
    comparison = compare_runs(CompareSettings(runs=list(runs)))
    return _written(
        comparisons.page_of(comparison, plots_of_comparison(comparison), answers_of_comparison(comparison))
    )
