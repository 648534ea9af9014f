"""A log that is continued: another segment, whose clock is put on the first one's."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder import lock, schema
from recorder import store as store_module
from recorder.continued_log import reopen
from recorder.errors import BeingWrittenError, LogNotMadeError, NotALogError, OldLogError
from recorder.event import Event, EventType
from recorder.lifecycle import SESSION, violations
from recorder.session import Before, Session, boot_id, shift
from recorder.store import Store
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3_600_000_000_000
FIRST = Session(started_at_ns=50 * HOUR, started_wall_ns=1000 * HOUR, boot_id="monday", settings={"n": 1})
moments = st.integers(0, 2**61)


def ask(path: Path, query: str) -> list[tuple[Any, ...]]:
    """What plain sqlite3 finds in a log."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchall()


def write(store: Store, *at_ns: int) -> None:
    """Append an event for each moment, and close the log."""
    store.append([schema.row(Event(EventType.TELEMETRY, moment)) for moment in at_ns])
    store.close()


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """A log of two events."""
    path = tmp_path / "events.db"
    write(Store.create(path, FIRST), 50 * HOUR, 51 * HOUR)
    return path


def test_a_new_log_has_one_segment(log: Path) -> None:
    """Its clock is that of the session."""
    segments = ask(
        log, "SELECT sitting, first_seq, started_at_ns, started_wall_ns, shift_ns, boot_id FROM sittings"
    )
    assert segments == [(1, 1, 50 * HOUR, 1000 * HOUR, 0, "monday")]


def test_a_segment_begins_after_the_last_event(log: Path) -> None:
    """Each has its events, its clocks and its environment; what the session was to do stays as it was."""
    later = replace(
        FIRST, started_at_ns=HOUR, started_wall_ns=1003 * HOUR, boot_id="tuesday", settings={"n": 2}
    )
    write(reopen(log, replace(later, environment={"host": "b"})), 2 * HOUR)
    write(reopen(log, replace(later, started_at_ns=4 * HOUR, started_wall_ns=1010 * HOUR)), 5 * HOUR)
    segments = ask(log, "SELECT sitting, first_seq, shift_ns / 3600000000000, boot_id FROM sittings")
    assert segments == [(1, 1, 0, "monday"), (2, 3, 52, "tuesday"), (3, 4, 52, "tuesday")]
    assert ask(log, "SELECT settings, environment FROM session") == [('{"n":1}', "{}")]
    assert ask(log, "SELECT environment FROM sittings WHERE sitting = 2") == [('{"host":"b"}',)]
    assert ask(log, "SELECT seq, at_ns / 3600000000000 FROM events") == [(1, 50), (2, 51), (3, 2), (4, 5)]


def test_an_event_that_is_younger_than_the_log_gets_its_name(log: Path) -> None:
    """Who continues with a log may know more events than who made it."""
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("DELETE FROM event_types WHERE name = 'TELEMETRY'")
    reopen(log, FIRST).close()
    assert ask(log, "SELECT count(*) FROM event_types") == [(len(EventType),)]


@given(
    before=st.builds(
        Before,
        started_at_ns=moments,
        started_wall_ns=moments,
        boot_id=st.just("a"),
        shift_ns=moments,
        last_ns=moments,
    ),
    started_at_ns=moments,
    started_wall_ns=moments,
    boot=st.sampled_from(["a", "b", ""]),
)
def test_segments_never_overlap_on_the_first_ones_clock(
    before: Before, started_at_ns: int, started_wall_ns: int, boot: str
) -> None:
    """After a restart the wall clock says how much time has passed, unless it says that none has."""
    by_ns = shift(before, Session(started_at_ns=started_at_ns, started_wall_ns=started_wall_ns, boot_id=boot))
    if boot == "a":
        assert by_ns == before.shift_ns
        return
    passed_ns = (started_at_ns + by_ns) - (before.started_at_ns + before.shift_ns)
    assert started_at_ns + by_ns > before.last_ns + before.shift_ns
    assert passed_ns >= started_wall_ns - before.started_wall_ns
    if before.started_at_ns + started_wall_ns - before.started_wall_ns > before.last_ns:
        assert passed_ns == started_wall_ns - before.started_wall_ns


def test_two_boots_without_a_name_are_not_the_same() -> None:
    """Where the system does not name its boots, the wall clock is asked always."""
    before = Before(5, 100, "", 0, 6)
    assert shift(before, Session(started_at_ns=1, started_wall_ns=110, boot_id="")) == 14


def test_this_boot_has_a_name_that_stays() -> None:
    """Or none, where the system does not say."""
    assert boot_id() == boot_id()
    assert Session().boot_id == boot_id()


def test_a_recorder_continues_a_log(log: Path) -> None:
    """What is recorded then follows what was there."""
    with EventRecorder(path=log, resume=True, environment={"host": "here"}) as recorder:
        recorder.record_event(EventType.TEST_STARTED, 7)
    assert ask(log, "SELECT seq, code, at_ns FROM events WHERE code <> 7 OR seq < 3 ORDER BY seq") == [
        (1, 7, 50 * HOUR),
        (2, 7, 51 * HOUR),
        (3, 1, 7),
    ]
    assert ask(log, "SELECT environment FROM sittings ORDER BY sitting") == [("{}",), ('{"host":"here"}',)]


