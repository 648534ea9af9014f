"""Whether a run asks benchmarks, decided without the code for scores."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.json_values import members, whole
from reporter.log.session import logged_settings

if TYPE_CHECKING:
    from reporter.log.database import OpenLog

TABLES: Final = ("scores", "reported_passes")
"""The tables to load first of a log with benchmark questions."""


def asks_benchmarks(log: OpenLog) -> bool:
    """Whether the questions of an opened log are those of benchmarks."""
    return bool(members(logged_settings(log).get("accuracy")).get("tasks"))


def asks_again(log: OpenLog) -> bool:
    """Whether the questions are a benchmark's, each repeated on purpose."""
    accuracy = members(logged_settings(log).get("accuracy"))
    return bool(accuracy.get("tasks")) and (whole(accuracy.get("repeats")) or 1) > 1
