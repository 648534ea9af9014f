"""The planned runs of a suite, as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.series.suite.matrix import shown
from reporter.render.console_page import block, draw, tables
from reporter.render.table import Column, Table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.sessions.series.suite.matrix import MatrixRun

_AXES = ("model", "benchmark", "load", "repeat")


def as_text(title: str, entries: Sequence[MatrixRun], *, width: int, color: bool) -> str:
    """The matrix as a table: common options above, the other options of a run in the run's row."""
    options = [shown(entry) for entry in entries]
    common = {
        key: value
        for key, value in options[0].items()
        if all(each.get(key, ...) == value for each in options)
    }
    axes = [axis for axis in _AXES if axis in entries[0].axes]
    named = (Column(axis, justify="left") for axis in axes)
    columns = (Column("run"), *named, Column("its own options", justify="left", folds=True))
    rows = tuple(
        (str(number), *(str(entry.axes[axis]) for axis in axes), _words(each, common))
        for number, (entry, each) in enumerate(zip(entries, options, strict=True), start=1)
    )
    return draw(
        [
            [block("suite", title)],
            [block("every run", *(f"{key} = {_word(value)}" for key, value in common.items()))],
            tables(Table(columns, rows), width=width),
        ],
        width=width,
        color=color,
    )


def _words(options: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_word(value)}" for key, value in options.items() if key not in common)


def _word(value: Any) -> str:
    """A value in the notation of `--set`."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
