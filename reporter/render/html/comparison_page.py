"""The page of a comparison: verdict, figures with changes, intervals as bars, distributions, differences."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final

from reporter.contents import metric_statements
from reporter.number_text import counted
from reporter.plots.plot_value import NoPlot, Plot
from reporter.render import compared
from reporter.render.compared_points import left_out, note, table
from reporter.render.html import excerpts, load_curves, page_writer
from reporter.render.html.page import Page, Plots, Prose, Remark, Remarks, Tables
from reporter.render.html.run_plots import grouped
from reporter.render.table import IntervalBar, Mark, Table, plain, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import Comparison, ComparisonRow, MetricChange, SeriesComparison
    from reporter.contents.compared_answers import ComparedAnswers
    from reporter.render.html.page import Section
    from reporter.render.series_overview import SeriesOverview


def render(
    comparison: Comparison, *, plots: Sequence[Plot | NoPlot] = (), answers: ComparedAnswers | None = None
) -> str:
    """The comparison as one HTML file."""
    return page_writer.write(page_of(comparison, plots, answers))


def page_of(
    comparison: Comparison, plots: Sequence[Plot | NoPlot] = (), answers: ComparedAnswers | None = None
) -> Page:
    """The page of a comparison as a value."""
    sides = range(len(comparison.sides))
    return Page(
        title=" vs ".join(compared.label(comparison, index) for index in reversed(sides)),
        marks=(Mark(comparison.status, tone(comparison.status)),),
        lines=tuple(
            f"{compared.label(comparison, index)}: {compared.side(comparison, index)}" for index in sides
        ),
        sections=tuple(_sections(comparison, plots, answers)),
        footer=(
            f"Intervals are of {100 * comparison.rules.level:g} %, by the methods of docs/compare.md.",
            'Run a query of this page over a run: loadgen sql RUN "QUERY"',
        ),
        answer=compared.with_labels(comparison, comparison.reasons[0])
        if comparison.reasons
        else _NOTHING_WORSE,
    )


_NOTHING_WORSE: Final = "No primary metric is significantly worse."


def _sections(
    comparison: Comparison, plots: Sequence[Plot | NoPlot], answers: ComparedAnswers | None
) -> Iterator[Section]:
    short = partial(compared.with_labels, comparison)
    if further := comparison.reasons[1:]:
        mark = Mark(comparison.status, tone(comparison.status))
        yield Remarks("reasons", "Further reasons", tuple(Remark(mark, short(reason)) for reason in further))
    families = list(compared.families(comparison.rows))
    for number, (title, rows) in enumerate(families):
        yield Tables(f"changes-{number}", title, changes(comparison, rows))
    if answers is not None:
        yield excerpts.compared(answers, [compared.label(comparison, side) for side in range(2)])
    drawn = grouped([plot for plot in plots if isinstance(plot, Plot)])
    if drawn:
        absent = tuple(plot for plot in plots if not isinstance(plot, Plot))
        yield Plots("distributions", "Distributions", drawn, {}, absent)
    if comparison.unlike:
        yield Prose(
            "configuration",
            compared.CONFIGURATION,
            tuple(short(compared.difference_of_runs(it)) for it in comparison.unlike),
            (("Of each run", "SELECT settings, environment FROM session"),),
        )
    if comparison.notes:
        yield Prose("notes", "Notes", tuple(map(short, comparison.notes)))


def changes(comparison: Comparison, rows: Sequence[ComparisonRow]) -> tuple[Table, ...]:
    """For each side but the first a table of both figures and the change, with the query of the figures."""
    query = metric_statements.figures(row.metric for row in rows)
    sides = range(1, len(comparison.sides))
    return tuple(
        _with_bars(compared.whole_table(comparison, rows, index, query), rows, index) for index in sides
    )


_WIDEST: Final = 0.5
_NARROWEST: Final = 0.02
"""The bounds of the half-width of a bar, as a share of the first figure."""


def _with_bars(table: Table, rows: Sequence[ComparisonRow], index: int) -> Table:
    """The table with intervals as bars, all of one scale."""
    changes = [row.changes[index - 1] for row in rows]
    ends = (abs(end) for change in changes for end in (change.by, change.low, change.high) if end is not None)
    scale = min(max((*ends, _NARROWEST)), _WIDEST)
    place = next(number for number, column in enumerate(table.columns) if column.title == "interval")
    of_metric = iter(changes)
    drawn = (
        # A line of a score's samples has no interval.
        (*cells[:place], _bar(plain(cells[place]), next(of_metric), scale), *cells[place + 1 :])
        if cells[place]
        else cells
        for cells in table.rows
    )
    shown = f"bars to ±{100 * scale:.2g} %, gray: below the min. detectable change"
    return replace(table, rows=tuple(drawn), caption=f"{table.caption}; {shown}")


def _bar(text: str, change: MetricChange, scale: float) -> IntervalBar | str:
    if change.by is None:
        return text
    by, low, high, zone = (
        None if share is None else share / scale
        for share in (change.by, change.low, change.high, change.detectable)
    )
    return IntervalBar(text, "bad" if change.fails else tone(change.finding), by or 0.0, low, high, zone)


def render_series(series: SeriesComparison, *, overviews: Sequence[SeriesOverview] = ()) -> str:
    """The comparison as one HTML file."""
    return page_writer.write(page_of_series(series, overviews))


def page_of_series(series: SeriesComparison, overviews: Sequence[SeriesOverview] = ()) -> Page:
    """The page as a value."""
    reference, name = series.names
    status = series.worst.comparison.status
    sections = tuple(_sections_of_series(series, overviews))
    return Page(
        title=f"{name} vs {reference}",
        marks=(Mark(status, tone(status)),),
        answer=_opening(series, status),
        lines=(
            f"{counted(len(series.points), 'point')}; the reference is {reference}",
            *(f"{plain(of.name)}: {plain(', '.join(filter(None, of.lines)))}" for of in overviews),
        ),
        sections=sections,
        folded=frozenset(of.anchor for of in sections if of.anchor.startswith(_POINT)),
        footer=(
            "The result is the most severe of all points.",
            'Run a query of this page over a run or a series: loadgen sql RUN "QUERY"',
        ),
    )


_POINT: Final = "point-"
"""Begins the anchors of the sections about a pair of runs, which a click opens."""


def _sections_of_series(series: SeriesComparison, overviews: Sequence[SeriesOverview]) -> Iterator[Section]:
    if curves := load_curves.section(overviews):
        yield curves
    if reasons := tuple(_reasons_of_series(series)):
        yield Remarks("reasons", "Why", reasons)
    yield Tables("points", "Points", (table(series),), (note(series), *left_out(series)))
    for number, point in enumerate(series.points):
        comparison = point.comparison
        tables = (
            replace(table, caption=f"{title}. {table.caption}")
            for title, of_family in compared.families(comparison.rows, verbose=False)
            for table in changes(comparison, of_family)
        )
        yield Tables(f"{_POINT}{number}", point.name, tuple(tables))


def _reasons_of_series(series: SeriesComparison) -> Iterator[Remark]:
    for point in series.points:
        status = point.comparison.status
        for reason in point.comparison.reasons:
            words = compared.with_labels(point.comparison, reason)
            yield Remark(Mark(status, tone(status)), f"{point.name}: {words}")


def _opening(series: SeriesComparison, status: str) -> str:
    """The first reason of the most severe result."""
    reasons = (reason.message for reason in _reasons_of_series(series) if reason.mark.text == status)
    return next(reasons, _NOTHING_WORSE)
