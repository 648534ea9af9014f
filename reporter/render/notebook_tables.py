"""Reports, verdicts, comparisons and series as small HTML tables for the output of a notebook's cell.

The colors are the notebook's own, light or dark; marks have a background and are legible on both.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from reporter.contents.run_contents import RunContents
from reporter.number_text import counted, figure
from reporter.render import totals
from reporter.render.console_page import plain
from reporter.render.html import comparison_page as html_comparison
from reporter.render.html import page_writer
from reporter.render.html import run_page as html_run
from reporter.render.html import series_page as html_series
from reporter.render.html.page import Page, Remarks, Tables
from reporter.render.named_verdict import met, ruleset_of
from reporter.render.table import Mark, Table, headed, tone

if TYPE_CHECKING:
    from reporter.compare.comparison import Comparison
    from reporter.plots.plot_value import Plot
    from reporter.render.html.page import Section
    from reporter.render.series_overview import SeriesOverview
    from reporter.report import Report
    from rulesets.verdict import Verdict

_MOST_POINTS: Final = 20
_OF_A_REPORT: Final = frozenset({"findings", "rules", "accuracy", "episodes", "latencies", "cost"})
_OF_A_COMPARISON: Final = frozenset({"reasons", "changes-0"})
_OF_A_SERIES: Final = frozenset({"result", "runs", "scores"})


def report(value: Report) -> str:
    """A report: result, totals, errors and warnings, rules, scores and latencies."""
    page = html_run.page_of(value, RunContents())
    lines = (*page.lines, plain(totals.throughput(value)), plain(totals.tokens(value)))
    return _written(replace(page, lines=lines), _OF_A_REPORT)


def verdict(value: Verdict) -> str:
    """A verdict: its status, and a row for each rule."""
    rules = html_run.rules(value)
    lines = (met(value.rows), ruleset_of(value), *value.reasons, *value.accepted)
    marks = (Mark(value.status, tone(value.status)),)
    return _written(Page("Verdict", marks, tuple(filter(None, lines)), (rules,)), frozenset({rules.anchor}))


def comparison(value: Comparison) -> str:
    """A comparison: its status, why, and the changes of the metrics that decide."""
    return _written(html_comparison.page_of(value), _OF_A_COMPARISON)


def series(value: SeriesOverview) -> str:
    """A series: what follows from it, and a row for each run."""
    return _written(html_series.page_of(value), _OF_A_SERIES)


def plot(value: Plot) -> str:
    """The first points of a plot, where no picture can be drawn."""
    ends = [(series, *point) for series in value.series for point in zip(series.x, series.y, strict=True)]
    rows = tuple(
        (series.name, x if isinstance(x, str) else figure(x), figure(y))
        for series, x, y in ends[:_MOST_POINTS]
    )
    table = Table(headed("Series", value.x.title, value.y.title), rows)
    lines = (f"{len(rows)} of {counted(len(ends), 'point')}",)
    return _written(Page(value.title, (), lines, (Tables("points", "", (table,)),)), frozenset({"points"}))


def _written(page: Page, anchors: frozenset[str]) -> str:
    sections = tuple(_short(section) for section in page.sections if section.anchor in anchors)
    return page_writer.cell_output(replace(page, sections=sections))


def _short(section: Section) -> Section:
    """The section without what a cell's output has no room for."""
    match section:
        case Tables() if section.anchor == "latencies":
            return replace(section, tables=section.tables[:1])  # times; the second one has speeds
        case Remarks():
            return replace(section, remarks=tuple(it for it in section.remarks if it.mark.tone != "dim"))
        case _:
            return section
