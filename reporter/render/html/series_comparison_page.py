"""The page of two series compared point by point."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from reporter.number_text import counted
from reporter.plots.plot_value import NoPlot, Plot
from reporter.render import compared
from reporter.render.compared_points import NOTE, left_out, table
from reporter.render.comparison_figure import differences
from reporter.render.html import page_writer
from reporter.render.html.comparison_page import changes
from reporter.render.html.page import Page, PlotGroup, Plots, Remark, Remarks, Tables
from reporter.render.table import Mark, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.point_pairs import SeriesComparison
    from reporter.render.html.page import Section


def render(series: SeriesComparison, *, plots: Sequence[Plot | NoPlot] = ()) -> str:
    """The comparison as one HTML file."""
    return page_writer.write(page_of(series, plots))


def page_of(series: SeriesComparison, plots: Sequence[Plot | NoPlot] = ()) -> Page:
    """The page as a value."""
    reference, name = series.names
    status = series.worst.comparison.status
    return Page(
        title=f"{name} vs {reference}",
        marks=(Mark(status, tone(status)),),
        lines=(f"{counted(len(series.points), 'point')}; the reference is {reference}",),
        sections=tuple(_sections(series, plots)),
        footer=(
            "The result is the most severe of all points.",
            'Run a query of this page over a run or a series: loadgen sql RUN "QUERY"',
        ),
    )


def _sections(series: SeriesComparison, plots: Sequence[Plot | NoPlot]) -> Iterator[Section]:
    if reasons := tuple(_reasons(series)):
        yield Remarks("reasons", "Why", reasons)
    yield Tables("points", "Points", (table(series),), (NOTE, *left_out(series)))
    # A page finds a plot by its name.
    by_point = (
        replace(differences(point.comparison), name=f"differences-{number}")
        for number, point in enumerate(series.points)
    )
    drawn = [*plots, *by_point]
    headings = [*(plot.title for plot in plots), *(f"Changes at {point.name}" for point in series.points)]
    groups = tuple(
        PlotGroup(heading, (plot,))
        for heading, plot in zip(headings, drawn, strict=True)
        if isinstance(plot, Plot)
    )
    if groups:
        yield Plots("plots", "Plots", groups, {}, tuple(plot for plot in drawn if isinstance(plot, NoPlot)))
    for number, point in enumerate(series.points):
        comparison = point.comparison
        for title, of_family in compared.families(comparison.rows, verbose=False):
            anchor = f"point-{number}-{'primary' if of_family[0].decides else 'other'}"
            yield Tables(anchor, f"{point.name}: {title.lower()}", changes(comparison, of_family))


def _reasons(series: SeriesComparison) -> Iterator[Remark]:
    for point in series.points:
        status = point.comparison.status
        for reason in point.comparison.reasons:
            yield Remark(Mark(status, tone(status)), f"{point.name}: {reason}")
