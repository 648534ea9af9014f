"""The page of a series: runs, results of the series, and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter import statements
from reporter.number_text import counted
from reporter.render.console_page import plain
from reporter.render.html import page_writer
from reporter.render.html.load_curves import section
from reporter.render.html.page import Page, Prose, Tables
from reporter.render.series_overview import scores, table
from reporter.render.table import Mark, tone

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.render.html.page import Section
    from reporter.render.series_overview import SeriesOverview


def render(series: SeriesOverview) -> str:
    """The series as one HTML file."""
    return page_writer.write(page_of(series))


def page_of(series: SeriesOverview) -> Page:
    """The page of a series as a value."""
    has_result = series.kind == "search" and bool(series.conclusions)
    missed = series.notes[0] if series.notes and series.status not in {"", "PASS"} else ""
    return Page(
        title=f"{series.kind.capitalize()} {plain(series.name)}",
        # A search goes on until runs fail, which says nothing about its result.
        marks=(Mark(series.status, tone(series.status)),) if series.status and not has_result else (),
        lines=tuple(plain(line) for line in (*series.lines[:-1], ", ".join(_runs(series))) if line),
        sections=tuple(_sections(series)),
        footer=(
            "The report of each run is in its folder.",
            'Run a query of this page: loadgen sql SERIES "QUERY"',
        ),
        answer=plain(series.conclusions[0] if has_result else missed),
    )


def _runs(series: SeriesOverview) -> Iterator[str]:
    yield counted(len(series.rows), "run")
    yield from filter(None, series.lines[-1:])


def _sections(series: SeriesOverview) -> Iterator[Section]:
    if curves := section((series,)):
        yield curves
    yield Tables("runs", "Runs", (table(series),))
    if series.conclusions:
        yield Prose(
            "result",
            "Result",
            tuple(map(plain, series.conclusions)),
            (("Figures of the runs", statements.of_series()),),
        )
    if (of_scores := scores(series)).rows:
        yield Tables("scores", "Scores", (of_scores,))
    if series.notes:
        yield Prose("notes", "Notes", tuple(map(plain, series.notes)))
