"""A search as a series: each trial a run, chosen from what came of those before."""

from __future__ import annotations

import time
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Final

from cli.searching.requirements import required_of
from cli.searching.result import Found
from cli.searching.strategy import Bounds, Stopped, next_step
from cli.searching.trials import Trials
from cli.series.options import prepared, settings_of
from cli.series.running import run_series
from cli.series.series import Point

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from cli.perf_settings import PerfSettings
    from cli.series.options import Secrets
    from cli.series.outcome import Outcome
    from cli.series.series import Series

AROUND_S: Final = 2.0
"""What a trial takes beside its duration, about."""


def seek(folder: Path, series: Series, secrets: Secrets, *, quiet: bool) -> Found:
    """Try one load after the other until the search is over.

    Args:
        folder: That of the series.
        series: The search, with the trials that have been chosen so far.
        secrets: What every trial needs.
        quiet: Tell nothing of how it gets on.

    Raises:
        UsageError, UnreachableError…: A trial could not be run at all.
    """
    asked = series.definition
    common = Point(**asked["common"])
    given = settings_of(common, secrets)
    # What is wrong with an option is wrong with every trial: it is said before the first one.
    prepared(common, secrets)
    axis = asked["axis"]
    bounds = Bounds(asked["low"], asked["high"], asked["within"], whole=axis == "concurrency")
    required = required_of(given.require, given.ruleset, given.scenario, given.model, given.skip)
    options = {name: value for name, value in _options(given).items() if name not in {"rate", "concurrency"}}
    trials = Trials(axis, required, options, asked["point_s"])
    over_at = time.monotonic() + asked["budget_s"]
    stopped = Stopped.INTERRUPTED

    def following(outcomes: Sequence[Outcome]) -> Point | None:
        nonlocal stopped
        judged = trials.judged(outcomes)
        step = next_step([one.tried for one in judged], bounds)
        if isinstance(step, Stopped):
            stopped = step
            return None
        seconds = trials.seconds(step, judged)
        rest_s = series.cooldown_s if outcomes else 0.0
        if time.monotonic() + rest_s + seconds + AROUND_S > over_at:
            stopped = Stopped.BUDGET
            return None
        return trials.point(step, seconds, len(outcomes))

    ended = run_series(folder, series, lambda _: secrets, quiet=quiet, following=following)
    stopped = Stopped.INTERRUPTED if ended.interrupted else stopped
    return Found(axis, bounds, stopped, trials.judged(ended.outcomes), folder)


def _options(given: PerfSettings) -> Mapping[str, Any]:
    """Settings by field."""
    return {field.name: getattr(given, field.name) for field in fields(given)}
