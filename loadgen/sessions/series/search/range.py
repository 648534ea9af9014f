"""The range of a search, and the common part of all trials."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.search import SPAN, SearchSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import SeriesPoint


def common_point(settings: SearchSettings, perf: Mapping[str, Any], low: float) -> SeriesPoint:
    """The common part of all trials, as a point of the lowest load."""
    from loadgen.sessions.series.point_options import point_of
    from loadgen.sessions.settings.perf import perf_settings

    load = int(low) if settings.axis == "concurrency" else f"{low:g}"
    options = {**perf, "require": settings.require, settings.axis: load, "duration": settings.point_duration}
    return point_of("every trial", {}, perf_settings(**options))


def span_of(settings: SearchSettings) -> tuple[float, float]:
    """The lowest and the highest load."""
    from loadgen.sessions.series.search.strategy import HIGHEST

    axis, text = settings.axis, settings.rate or settings.concurrency or ".."
    match = SPAN.fullmatch(text.strip())
    try:
        low, high = (float(match[1] or 1), float(match[2] or HIGHEST[axis])) if match else (0.0, 0.0)
    except ValueError:
        low, high = 0.0, 0.0
    whole = axis == "rate" or (low.is_integer() and high.is_integer())
    if not (0 < low < high <= HIGHEST[axis] and whole):
        numbers = "numbers" if axis == "rate" else "whole numbers"
        raise UsageError(
            f"--{axis} {text}: write LOW..HIGH, two {numbers} above 0 and up to {HIGHEST[axis]:g}, the lower "
            "one first; either can be left out"
        )
    return low, high
