"""A search, from settings to result."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from loadgen.sessions.observer import SILENT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series.search.search_result import SearchOutcome
    from loadgen.sessions.settings.search import SearchSettings


def new_search(settings: SearchSettings, perf: Mapping[str, Any]) -> tuple[Path, Series, Secrets]:
    """Plan a search.

    Returns:
        Its folder, which is created, its definition, and the secrets of its trials.
    """
    from loadgen.sessions.files.series_file import Series, SeriesKind, new_series_folder
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series.search.range import common_point, span_of
    from loadgen.sessions.series.search.requirements import required_of

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
    from loadgen.sessions.files.series_file import write_json
    from loadgen.sessions.series.search.seek import RESULT, seek

    result = seek(folder, series, secrets, observer)
    write_json(folder / RESULT, result.to_dict())
    return result
