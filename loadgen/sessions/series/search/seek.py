"""A search as a series: each trial is a run, chosen by the outcomes of those before."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.sessions.files.series_file import SeriesPoint
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series.point_options import prepared, settings_of, settings_to_read
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series.search.requirements import required_of
from loadgen.sessions.series.search.search_result import SearchOutcome
from loadgen.sessions.series.search.strategy import SearchRange, StopReason, next_step
from loadgen.sessions.series.search.trials import Trials
from loadgen.sessions.settings.concerns import flat_values

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series.point_options import Secrets
    from loadgen.sessions.series_outcome import PointOutcome
    from loadgen.sessions.settings.perf import PerfSettings

RESULT: Final = "search.json"
AROUND_S: Final = 2.0
"""About how long a trial takes in addition to its duration, in seconds."""


def seek(folder: Path, series: Series, secrets: Secrets, observer: Observer = SILENT) -> SearchOutcome:
    """Try one load after the other until the search ends.

    Raises:
        UsageError, UnreachableError…: A trial could not be run at all.
    """
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
    """The axis, the range and the trials of a search."""
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
