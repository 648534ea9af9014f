"""The plan of a suite, run by run, in plain types."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.series.suite.matrix import MatrixRun


def as_rows(entries: Sequence[MatrixRun]) -> list[dict[str, Any]]:
    """The matrix in plain types: of each run its place in it, its options, and their origins."""
    return [
        {
            "number": number,
            "name": entry.name,
            "axes": dict(entry.axes),
            "options": shown(entry),
            "said_by": {name: _places_of(entry, name) for name in shown(entry)},
        }
        for number, entry in enumerate(entries, start=1)
    ]


def shown(entry: MatrixRun) -> dict[str, Any]:
    """The options of a run, with the requirements of `[gate]`; the model has its own axis."""
    require = {"require": entry.settings.verdict.require} if entry.settings.verdict.require else {}
    options = {**entry.merged.values, **require}
    return {name: _plain(options[name]) for name in sorted(options) if name != "model" or _differs(entry)}


def _places_of(entry: MatrixRun, name: str) -> list[str]:
    """The places that set an option: the last one has precedence, except that `[gate]` always adds."""
    places = entry.merged.origins.get(name, ())
    gate = (
        entry.settings.verdict.require
        and name == "require"
        and len(entry.settings.verdict.require) > len(entry.merged.values.get(name, ()))
    )
    return ["[gate]", *places] if gate else list(places)


def _differs(entry: MatrixRun) -> bool:
    return bool(entry.settings.endpoint.model != entry.axes["model"])


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, Path) else value
