"""Short, distinct names for the sides of a comparison in tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.compare.side import Side

LONGEST: Final = 26
"""Columns of a name; two with their figures fit on a page of 80."""

_CUT: Final = "..."


def labels(sides: Sequence[Side]) -> list[str]:
    """A name for each side, no two alike.

    The dataset and the model where these differ from side to side; else as much of the end of its path as
    distinguishes it. Long names are cut in the middle.
    """
    names = [_about(side) for side in sides]
    if not all(names) or len(set(names)) < len(names):
        names = _endings([side.name for side in sides])
    short = [_cut(name) for name in names]
    if len(set(short)) < len(short):
        short = [f"{number}:{_cut(name, LONGEST - 3)}" for number, name in enumerate(names, start=1)]
    return short


def _about(side: Side) -> str:
    """The common dataset and model of a side's runs; empty for different ones."""
    about = {(run.dataset, run.model) for run in side.runs}
    if len(about) != 1:
        return ""
    [(dataset, model)] = about
    parts = [Path(dataset).stem if dataset else "", model.rstrip("/").rpartition("/")[2]]
    return " ".join(part for part in parts if part)


def _endings(paths: Sequence[str]) -> list[str]:
    """The shortest ends of paths that differ from each other."""
    parts = [Path(path).parts or (path,) for path in paths]
    for many in range(1, max(map(len, parts)) + 1):
        ends = ["/".join(part[-many:]).lstrip("/") or path for part, path in zip(parts, paths, strict=True)]
        if len(set(ends)) == len(ends):
            return ends
    return [f"{path} ({number})" for number, path in enumerate(paths, start=1)]


def _cut(name: str, longest: int = LONGEST) -> str:
    if len(name) <= longest:
        return name
    kept_length = longest - len(_CUT)
    return f"{name[: kept_length // 2]}{_CUT}{name[-(kept_length - kept_length // 2) :]}"
