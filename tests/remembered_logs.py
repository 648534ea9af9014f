"""Logs that stay open, and figures that are computed once: tests of commands ask one run many things.

A log of the same content is loaded once, and its figures are computed once for the same definitions and
options. What rules make of them, and what a command writes, is made each time. Tests of `reporter` do so
only where they report one run by several rules or options (`tests.reporter.conftest.Run.report`).
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections import OrderedDict
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Final

from recorder.lock import is_held
from recorder.store import LOG_NAME, log_path
from reporter.log.database import OpenLog, open_log
from reporter.log.query import QueryResult
from reporter.log.tables import big_tables_in
from reporter.metrics import compute

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable

    from reporter.findings.check_inputs import CheckInputs
    from reporter.metrics import DisplayedReport
    from reporter.report_options import ReportOptions

MOST_LOGS: Final = 4
MOST_BYTES: Final = 5_000_000
"""Of a log that is remembered."""

_OPENED: Final[OrderedDict[bytes, StayingOpen]] = OrderedDict()


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StayingOpen(OpenLog):
    """A log that its readers do not close; it is read from a copy, which no test changes.

    Attributes:
        computed: Reports, and what they come with, by what they follow from.
    """

    computed: dict[Hashable, tuple[DisplayedReport, OpenLog, CheckInputs]] = field(default_factory=dict)

    def close(self) -> None:
        """Stay open."""

    def forget(self) -> None:
        """Close it after all."""
        self.computed.clear()
        self.database.close()


def staying_open(log: OpenLog, run: Path) -> StayingOpen:
    """An opened log that its readers do not close.

    Args:
        log: The log as it was opened.
        run: Where its big tables are read from.
    """
    values = {item.name: getattr(log, item.name) for item in fields(log)}
    return StayingOpen(**values | {"run": run})


def remembered_log(run: Path, also: Collection[str] = ()) -> OpenLog:
    """As `open_log`; a log that is finished, and small, is opened once."""
    content = _content(log_path(run))
    if content is None:
        return open_log(run, also)
    if content not in _OPENED:
        log = open_log(run)
        folder = Path(tempfile.mkdtemp(prefix="remembered-"))
        shutil.copyfile(log_path(run), folder / LOG_NAME)
        _OPENED[content] = staying_open(log, folder)
        if len(_OPENED) > MOST_LOGS:
            _forget(_OPENED.popitem(last=False)[1])
    _OPENED.move_to_end(content)
    _OPENED[content].load(also)
    return _OPENED[content]


def query(run: Path, sql: str) -> QueryResult:
    """As `reporter.log.query.query`, of a log that stays open."""
    with remembered_log(run, big_tables_in(sql)) as log:
        answer = log.execute(sql)
        return QueryResult([column[0] for column in answer.description or ()], answer.fetchall())


def remembered_report(log: OpenLog, options: ReportOptions) -> tuple[DisplayedReport, OpenLog, CheckInputs]:
    """As `compute`; for a log that stays open the same is computed once."""
    key = (log.definitions, log.windows, log.has_samples_table, repr(options))
    if not isinstance(log, StayingOpen) or options.tokenizer is not None or log.token_counts is not None:
        return compute(log, options)
    if key not in log.computed:
        log.computed[key] = compute(log, options)
    report, computed, inputs = log.computed[key]
    return deepcopy(report), computed, inputs


def forget_logs() -> None:
    """Close what is open."""
    while _OPENED:
        _forget(_OPENED.popitem()[1])


def _forget(log: StayingOpen) -> None:
    log.forget()
    shutil.rmtree(log.run)


def _content(log: Path) -> bytes | None:
    """What tells a finished log from others; None for a log that is large or may be growing."""
    with suppress(OSError):
        journal = log.with_name(f"{log.name}-wal")
        growing = is_held(log.resolve().parent) or (journal.exists() and journal.stat().st_size > 0)
        if not growing and log.stat().st_size <= MOST_BYTES:
            return hashlib.blake2b(log.read_bytes()).digest()
    return None
