"""The sections of plug-ins, as tables for all renderers, and as lines of the console."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from rich.text import Text

from reporter.number_text import NOTHING, figure, whole
from reporter.render.console_page import block, sentence
from reporter.render.console_page import tables as shown
from reporter.render.table import Table, headed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from reporter.render.table import Column
    from reporter.values.report_section import ReportSection, SectionTable


def tables(section: ReportSection) -> tuple[Table, ...]:
    """The tables of a section that have rows."""
    return tuple(
        Table(_columns(table), tuple(tuple(map(_cell, row)) for row in table.rows), sql=table.sql)
        for table in section.tables
        if table.rows
    )


def on_console(section: ReportSection, *, width: int) -> Sequence[RenderableType]:
    """A section on the console."""
    parts: list[RenderableType] = [block(section.title, *map(sentence, section.lines))]
    for table in tables(section):
        parts += [Text(), *shown(table, width=width)]
    return parts


def _columns(table: SectionTable) -> tuple[Column, ...]:
    """The columns; a narrow screen leaves the last ones out first."""
    return tuple(
        replace(column, rank=max(place - 1, 0)) for place, column in enumerate(headed(*table.columns))
    )


def _cell(value: str | float | None) -> str:
    if value is None:
        return NOTHING
    if isinstance(value, str):
        return value
    return whole(value) if isinstance(value, int) else figure(value, 3 if abs(value) >= _FINE else 2)


_FINE: Final = 0.1
"""Smaller figures have two significant digits."""