def test_a_log_that_is_being_written_is_not_continued(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run has one writer."""
    monkeypatch.setattr(lock, "PATIENCE_S", 0.0)
    store = reopen(log, FIRST)
    with pytest.raises(BeingWrittenError):
        reopen(log, FIRST)
    store.close()
    assert ask(log, "SELECT count(*) FROM sittings") == [(2,)]


def test_an_older_log_is_only_read(log: Path) -> None:
    """A log that does not know of segments is refused, with what can be done with it."""
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(OldLogError, match=r"log format 1, and only a log of format"):
        reopen(log, FIRST)
    # No process holds it any more.
    lock.Hold(log.parent).release()


def test_a_file_that_is_not_a_log_is_not_continued(tmp_path: Path) -> None:
    """Neither nothing, nor some other file."""
    with pytest.raises(NotALogError, match=r"it has no events\.db"):
        reopen(tmp_path / "events.db", FIRST)
    (tmp_path / "events.db").write_text("hello" * 1000)
    with pytest.raises(NotALogError, match="not a SQLite file"):
        reopen(tmp_path / "events.db", FIRST)
    with pytest.raises(LogNotMadeError, match="cannot be continued"):
        reopen(tmp_path / "nowhere" / "events.db", FIRST)


@pytest.mark.parametrize("left", [kind for kind in SESSION if kind], ids=lambda kind: kind.name)
def test_a_run_is_resumed_wherever_it_was_left(left: EventType) -> None:
    """Every state of a session may be followed by the start of another segment, and by no other surprise."""
    way = {
        EventType.TEST_STARTED: [],
        EventType.PHASE_STARTED: [EventType.PHASE_STARTED],
        EventType.STOP_PERFORMANCE_TRACKING: [EventType.PHASE_STARTED, EventType.STOP_PERFORMANCE_TRACKING],
        EventType.PHASE_ENDED: [EventType.PHASE_STARTED, EventType.PHASE_ENDED],
        EventType.TEST_ENDED: [EventType.TEST_ENDED],
    }[left]
    steps = [EventType.TEST_STARTED, *way, EventType.TEST_STARTED, EventType.TEST_ENDED]
    events, begins = [Event(kind, 0) for kind in steps], len(way) + 2
    assert violations(events, {1, begins}) == []
    assert violations([*events, Event(EventType.PHASE_ENDED, 0)], {1, begins}) == [
        "PHASE_ENDED may not follow TEST_ENDED in the session"
    ]
    again = f"TEST_STARTED may not follow {left.name} in the session"
    assert violations(events) == violations(events, {1, begins + 1})[:1] == [again]


def test_a_log_that_is_read_while_it_is_closed_is_one_file(log: Path) -> None:
    """Closing waits for readers, who take no more than moments."""
    store = reopen(log, FIRST)
    with closing(sqlite3.connect(log, check_same_thread=False)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchone()
        ending = threading.Timer(0.05, reader.close)
        ending.start()
        store.close()
        ending.join()
    assert [path.name for path in log.parent.iterdir()] == ["events.db"]


def test_a_reader_does_not_keep_a_log_from_being_closed(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who reads for longer than closing waits finds the log as good as closed."""
    monkeypatch.setattr(store_module, "_READERS_S", 0.05)
    store = reopen(log, FIRST)
    with closing(sqlite3.connect(log)) as reader:
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (2,)
        reader.execute("BEGIN")
        reader.execute("SELECT * FROM events").fetchone()
        store.append([schema.row(Event(EventType.TELEMETRY, 1))])
        store.close()
        assert reader.execute("SELECT count(*) FROM events").fetchone() == (2,)
    assert ask(log, "SELECT count(*) FROM events") == [(3,)]


def test_a_log_that_was_continued_meanwhile(log: Path) -> None:
    """What was known of it is not so any more: it is refused, left as it is, and let go of."""
    write(reopen(log, FIRST, after_seq=2), 52 * HOUR)
    with (
        pytest.raises(BeingWrittenError, match="has continued this run meanwhile"),
        EventRecorder(path=log, resume=True, after_seq=2),
    ):
        pass
    assert ask(log, "SELECT count(*) FROM sittings") == [(2,)]
    lock.Hold(log.parent).release()
    reopen(log, FIRST, after_seq=3).close()


def test_a_link_is_not_continued(log: Path, tmp_path: Path) -> None:
    """Continuing the log itself holds another folder; a link to the folder is the folder."""
    link = tmp_path / "linked" / "events.db"
    link.parent.mkdir()
    link.symlink_to(log)
    with pytest.raises(NotALogError, match="a link, and a log is continued where it is"):
        reopen(link, FIRST)
    assert ask(log, "SELECT count(*) FROM sittings") == [(1,)]
    (tmp_path / "folder").symlink_to(log.parent)
    store = reopen(tmp_path / "folder" / "events.db", FIRST)
    assert lock.is_held(log.parent)
    store.close()


def test_a_log_that_does_not_say_when_it_was_begun(log: Path) -> None:
    """It is damaged; nothing stays open or locked."""
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("DELETE FROM sittings")
    with pytest.raises(NotALogError, match="no start time") as raised:
        reopen(log, FIRST)
    # A transaction that stays open would keep others from writing as long as the error lives.
    with closing(sqlite3.connect(log, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
    assert not lock.is_held(log.parent), raised
