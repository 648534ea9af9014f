"""The definition of a plot: the axes, and a template of the SQL for the points.

The SQL is over the views of docs/sql.md. It answers rows with the columns `series`, `x` and `y`, or
`series`, `x`, `y`, `low` and `high`; before them `part`, the value of a tag, where there are series for each.
Aggregates are computed there, so that a plot of any run has some hundred points per series.
"""

from __future__ import annotations

from string import Template
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from reporter.log.sql_files import value_of_tag

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.plots.plot_value import Axis, Kind

MOST_PARTS: Final = 6
"""The most values of a tag that a plot distinguishes: the most frequent ones."""

_WHOLE: Final = "''"
"""Without a tag, all requests are one part."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlotDefinition:
    """A plot of a run.

    Attributes:
        name: What `loadgen plot --what` calls it.
        kinds: How each series is drawn, by its name, in the order of a legend; or how all are.
        sql: The template. `$part_of` is a column `part` of `samples`, the value of a request's tag, and
            `$few` the condition that leaves out all but the most frequent values; `$part` selects the column,
            with a comma, or nothing without a tag.
        sql_of_whole: The template without a tag, where that is another one.
        tables: Names of `reporter.log.tables.BIG_TABLES` that the SQL reads.
        has_parts: Whether it can be drawn for each value of a tag.
        overlays: Whether plots of several runs can be drawn over each other.
    """

    name: str
    title: str
    shows: str
    x: Axis
    y: Axis
    kinds: Mapping[str, Kind] | Kind
    sql: str
    lacking: str
    sql_of_whole: str = ""
    note: str = ""
    tables: tuple[str, ...] = ()
    has_parts: bool = True
    overlays: bool = True

    def statement(self, tag: str | None = None) -> str:
        """The SQL, for each value of a tag where one is named."""
        value = "" if tag is None else value_of_tag(tag)
        return Template(self.sql if value else self.sql_of_whole or self.sql).substitute(
            part_of=f"{value or _WHOLE} AS part",
            part="part, " if value else "",
            few=f" AND {value} IN ({_most_frequent(value)})" if value else "",
        )

    def kind_of(self, series: str) -> Kind:
        """How a series is drawn."""
        return self.kinds if isinstance(self.kinds, str) else self.kinds[series]


def _most_frequent(value: str) -> str:
    return (
        f"SELECT {value} AS part FROM samples WHERE measured AND part IS NOT NULL "  # noqa: S608 (tags are quoted)
        f"GROUP BY part ORDER BY count(*) DESC, part LIMIT {MOST_PARTS}"
    )
