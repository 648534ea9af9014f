"""One SQL query of one run, or of many together: folders, archives, series, and patterns of them."""

from __future__ import annotations

import csv
import json
import math
import os
import re
from dataclasses import replace
from glob import glob
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import is_series, runs_in
from reporter import MetricsReporter
from reporter.log.query import QueryResult, query, query_series
from reporter.log.storage_place import has_log, is_remote
from reporter.render.console_page import clean as cleaned
from reporter.render.csv_text import no_formula
from reporter.render.json import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from reporter.report import Finding

_PATTERN = frozenset("*?[")


def ask(named: Sequence[Path], sql: str) -> QueryResult:
    """Query what was named; of more than a single run every view has a column `run`.

    Raises:
        UsageError: A pattern matches no run.
        LogError: One is not a log that this version reads, or is damaged.
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
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


def csv_lines(answer: QueryResult, *, raw: bool, clean: bool) -> Iterator[str]:
    """The rows as CSV, the names of the columns first.

    Args:
        answer: The rows.
        raw: Whether texts are left as they are that a spreadsheet would take for formulas.
        clean: Whether characters that control a terminal are replaced; not with `raw`.
    """
    if not raw:
        answer = _harmless(answer, clean=clean)
    lines: list[str] = []
    # With its own line ends, Python quotes texts that hold either half of them.
    writer = csv.writer(SimpleNamespace(write=lambda row: lines.append(row.removesuffix("\r\n") + "\n")))
    for row in (answer.columns, *answer.rows):
        writer.writerow([_cell(value) for value in row])
        yield lines.pop()


def json_lines(answer: QueryResult) -> Iterator[str]:
    """The rows as JSON objects, one a line."""
    # DuckDB has integers of 128 bits: the standard library writes them, quicker encoders do not.
    for row in answer.rows:
        plain = {name: _plain(value) for name, value in zip(answer.columns, row, strict=True)}
        try:
            line = json.dumps(plain, default=str, ensure_ascii=False)
        except TypeError:
            # A map may have keys that JSON does not know.
            line = json.dumps({name: str(value) for name, value in plain.items()}, ensure_ascii=False)
        yield printable(line) + "\n"


def _harmless(answer: QueryResult, *, clean: bool) -> QueryResult:
    """What any program can open: no text in it is a formula, and none steers a terminal."""

    def harmless(value: Any) -> Any:
        if not isinstance(value, str):
            return value
        return cleaned(no_formula(value)) if clean else no_formula(value)

    return replace(
        answer,
        columns=[harmless(name) for name in answer.columns],
        rows=[tuple(map(harmless, row)) for row in answer.rows],
    )


def _cell(value: Any) -> Any:
    """A value of CSV; true and false as DuckDB writes them."""
    return str(value).lower() if isinstance(value, bool) else value


def _plain(value: Any) -> Any:
    """A value that JSON has a word for: it has none for infinity and NaN."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
