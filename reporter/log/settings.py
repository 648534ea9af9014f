"""The settings and the environment of a run, from the head of the log alone."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field
from recorder.errors import LogError
from recorder.store import log_path
from reporter.errors import blaming
from reporter.json_values import document, members
from reporter.log.source import readable

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_OPENING = "SELECT settings, environment, started_wall_ns FROM session"


@dataclass(frozen=True, slots=True)
class LogHead:
    """The head of a log; empty for a run without a log.

    Attributes:
        environment: The machine and the versions that it ran with.
        started_wall_ns: When it was started, in ns since the epoch.
    """

    settings: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, Any] = field(default_factory=dict)
    started_wall_ns: int = 0


def settings(run: Path) -> Mapping[str, Any]:
    """The resolved settings of a run: model, load, ruleset; see `head`."""
    return head(run).settings


def head(run: Path) -> LogHead:
    """Read the head of a log.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
    """
    log = log_path(run)
    try:
        with blaming(log):
            row = _opening(run, log)
            if row is None:
                raise LogError("the log is damaged: no settings")
            settings, environment, started_wall_ns = row
            if not isinstance(started_wall_ns, int):
                raise LogError("the log is damaged: no start time")
            return LogHead(members(document(settings)), members(document(environment)), started_wall_ns)
    except sqlite3.Error as error:
        raise LogError(f"{log}: the log is damaged and cannot be read ({error})") from error


def _opening(run: Path, log: Path) -> tuple[Any, Any, Any] | None:
    """The settings, the environment and the start, from the log or the archive."""
    if not log.exists():
        from reporter.log.archive_manifest import archived_opening
        from reporter.log.storage_place import archive_of

        archived = archive_of(run)
        if archived is not None:
            opening = archived_opening(archived)
            if opening is None:
                return None
            return opening["settings"], opening["environment"], opening["started_wall_ns"]
    with readable(log) as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
        row: tuple[Any, Any, Any] | None = connection.execute(_OPENING).fetchone()
        return row
