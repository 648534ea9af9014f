"""The page of a series: runs, results of the series, and plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter import statements
from reporter.number_text import counted
from reporter.plots.plot import NoPlot, Plot
from reporter.render.html import template
from reporter.render.html.marks import TONES
from reporter.render.html.page import Mark, Page, PlotGroup, Plots, Prose, Table, Tables
from reporter.render.page import plain
from reporter.render.series import SCORE_TITLES, scores, table, titles, words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.render.html.page import Section
    from reporter.render.series import SeriesOverview


def render(series: SeriesOverview) -> str:
    """The series as one HTML file."""
    return template.write(page_of(series))


def page_of(series: SeriesOverview) -> Page:
    """The page of a series as a value."""
    return Page(
        title=f"{series.kind.capitalize()} {plain(series.name)}",
        marks=(Mark(series.status, TONES.get(series.status, "")),) if series.status else (),
        lines=(counted(len(series.rows), "run"),),
        sections=tuple(_sections(series)),
        footer=(
            "The report of each run is in its folder.",
            'Run a query of this page: loadgen sql SERIES "QUERY"',
        ),
    )


def _sections(series: SeriesOverview) -> Iterator[Section]:
    if series.conclusions:
        yield Prose(
            "result",
            "Result",
            tuple(map(plain, series.conclusions)),
            (("Figures of the runs", statements.of_series()),),
        )
    if drawn := tuple(PlotGroup(plot.title, (plot,)) for plot in series.plots if isinstance(plot, Plot)):
        absent = tuple(plot for plot in series.plots if isinstance(plot, NoPlot))
        yield Plots("plots", "Plots", drawn, {}, absent)
    runs = Table(
        tuple(titles(series)),
        tuple(map(tuple, table(series))),
        words=words(series),
        wordy=frozenset({"result"}),
        sql=statements.of_series(),
    )
    yield Tables("runs", "Runs", (runs,))
    if rows := scores(series):
        yield Tables("scores", "Scores", (_scores(rows),))
    if series.notes:
        yield Prose("notes", "Notes", tuple(map(plain, series.notes)))


def _scores(rows: Sequence[Sequence[str]]) -> Table:
    return Table(SCORE_TITLES, tuple(map(tuple, rows)), words=2, sql=statements.accuracy("run"))
