"""A value of another type than its column's is damage, and every reader names the row."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder.column_types import require_types
from recorder.errors import LogError
from reporter.archive.write import archive
from reporter.live.growing_log import GrowingLog
from reporter.live.tail import LogTail
from reporter.log.all_events import rows
from reporter.log.database import open_log
from reporter.log.query import query
from reporter.log.so_far import so_far
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run

SWAPS = {
    "event 1: at_ns is real": "UPDATE events SET at_ns = 1.5 WHERE seq = 1",
    "event 2: at_ns is text": "UPDATE events SET at_ns = 'soon' WHERE seq = 2",
    "event 2: at_ns is blob": "UPDATE events SET at_ns = x'00' WHERE seq = 2",
    "event 3: code is text": "UPDATE events SET code = 'x' WHERE seq = 3",
    "event 3: code is real": "UPDATE events SET code = code + 0.5 WHERE seq = 3",
    "event 4: sample_uuid is blob": "UPDATE events SET sample_uuid = x'ff00' WHERE seq = 4",
    "event 1: data is blob": "UPDATE events SET data = x'ff00' WHERE seq = 1",
    "event 4: data is blob": "UPDATE events SET data = x'ff00' WHERE seq = 4",
    "event 4: chunk_gaps_us is text": "UPDATE events SET chunk_gaps_us = 'abcd' WHERE seq = 4",
    "row of session: settings is blob": "UPDATE session SET settings = x'7b7d'",
    "row of sittings: first_seq is real": "UPDATE sittings SET first_seq = 1.5",
    "row of event_types: name is blob": "UPDATE event_types SET name = x'00' WHERE code = 1",
}


def followed(log: Path) -> None:
    """Follow a log as `--abort-on-fail` does."""
    with GrowingLog(log, Definitions(), ["ttft"]) as growing:
        growing.ended()


READERS: dict[str, Callable[[Path], object]] = {
    "report": open_log,
    "query": lambda log: query(log, "FROM events"),
    "so far": so_far,
    "rows": lambda log: list(rows(log)),
    "tail": lambda log: LogTail(log).read(),
    "growing": followed,
    "archive": lambda log: archive(log, log.parent / "archive", "1"),
}


@pytest.fixture
def a_log(a_run: Callable[..., Run], tmp_path: Path) -> Path:
    """A log of one request, which can be changed."""
    written = a_run().begins().answers(5).stops(10).ends(10).write()
    return shutil.copy(written / "events.db", tmp_path / "events.db")


@pytest.mark.parametrize(
    ("message", "reader"),
    [
        *((message, reader) for message in SWAPS for reader in ("report", "tail")),
        *(("event 2: at_ns is text", reader) for reader in READERS if reader not in {"report", "tail"}),
    ],
)
def test_a_value_of_another_type_is_damage(a_log: Path, message: str, reader: str) -> None:
    """Each reader names the row and the column, and what can be done."""
    with closing(sqlite3.connect(a_log)) as log, log:
        assert log.execute(SWAPS[message]).rowcount
    with pytest.raises(LogError, match=rf"the log is damaged.*: {message}; to read the rest"):
        READERS[reader](a_log)


def test_of_several_tables_the_first_of_the_schema_is_named(a_log: Path) -> None:
    """Two readers of one damaged log give one message."""
    with closing(sqlite3.connect(a_log)) as log:
        for change in SWAPS.values():
            log.execute(change)
        with pytest.raises(LogError, match=": row of session: settings is blob; to read the rest"):
            require_types(log, a_log)


def test_texts_are_checked_by_those_who_read_them(a_log: Path) -> None:
    """The figures of a report need no texts."""
    with closing(sqlite3.connect(a_log)) as log, log:
        log.execute("UPDATE events SET texts = x'ff00' WHERE seq = 4")
    for name in ("rows", "archive"):
        with pytest.raises(LogError, match="event 4: texts is blob"):
            READERS[name](a_log)


def test_the_first_rows_are_named(a_log: Path) -> None:
    """Of many, three; those that were checked before are not checked again."""
    with closing(sqlite3.connect(a_log)) as log:
        require_types(log, a_log)
        log.execute("UPDATE events SET at_ns = 'x'")
        with pytest.raises(LogError, match=r"event 1: at_ns is text, event 2: .*, event 3: .*, …;"):
            require_types(log, a_log)
        ((last,),) = log.execute("SELECT max(seq) FROM events")
        require_types(log, a_log, after_seq=last)
