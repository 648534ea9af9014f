"""The page of a comparison: verdict, figures with changes and intervals, plots, and other differences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.contents import metric_statements
from reporter.plots.plot import Plot
from reporter.render import compared
from reporter.render.html import template
from reporter.render.html.marks import TONES
from reporter.render.html.page import Mark, Page, Plots, Prose, Remark, Remarks, Table, Tables
from reporter.render.html.plot_groups import grouped

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from reporter.compare.comparison import Comparison, ComparisonRow
    from reporter.plots.plot import NoPlot
    from reporter.render.html.page import Cell, Section, Tone


def render(comparison: Comparison, *, plots: Sequence[Plot | NoPlot] = ()) -> str:
    """The comparison as one HTML file.

    Args:
        comparison: The comparison.
        plots: The distributions of its runs over each other, and the differences.
    """
    return template.write(page_of(comparison, plots))


def page_of(comparison: Comparison, plots: Sequence[Plot | NoPlot] = ()) -> Page:
    """The page of a comparison as a value."""
    sides = range(len(comparison.sides))
    return Page(
        title=" vs ".join(compared.label(comparison, index) for index in reversed(sides)),
        marks=(Mark(comparison.status, TONES[comparison.status]),),
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
        reasons = tuple(
            Remark(Mark(comparison.status, TONES[comparison.status]), reason) for reason in comparison.reasons
        )
        yield Remarks("reasons", "Why", reasons)
    families = list(compared.families(comparison.rows))
    for number, (title, rows) in enumerate(families):
        query = metric_statements.figures(row.metric for row in rows)
        yield Tables(f"changes-{number}", title, tuple(changes(comparison, rows, query)))
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


def changes(comparison: Comparison, rows: Sequence[ComparisonRow], query: str) -> Iterator[Table]:
    """For each side but the first a table of both figures and the change, with the query of the figures."""
    metric, *titles = compared.TITLES
    for index in range(1, len(comparison.sides)):
        cells: list[tuple[Cell, ...]] = []
        for row in rows:
            _, *before, finding, detectable = compared.cells(comparison, row, index)
            mark = Mark(finding, _TONES.get(row.changes[index - 1].finding, ""))
            texts: list[Cell] = [*before, mark, detectable]
            figures, *further = compared.figures([row], (0, index))
            cells += [(*figures, *texts), *((*line, *("" for _ in texts)) for line in further)]
        labels = (compared.label(comparison, side) for side in (0, index))
        yield Table(
            (metric, *labels, *titles),
            tuple(cells),
            compared.change_of(comparison, index),
            wordy=frozenset({"finding"}),
            sql=query,
        )


_TONES: Final[Mapping[str, Tone]] = {
    "better": "good",
    "worse": "bad",
    "in doubt": "doubt",
    "no significant difference": "dim",
    "not tested": "dim",
}
