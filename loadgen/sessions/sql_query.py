"""One SQL query of one run, or of many together: folders, archives, series, and patterns of them."""

from __future__ import annotations

import os
import re
from glob import glob
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import is_series, runs_in
from reporter.log.storage_place import has_log, is_remote

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.log.query import QueryResult
    from reporter.report import Finding

_PATTERN = frozenset("*?[")


def ask(named: Sequence[Path], sql: str) -> QueryResult:
    """Query what was named; of more than a single run every view has a column `run`.

    Raises:
        UsageError: A pattern matches no run.
        LogError: One is not a log that this version reads, or is damaged.
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
    from reporter.log.query import query
    from reporter.log.query_series import query_series

    if len(named) == 1 and not is_series(named[0]) and not _is_pattern(named[0]):
        return query(named[0], sql, findings_asked(named[0], sql))
    runs = [run for path in named for run in _runs(path)]
    if len(runs) > 1 and not any(map(is_remote, runs)):
        top = os.path.commonpath([run.parent for run in runs])
        by_name = {os.path.relpath(run, top): run for run in runs}
    else:
        by_name = {str(run) if is_remote(run) else run.name: run for run in runs}
    return query_series(by_name, sql, lambda run: findings_asked(run, sql))


def findings_asked(run: Path, sql: str) -> Sequence[Finding] | None:
    """The findings of a run's report, if a query is about them."""
    if not re.search(r"\bfindings\b", sql, re.IGNORECASE):
        return None
    from reporter import MetricsReporter

    with MetricsReporter(run) as reporter:
        return reporter.create_report().findings


def _runs(path: Path) -> Iterator[Path]:
    if _is_pattern(path):
        places = map(Path, sorted(glob(str(path), recursive=True)))  # noqa: PTH207 (also of absolute paths)
        runs = [run for place in places if has_log(place) or is_series(place) for run in _runs(place)]
        if not runs:
            raise UsageError(
                f"{path}: no run matches; name folders of runs: loadgen sql 'runs/*' \"SELECT …\""
            )
        yield from runs
    elif is_series(path):
        yield from runs_in(path).values()
    else:
        yield path


def _is_pattern(path: Path) -> bool:
    return not path.exists() and not is_remote(path) and bool(_PATTERN & set(str(path)))
