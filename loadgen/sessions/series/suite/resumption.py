"""`loadgen resume` of a suite's folder: the runs that are not done, as the file said when it was begun."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.series.options import check
from loadgen.sessions.series.suite.keys import from_environment, secrets_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.series.series import Series
    from loadgen.sessions.settings.resume import ResumeSettings


def require_resumable(folder: Path, series: Series, given: ResumeSettings) -> None:
    """Make sure that every run of a suite that is not done can be done.

    Raises:
        UsageError: It is not what a suite has written, an option has no meaning for it, or a run cannot be
            done any more, because its prompts are gone, say; nothing has been sent then.
    """
    if given.header:
        raise UsageError("--header: a suite takes its headers from the variables that headers_env names")
    _require_whole(folder, series.definition, {point.name for point in series.points})
    names_all = all(names["api_key"] for names in series.definition["secrets"].values())
    if names_all and given.api_key not in {None, from_environment()}:
        raise UsageError("--api-key: the suite names the variable of every key (api_key_env); set those")
    secrets = secrets_of(series.definition["secrets"], given.api_key)
    check(series.points, lambda point: secrets(point.name))


def _require_whole(folder: Path, definition: Mapping[str, Any], points: set[str]) -> None:
    """Make sure that what was written down of a suite is what it needs."""
    secrets = definition.get("secrets")
    whole = isinstance(secrets, dict) and secrets.keys() >= points and "stop_on_failure" in definition
    if not whole:
        raise UsageError(
            f"{folder} is not the folder of a suite as this version writes it: run the suite anew"
        )
