"""Verdicts as JSON: a run's as in `report.json`, or a series' with the exit code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from reporter.render.json import printable

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.render.named_verdict import NamedVerdict


def render(parts: Sequence[NamedVerdict], *, exit_code: int | None = None) -> str:
    """The verdict of the only run; with an exit code, the verdicts of a series."""
    content = _plain(parts[0]) if exit_code is None else _of_series(parts, exit_code)
    return printable(orjson.dumps(content, option=orjson.OPT_INDENT_2).decode()) + "\n"


def _of_series(parts: Sequence[NamedVerdict], exit_code: int) -> Mapping[str, Any]:
    return {
        "exit_code": exit_code,
        "points": [
            {"name": part.name, "status": part.status, "verdict": _plain(part)}
            for part in parts
            if not part.over_runs
        ],
        "together": [{"name": part.name, "verdict": _plain(part)} for part in parts if part.over_runs],
    }


def _plain(part: NamedVerdict) -> Mapping[str, Any]:
    return part.verdict.to_dict() if part.verdict else {}
