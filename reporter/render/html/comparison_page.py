"""The page of a comparison: verdict, figures with changes and intervals, plots, and other differences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.contents import metric_statements
from reporter.plots.plot_value import Plot
from reporter.render import compared
from reporter.render.html import page_writer
from reporter.render.html.page import Page, Plots, Prose, Remark, Remarks, Tables
from reporter.render.html.run_plots import grouped
from reporter.render.table import Mark, Table, tone

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.compare.comparison import Comparison, ComparisonRow
    from reporter.plots.plot_value import NoPlot
    from reporter.render.html.page import Section


def render(comparison: Comparison, *, plots: Sequence[Plot | NoPlot] = ()) -> str:
    """The comparison as one HTML file."""
    return page_writer.write(page_of(comparison, plots))


def page_of(comparison: Comparison, plots: Sequence[Plot | NoPlot] = ()) -> Page:
    """The page of a comparison as a value."""
    sides = range(len(comparison.sides))
    return Page(
        title=" vs ".join(compared.label(comparison, index) for index in reversed(sides)),
        marks=(Mark(comparison.status, tone(comparison.status)),),
        lines=tuple(
            f"{compared.label(comparison, index)}: {compared.side(comparison, index)}" for index in sides
        ),
        sections=tuple(_sections(comparison, plots)),
        footer=(
            f"Intervals are of {100 * comparison.rules.level:g} %, by the methods of docs/compare.md.",
            'Run a query of this page over a run: loadgen sql RUN "QUERY"',
        ),
    )


def _sections(comparison: Comparison, plots: Sequence[Plot | NoPlot]) -> Iterator[Section]:
    if comparison.reasons:
        mark = Mark(comparison.status, tone(comparison.status))
        yield Remarks("reasons", "Why", tuple(Remark(mark, reason) for reason in comparison.reasons))
    families = list(compared.families(comparison.rows))
    for number, (title, rows) in enumerate(families):
        yield Tables(f"changes-{number}", title, changes(comparison, rows))
    drawn = grouped([plot for plot in plots if isinstance(plot, Plot)])
    if drawn:
        absent = tuple(plot for plot in plots if not isinstance(plot, Plot))
        yield Plots("plots", "Plots", drawn, {}, absent)
    if comparison.unlike:
        yield Prose(
            "configuration",
            compared.CONFIGURATION,
            tuple(map(compared.difference_of_runs, comparison.unlike)),
            (("Of each run", "SELECT settings, environment FROM session"),),
        )
    if comparison.notes:
        yield Prose("notes", "Notes", comparison.notes)


def changes(comparison: Comparison, rows: Sequence[ComparisonRow]) -> tuple[Table, ...]:
    """For each side but the first a table of both figures and the change, with the query of the figures."""
    query = metric_statements.figures(row.metric for row in rows)
    sides = range(1, len(comparison.sides))
    return tuple(compared.whole_table(comparison, rows, index, query) for index in sides)
