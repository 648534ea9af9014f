"""A search, from settings to result."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, new_series_folder, write_json
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series.point_options import Secrets, point_of
from loadgen.sessions.series.search.requirements import required_of
from loadgen.sessions.series.search.seek import RESULT, seek
from loadgen.sessions.series.search.strategy import HIGHEST
from loadgen.sessions.settings.perf import perf_settings
from loadgen.sessions.settings.search import SPAN, SearchSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.search.search_result import SearchOutcome
    from loadgen.sessions.settings.search import SearchSettings


def new_search(settings: SearchSettings, perf: Mapping[str, Any]) -> tuple[Path, Series, Secrets]:
    """Plan a search.

    Returns:
        Its folder, which is created, its definition, and the secrets of its trials.
    """
    required_of(settings.require, perf["ruleset"], perf["scenario"], perf["model"], perf["skip"])
    low, high = span_of(settings)
    secrets = Secrets(perf["api_key"], tuple(perf["header"]), perf["judge_api_key"])
    folder = new_series_folder(settings.out, "search")
    definition = {
        "axis": settings.axis,
        "low": low,
        "high": high,
        "within": settings.within,
        "point_s": settings.point_duration,
        "budget_s": settings.budget,
        "common": asdict(common_point(settings, perf, low)),
    }
    return folder, Series(SeriesKind.SEARCH, definition, (), settings.cooldown), secrets


def run_search(folder: Path, series: Series, secrets: Secrets, observer: Observer = SILENT) -> SearchOutcome:
    """Search, and write `search.json`. A resumed search has the whole budget again."""
    result = seek(folder, series, secrets, observer)
    write_json(folder / RESULT, result.to_dict())
    return result


def common_point(settings: SearchSettings, perf: Mapping[str, Any], low: float) -> SeriesPoint:
    """The common part of all trials, as a point of the lowest load."""
    load = int(low) if settings.axis == "concurrency" else f"{low:g}"
    options = {**perf, "require": settings.require, settings.axis: load, "duration": settings.point_duration}
    return point_of("every trial", {}, perf_settings(**options))


def span_of(settings: SearchSettings) -> tuple[float, float]:
    """The lowest and the highest load."""
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
