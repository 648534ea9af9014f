"""What a report says of a run, beside its figures: how it was asked, and by whom it was counted.

A key that is missing, or is of another kind, is nothing that was said.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GATE_LOST: Final = "gate_lost"
"""How a run ended that was given up because its gate was lost."""

CUT_SHORT: Final = "the run was ended early because its gate was lost"
"""Why a rule is skipped that such a run could not meet."""


def section(report: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """A part of the report; empty where it has none."""
    part: Any = report
    for key in keys:
        part = part.get(key)
        if not hasattr(part, "get"):
            return {}
    found: Mapping[str, Any] = part
    return found


def number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def count(report: Mapping[str, Any], key: str) -> int:
    """So many requests of the measured phase."""
    return int(number(section(report, "counts").get(key)) or 0)


def run(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """How it was asked."""
    return section(report, "run")


def load(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The load that was applied."""
    return section(report, "run", "load")


def is_offline(report: Mapping[str, Any]) -> bool:
    """Whether everything was asked at once."""
    return load(report).get("kind") == "offline"


def concurrency(report: Mapping[str, Any]) -> int | None:
    """The users of a closed loop; None for other loads."""
    told = number(load(report).get("concurrency"))
    return int(told) if told and load(report).get("kind") == "closed" else None


def rows(report: Mapping[str, Any]) -> int | None:
    """The rows of the dataset."""
    told = number(section(report, "run", "dataset").get("rows"))
    return int(told) if told else None


def was_cut_short(report: Mapping[str, Any]) -> bool:
    """Whether it was given up early because its gate was lost."""
    return run(report).get("ended") == GATE_LOST
