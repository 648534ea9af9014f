"""A search, from settings to the result: the next trial follows from all outcomes so far."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, SeriesPoint, new_series_folder, write_json
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.series.point_options import Secrets, point_of, prepared, settings_of, settings_to_read
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series.search.requirements import required_of
from loadgen.sessions.series.search.search_result import SearchOutcome
from loadgen.sessions.series.search.strategy import HIGHEST, SearchRange, StopReason, next_step
from loadgen.sessions.series.search.trials import Trials
from loadgen.sessions.settings.concerns import flat_values
from loadgen.sessions.settings.perf import PerfSettings, perf_settings
from loadgen.sessions.settings.search import SPAN, SearchSettings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.series_outcome import PointOutcome

RESULT: Final = "search.json"
AROUND_S: Final = 2.0
"""About how long a trial takes in addition to its duration, in seconds."""


def seek(folder: Path, series: Series, secrets: Secrets, observer: Observer = SILENT) -> SearchOutcome:
    """Try one load after the other until the search ends."""
    asked = series.definition
    common = SeriesPoint(**asked["common"])
    settings = settings_of(common, secrets)
    # A wrong option is wrong in every trial: report it before the first one.
    prepared(common, secrets)
    axis, bounds, trials = _trials(series, settings)
    over_at = time.monotonic() + asked["budget_s"]
    stopped = StopReason.INTERRUPTED

    def following(outcomes: Sequence[PointOutcome]) -> SeriesPoint | None:
        nonlocal stopped
        evaluated = trials.evaluated(outcomes)
        step = next_step([trial.tried for trial in evaluated], bounds)
        if isinstance(step, StopReason):
            stopped = step
            return None
        seconds = trials.seconds(step, evaluated)
        rest_s = series.cooldown_s if outcomes else 0.0
        if time.monotonic() + rest_s + seconds + AROUND_S > over_at:
            stopped = StopReason.BUDGET
            return None
        return trials.point(step, seconds, len(outcomes))

    ended = run_series(
        folder, series, lambda _: secrets, observer=observer, following=following, remark=trials.remark
    )
    stopped = StopReason.INTERRUPTED if ended.interrupted else stopped
    return SearchOutcome(axis, bounds, stopped, trials.evaluated(ended.outcomes), folder)


def search_outcome(folder: Path, series: Series, outcomes: Sequence[PointOutcome]) -> SearchOutcome:
    """The result of a search so far, by the completed trials; `search.json` has the reason for stopping."""
    import orjson

    axis, bounds, trials = _trials(series, settings_to_read(SeriesPoint(**series.definition["common"])))
    evaluated, stopped = trials.evaluated(outcomes), StopReason.INTERRUPTED
    step = next_step([trial.tried for trial in evaluated], bounds)
    if isinstance(step, StopReason):
        stopped = step
    elif (ended := folder / RESULT).is_file():
        with suppress(ValueError, KeyError):
            stopped = StopReason(orjson.loads(ended.read_bytes())["stopped_because"])
    return SearchOutcome(axis, bounds, stopped, evaluated, folder)


def _trials(series: Series, settings: PerfSettings) -> tuple[str, SearchRange, Trials]:
    asked = series.definition
    axis = asked["axis"]
    bounds = SearchRange(asked["low"], asked["high"], asked["within"], whole=axis == "concurrency")
    verdict = settings.verdict
    required = required_of(
        verdict.require, verdict.ruleset, verdict.scenario, settings.endpoint.model, verdict.skip
    )
    options = {
        name: value for name, value in flat_values(settings).items() if name not in {"rate", "concurrency"}
    }
    return axis, bounds, Trials(axis, required, options, asked["point_s"])


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
    return (low, high) if axis == "rate" else (int(low), int(high))
