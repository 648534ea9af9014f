"""HTML of values in notebooks: what a cell that ends with a run, a report or a verdict shows.

A notebook asks a value for `_repr_html_`. Reports, verdicts and comparisons belong to rooms that render
nothing, so that their classes get it from here.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from loadgen.sessions.error_exit_codes import one_tree
from loadgen.sessions.errors import LoadgenError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter.report import Report


def show_values_as_html() -> None:
    """Give the classes of reports, verdicts and comparisons their `_repr_html_`."""
    from reporter.compare.comparison import Comparison
    from reporter.report import Report
    from rulesets.verdict import Verdict

    classes: dict[Any, str] = {Report: "report", Verdict: "verdict", Comparison: "comparison"}
    for kind, name in classes.items():
        kind._repr_html_ = _renderer(name)


def html_of_report(report: Callable[[], Report]) -> str | None:
    """A report as HTML; None if it cannot be made, and the notebook shows the text."""
    from reporter.render import notebook_tables

    with suppress(LoadgenError):
        return notebook_tables.report(report())
    return None


def html_of_series(folder: Path) -> str | None:
    """The runs of a sweep or a search as HTML; None if they cannot be read, as above."""
    from loadgen.sessions.files import series_file as files
    from loadgen.sessions.series.outcomes_so_far import outcomes_so_far
    from loadgen.sessions.series.overview import overview
    from reporter.render import notebook_tables

    with suppress(LoadgenError), one_tree():
        series = files.read(folder)
        if outcomes := outcomes_so_far(folder, series):
            return notebook_tables.series(overview(folder, series, outcomes))
    return None


def _renderer(name: str) -> Any:
    def rendered(value: Any) -> str:
        from reporter.render import notebook_tables

        text: str = getattr(notebook_tables, name)(value)
        return text

    return rendered
