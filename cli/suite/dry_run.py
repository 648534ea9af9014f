"""What a suite would do, run by run: for a person, or as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from reporter.render.page import Column, block, draw, grid, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cli.suite.matrix import Entry

_AXES = ("model", "benchmark", "load", "repeat")


def as_text(title: str, entries: Sequence[Entry], *, width: int, color: bool) -> str:
    """The matrix as a table: what all runs have in common above it, what is a run's own in its row."""
    said = [shown(entry) for entry in entries]
    common = {
        key: value for key, value in said[0].items() if all(each.get(key, ...) == value for each in said)
    }
    axes = [axis for axis in _AXES if axis in entries[0].axes]
    columns = [Column("run"), *(Column(axis, justify="left") for axis in axes)]
    rows = [
        [text(number), *(text(entry.axes[axis]) for axis in axes), text(_words(each, common))]
        for number, (entry, each) in enumerate(zip(entries, said, strict=True), start=1)
    ]
    own = Column("its own options", justify="left", folds=True)
    return draw(
        [
            [block("suite", title)],
            [block("every run", *(f"{key} = {_word(value)}" for key, value in common.items()))],
            [grid([*columns, own], rows, width=width)],
        ],
        width=width,
        color=color,
    )


def as_rows(entries: Sequence[Entry]) -> list[dict[str, Any]]:
    """The matrix in plain types: of each run its place in it, its options, and who said each of them."""
    return [
        {
            "number": number,
            "name": entry.name,
            "axes": dict(entry.axes),
            "options": shown(entry),
            "said_by": {name: _said_by(entry, name) for name in shown(entry)},
        }
        for number, entry in enumerate(entries, start=1)
    ]


def shown(entry: Entry) -> dict[str, Any]:
    """What was said of a run, the requirements of `[judge]` among it; the model has an axis of its own."""
    require = {"require": entry.settings.require} if entry.settings.require else {}
    said = {**entry.merged.values, **require}
    return {name: _plain(said[name]) for name in sorted(said) if name != "model" or _differs(entry)}


def _said_by(entry: Entry, name: str) -> list[str]:
    """The places that say an option: the last has the last word, but `[judge]` always adds."""
    places = entry.merged.origins.get(name, ())
    judge = (
        entry.settings.require
        and name == "require"
        and len(entry.settings.require) > len(entry.merged.values.get(name, ()))
    )
    return ["[judge]", *places] if judge else list(places)


def _differs(entry: Entry) -> bool:
    return bool(entry.settings.model != entry.axes["model"])


def _words(said: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    return ", ".join(f"{key} = {_word(value)}" for key, value in said.items() if key not in common)


def _word(value: Any) -> str:
    """As `--set` would take it."""
    if isinstance(value, list):
        return " ".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
