"""`loadgen resume` of a suite's folder: the remaining runs, as in the file when it was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.options import check
from loadgen.sessions.series.suite.keys import from_environment, secrets_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.files.series_file import Series
    from loadgen.sessions.settings.resume import ResumeSettings


def require_resumable(folder: Path, series: Series, settings: ResumeSettings) -> None:
    """Make sure that every remaining run of a suite can be run.

    Raises:
        UsageError: It is not a suite's folder, an option does not apply to it, or a run cannot be run any
            more, for example because its prompts are gone; nothing has been sent then.
    """
    if settings.header:
        raise UsageError("--header: a suite takes its headers from the variables that headers_env names")
    _require_whole(folder, series.definition, {point.name for point in series.points})
    names_all = all(names["api_key"] for names in series.definition["secrets"].values())
    if names_all and settings.api_key not in {None, from_environment()}:
        raise UsageError("--api-key: the suite names the variable of every key (api_key_env); set those")
    secrets = secrets_of(series.definition["secrets"], settings.api_key)
    check(series.points, lambda point: secrets(point.name))


def _require_whole(folder: Path, definition: Mapping[str, Any], points: set[str]) -> None:
    """Make sure that the definition of a suite is complete."""
    secrets = definition.get("secrets")
    whole = isinstance(secrets, dict) and secrets.keys() >= points and "stop_on_failure" in definition
    if not whole:
        raise UsageError(
            f"{folder} is not the folder of a suite as this version writes it: run the suite again"
        )
