"""A series as a value for the renderers of pages, and as a table for spreadsheets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.files.run_folder import folder_of
from loadgen.sessions.files.series_file import Series, SeriesKind, read
from loadgen.sessions.formats import render
from loadgen.sessions.series.outcomes_so_far import ended_so_far
from loadgen.sessions.series.run_rows import notes_of, result, rows
from loadgen.sessions.series.search.run_search import search_outcome
from loadgen.sessions.series.sweep.sweep_files import conclusions, plots_of
from loadgen.sessions.series_outcome import PointOutcome, most_severe
from reporter.render.series_overview import SeriesOverview, heading_lines
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from reporter.report import Report


_STATUS: Final[Mapping[int, str]] = {
    ExitCode.PASS: "PASS",
    ExitCode.FAIL: "FAIL",
    ExitCode.INVALID: "INVALID",
    ExitCode.INCONCLUSIVE: "INCONCLUSIVE",
}
"""By exit code."""


def series_as(form: str, folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> str:
    """Render a series in a format that `loadgen.sessions.formats` has for series."""
    return render("series", form, overview(folder, series, outcomes))


def overviews_of(folders: Sequence[Path]) -> list[SeriesOverview]:
    """Series as far as their runs have ended.

    Raises:
        UsageError: A folder is not that of a series, or none of its runs has ended.
    """
    places = [folder_of(folder) for folder in folders]
    return [overview(place, series := read(place), ended_so_far(place, series)) for place in places]


def overview(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> SeriesOverview:
    """A series as the value that renderers take."""
    code = most_severe(outcomes)
    required = any(outcome.report.verdict is not None for outcome in outcomes) or code != ExitCode.PASS
    return SeriesOverview(
        name=folder.resolve().name,
        kind=series.kind,
        status=_STATUS.get(code, "") if required else "",
        rows=rows(outcomes, folder),
        results=[result(outcome) for outcome in outcomes],
        notes=list(notes_of(outcomes)),
        lines=heading_lines(
            [outcome.report for outcome in outcomes], [outcome.point.axes for outcome in outcomes]
        ),
        targets=list(dict.fromkeys(target for outcome in outcomes for target in _targets(outcome.report))),
        **_of_kind(folder, series, outcomes),
    )


def _targets(report: Report) -> Iterator[str]:
    """The targets that can fail a run."""
    for row in report.verdict.rows if report.verdict else ():
        if row.group == "target" and row.severity == "fail":
            yield row.target


def _of_kind(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> Mapping[str, Any]:
    if series.kind == SeriesKind.SWEEP:
        return {"conclusions": conclusions(outcomes), "plots": plots_of(outcomes)}
    if series.kind == SeriesKind.SEARCH:
        return {"conclusions": [search_outcome(folder, series, outcomes).message]}
    if series.kind == SeriesKind.OPTIMIZATION:
        from workloads.registry import entries, load

        return {"conclusions": load(entries("series")[series.kind]).conclusions(folder, series, outcomes)}
    return {}
