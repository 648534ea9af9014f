"""The table of two series compared point by point, which all formats share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import NOTHING
from reporter.render import compared

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.compare.points import SeriesComparison

NOTE: Final = "Changes of the second series from the first; * is significant, each point by itself."
_SIGNIFICANT: Final = frozenset({"better", "worse", "different"})


def metrics(series: SeriesComparison) -> list[str]:
    """The metrics that decide, of all points."""
    return list(
        dict.fromkeys(row.metric for point in series.points for row in point.comparison.rows if row.decides)
    )


def titles(series: SeriesComparison) -> list[str]:
    """The headings over `rows`."""
    return ["point", "result", *metrics(series)]


def rows(series: SeriesComparison) -> Iterator[list[str]]:
    """A row per point: name, result, and the change of each deciding metric."""
    named = metrics(series)
    for point in series.points:
        changes = {
            row.metric: compared.by(row, row.changes[0].by)
            + "*" * (row.changes[0].finding in _SIGNIFICANT and row.changes[0].by is not None)
            for row in point.comparison.rows
        }
        yield [point.name, point.comparison.status, *(changes.get(name, NOTHING) for name in named)]


def left_out(series: SeriesComparison) -> list[str]:
    """A sentence for each point that only one series has."""
    return [f"{name} is in one of the series only, and is left out" for name in series.left_out]
