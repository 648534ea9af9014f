"""The rows of a query over the log of a run that `loadgen selftest` makes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.run_session import run
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.database import open_log, rows_of

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path


def run_rows(folder: Path, sql: str, also: Collection[str] = (), **options: Any) -> list[dict[str, Any]]:
    """Run, and query the log.

    Args:
        folder: The folder of the log, which does not exist yet.
        sql: The query.
        also: Views of the query that a log does not open by itself.
        options: Options of the run, by name.

    Raises:
        WriterError, LogError: The log could not be written, or read.
    """
    run(perf_settings(server_metrics=["none"], on_invalid="warn", out=folder, **options))
    with open_log(folder, also) as log:
        return rows_of(log.execute(sql))
