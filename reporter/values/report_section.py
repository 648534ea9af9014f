"""A part of a report that a plug-in computes: `sections` in report.json."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SectionTable:
    """A table of a section.

    Attributes:
        columns: The titles; the first column has words.
        rows: A row for each of what the first column names; null for a figure that does not exist.
        sql: The query over the views of docs/sql.md that the figures come from.
    """

    columns: list[str]
    rows: list[list[str | int | float | None]]
    sql: str = ""


@dataclass(frozen=True, slots=True)
class ReportSection:
    """A part of a report that a plug-in computes.

    Attributes:
        title: What the console and the page call it.
        lines: Its statements, a sentence each.
        tables: Its tables.
        figures: Figures by name, which ends in the unit where there is one.
        sql: The query of the figures that the lines state.
    """

    title: str
    lines: list[str] = field(default_factory=list)
    tables: list[SectionTable] = field(default_factory=list)
    figures: dict[str, float | int | None] = field(default_factory=dict)
    sql: str = ""
