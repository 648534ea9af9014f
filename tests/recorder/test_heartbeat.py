"""The writer's heartbeat: what a log says about its completeness is true, at any moment."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from recorder import schema
from recorder.continued_log import reopen
from recorder.event import Event, EventType
from recorder.schema import Heartbeat
from recorder.session import Session
from recorder.store import Store, verify
from recorder.writer import COMMIT_EVENTS, EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

EVENT = Event(EventType.FIRST_CHUNK, 1, "a")


pytestmark = pytest.mark.usefixtures("health_at_the_end_alone")


def heartbeats(log: Path) -> list[Heartbeat]:
    """Of each segment the last."""
    query = "SELECT complete_until_ns, written_ns FROM heartbeats ORDER BY sitting"
    with closing(sqlite3.connect(log)) as reader:
        return [Heartbeat(*row) for row in reader.execute(query)]


def events(log: Path) -> int:
    """How many there are."""
    with closing(sqlite3.connect(log)) as reader:
        return int(reader.execute("SELECT count(*) FROM events").fetchone()[0])


def await_beat(log: Path, is_it: Callable[[Heartbeat], bool]) -> Heartbeat:
    """Wait for a heartbeat."""
    give_up = time.monotonic() + 60
    while not is_it(beat := heartbeats(log)[-1]):
        assert time.monotonic() < give_up
        time.sleep(0.005)
    return beat


def test_a_batch_says_that_it_is_complete(tmp_path: Path) -> None:
    """What was put before that moment is in the log."""
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        (begun,) = heartbeats(recorder.path)
        assert recorder.session.started_at_ns <= begun.complete_until_ns <= begun.written_ns
        recorder.put(EVENT)
        put_ns = time.monotonic_ns()
        recorder.wait_for_writes()
        recorder.wait_for_writes()
        (beat,) = heartbeats(recorder.path)
        assert put_ns < beat.complete_until_ns <= beat.written_ns < time.monotonic_ns()


def test_the_heart_beats_while_nothing_happens(tmp_path: Path) -> None:
    """Else a log of long answers would not be known to be complete."""
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        for _ in range(3):
            now_ns = time.monotonic_ns()
            beat = await_beat(recorder.path, lambda beat, now_ns=now_ns: beat.complete_until_ns > now_ns)
            assert beat.complete_until_ns <= beat.written_ns


def test_what_comes_from_elsewhere_is_complete_when_that_is_said(tmp_path: Path) -> None:
    """The writer knows what it was given, and not what is on its way; but it goes on saying that it lives."""
    recorder = EventRecorder(path=tmp_path / "events.db")
    recorder.expect_completeness()
    with recorder:
        recorder.put(EVENT)
        recorder.wait_for_writes()
        now_ns = time.monotonic_ns()
        beat = await_beat(recorder.path, lambda beat: beat.written_ns > now_ns)
        assert beat.complete_until_ns == recorder.session.started_at_ns
        until_ns = recorder.session.started_at_ns + 1
        recorder.complete_until(until_ns)
        recorder.wait_for_writes()
        assert heartbeats(recorder.path)[0].complete_until_ns == until_ns


def test_it_is_written_with_the_batch_that_makes_it_true(tmp_path: Path) -> None:
    """In a log that is behind, too: each reader sees as many events as the heartbeat promises."""
    recorder = EventRecorder(path=tmp_path / "events.db")
    recorder.expect_completeness()
    base_ns = recorder.session.started_at_ns
    rows = [schema.row(EVENT)] * (COMMIT_EVENTS // 2 + 1)
    parts = 30
    with recorder:
        for part in range(1, parts + 1):
            recorder.put_rows(rows, time.monotonic_ns())
            recorder.complete_until(base_ns + part)
        reached = 0
        while reached < parts:
            reached = heartbeats(recorder.path)[0].complete_until_ns - base_ns
            assert events(recorder.path) >= reached * len(rows)
        assert recorder.waiting == 0


def test_a_further_segment_has_its_own(tmp_path: Path) -> None:
    """Also in a log of an earlier version, which had none."""
    log = tmp_path / "events.db"
    store = Store.create(log, Session(started_at_ns=5))
    store.append([], Heartbeat(7, 8))
    store.close()
    reopen(log, Session(started_at_ns=9)).close()
    assert heartbeats(log) == [(7, 8), (9, 9)]
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("DROP TABLE heartbeats")
    verify(log)
    store = reopen(log, Session(started_at_ns=11))
    store.append([schema.row(EVENT)], Heartbeat(12, 13))
    store.close()
    assert heartbeats(log) == [(12, 13)]


def test_a_batch_that_is_not_written_promises_nothing(tmp_path: Path) -> None:
    """They are one transaction."""
    log = tmp_path / "events.db"
    store = Store.create(log, Session(started_at_ns=5))
    with pytest.raises(sqlite3.Error):
        store.append([(1, object(), None, None, None, None)], Heartbeat(7, 8))  # type: ignore[list-item]
    store.close()
    assert heartbeats(log) == [(5, 5)]
