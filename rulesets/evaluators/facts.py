"""The facts of a report besides figures: the load, the dataset, the requests.

A key that is missing or has another type counts as absent.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

GATE_LOST: Final = "gate_lost"
"""The end of a run that --abort-on-fail stopped because its gate was lost."""

CUT_SHORT: Final = "the run was ended early because its gate was lost"
"""Why a rule that such a run could not meet is skipped."""


def section(report: Mapping[str, Any], *keys: str) -> Mapping[str, Any]:
    """A section of the report; empty if absent."""
    part: Any = report
    for key in keys:
        part = part.get(key)
        if not hasattr(part, "get"):
            return {}
    result: Mapping[str, Any] = part
    return result


def number(value: Any) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value


def count(report: Mapping[str, Any], key: str) -> int:
    """A count of requests of the measured phase."""
    return int(number(section(report, "counts").get(key)) or 0)


def run(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The settings of the run."""
    return section(report, "run")


def load(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The load that was applied."""
    return section(report, "run", "load")


def is_offline(report: Mapping[str, Any]) -> bool:
    """Whether all requests were issued at once."""
    return load(report).get("kind") == "offline"


def concurrency(report: Mapping[str, Any]) -> int | None:
    """The users of a closed loop; None for other loads."""
    users = number(load(report).get("concurrency"))
    return int(users) if users and load(report).get("kind") == "closed" else None


def rows(report: Mapping[str, Any]) -> int | None:
    """The rows of the dataset."""
    rows = number(section(report, "run", "dataset").get("rows"))
    return int(rows) if rows else None


def was_cut_short(report: Mapping[str, Any]) -> bool:
    """Whether --abort-on-fail ended the run early."""
    return run(report).get("ended") == GATE_LOST
