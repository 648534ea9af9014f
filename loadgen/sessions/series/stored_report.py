"""The stored report next to a log, if equal to a newly computed one."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final

from loadgen.sessions.environment import package_version
from loadgen.sessions.files.run_folder import REPORT
from reporter.log.storage_place import source_files

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report

_NOT_OVER: Final = frozenset({"running", "interrupted", "cut_off"})


def stored_report(run: Path) -> Report | None:
    """Read the report of an ended run, a hundred times faster than computing.

    Returns:
        None where there is none, the log is newer, another version of this program made it, or `loadgen
        report` or `loadgen gate` with the choices of a reader.
    """
    from reporter.read_report import report_of
    from reporter.report import SCHEMA_VERSION

    path = run / REPORT
    with suppress(OSError, ValueError):
        if path.stat().st_mtime_ns < max(part.stat().st_mtime_ns for part in source_files(run)):
            return None
        made = report_of(path.read_bytes())
        key = (made.run.as_started, made.schema_version, made.run.versions.get("llm-loadgen"))
        if key == (True, SCHEMA_VERSION, package_version("llm-loadgen")) and made.run.ended not in _NOT_OVER:
            return made
    return None
