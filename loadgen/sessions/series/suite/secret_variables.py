"""The secrets of a suite: the file names environment variables; no written file has a value."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.secrets import keep_out_of_errors
from loadgen.sessions.series.point_options import Secrets, check
from loadgen.sessions.series.suite.layers import variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.settings.resume import ResumeSettings

JUDGE_KEY: Final = "LOADGEN_JUDGE_API_KEY"

Named = dict[str, dict[str, Any]]
"""The variables of each run, by its name: `api_key` and `judge_api_key` are one or empty, `headers` has
one for each header."""


def named(entries: Iterable[MatrixRun]) -> Named:
    """The variables that a suite's file names."""
    return {
        entry.name: {
            "api_key": entry.api_key_env,
            "headers": entry.headers_env,
            "judge_api_key": entry.judge_key_env,
        }
        for entry in entries
    }


def from_environment() -> str | None:
    """The key of runs for which the file names no variable: that of `loadgen perf`, if there is one."""
    return next(filter(None, map(os.environ.get, variables()["api_key"])), None)


def secrets_of(variables: Named, otherwise: str | None) -> Callable[[str], Secrets]:
    """Look up the secrets of a run by name, when the run is prepared."""

    def secrets(run: str) -> Secrets:
        names = variables[run]
        key = _value(names["api_key"]) if names["api_key"] else otherwise
        header = tuple(f"{name}: {_value(variable)}" for name, variable in names["headers"].items())
        # A suite of an earlier version has no variable of the judge's key.
        judge = names.get("judge_api_key")
        return Secrets(key, header, _value(judge) if judge else os.environ.get(JUDGE_KEY))

    return secrets


def unset(variables: Named) -> list[str]:
    """The named variables that are not set, each once."""
    return [name for name in dict.fromkeys(_all(variables)) if not os.environ.get(name)]


def _all(variables: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    for names in variables.values():
        yield from filter(None, (names["api_key"], *names["headers"].values(), names["judge_api_key"]))


def _value(variable: str) -> str:
    value = os.environ.get(variable)
    if not value:
        raise UsageError(f"the environment variable {variable}, which the suite names, is not set")
    keep_out_of_errors(value)
    return value


def require_resumable(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Make sure that every remaining run of a suite can be run."""
    if settings.header:
        raise UsageError("--header: a suite takes its headers from the variables that headers_env names")
    _require_whole(folder, series.definition, {point.name for point in series.points})
    names_all = all(names["api_key"] for names in series.definition["secrets"].values())
    if names_all and settings.api_key not in {None, from_environment()}:
        raise UsageError("--api-key: the suite names the variable of every key (api_key_env); set those")
    secrets = secrets_of(series.definition["secrets"], settings.api_key)
    check(series.points, lambda point: secrets(point.name))


def _require_whole(folder: Path, definition: Mapping[str, Any], points: set[str]) -> None:
    secrets = definition.get("secrets")
    whole = isinstance(secrets, dict) and secrets.keys() >= points and "stop_on_failure" in definition
    if not whole:
        raise UsageError(
            f"{folder} is not the folder of a suite as this version writes it: run the suite again"
        )
