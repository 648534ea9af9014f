"""A part of a report that a plug-in computes: `sections` in report.json."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_STATISTICS: Final = ("mean", "p50", "p95", "p99", "max")


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


def distributions(
    title: str, labels: Mapping[str, str], rows: Sequence[Mapping[str, Any]], sql: str
) -> tuple[dict[str, float | None], list[SectionTable]]:
    """Lay out the distributions of figures.

    Args:
        title: The title of the column of labels.
        labels: The label of each figure, in the order of the table.
        rows: A row per figure: the name in `figure`, and the mean, percentiles and maximum.
        sql: The query of the rows.

    Returns:
        The statistics by name, such as `ttft_p50_ms`; and the table, if any figure has a row.
    """
    figures: dict[str, float | None] = {}
    for row in rows:
        name: str = row["figure"]
        stem, unit = (name.removesuffix("_ms"), "_ms") if name.endswith("_ms") else (name, "")
        figures |= {f"{stem}_{statistic}{unit}": row[statistic] for statistic in _STATISTICS}
    by_name = {row["figure"]: row for row in rows}
    shown = [
        [label, *(by_name[name][statistic] for statistic in _STATISTICS)]
        for name, label in labels.items()
        if name in by_name
    ]
    return figures, [SectionTable([title, *_STATISTICS], shown, sql)] if shown else []
