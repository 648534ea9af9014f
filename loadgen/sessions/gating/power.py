"""The power that a system draws, as somebody tells it: no client of an endpoint can measure it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

SOURCES: Final = ("provisioned", "nvml", "wall")
"""Where a figure comes from: what the system was given, its GPUs' own counters, a meter at the wall. Each is
another quantity, so that rules name one, and figures of two are never held against each other."""


def power_of(told: str | None, *, series: bool = False) -> Mapping[str, Any]:
    """What a report's `run` is to say: `power` with `source` and `watts`; nothing where nothing was told.

    Args:
        told: `SOURCE:WATTS`.
        series: Whether it is said of several runs at once: what was measured is the figure of one.

    Raises:
        UsageError: It is no such figure.
    """
    if told is None:
        return {}
    source, _, figure = told.partition(":")
    if source not in SOURCES:
        from rulesets.nearest import suggestion

        raise UsageError(
            f"--power {told}: {source!r} is no source of a figure; {suggestion(source, SOURCES)} "
            "Write SOURCE:WATTS, e.g. wall:5200"
        )
    if series and source != "provisioned":
        raise UsageError(
            f"--power {told}: what was measured is the power of one run, and this is a series; "
            "judge each run by itself, or tell what was provisioned"
        )
    return {"power": {"source": source, "watts": _watts(told, figure)}}


def _watts(told: str, figure: str) -> float:
    try:
        watts = float(figure)
    except ValueError:
        watts = math.nan
    if not 0 < watts < math.inf:
        raise UsageError(f"--power {told}: must tell watts above 0, e.g. {told.partition(':')[0]}:5200")
    return watts
