"""The recorder: what is queued is written, in order, without the caller waiting for it."""

import sqlite3
import sys
import threading
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import orjson
import pytest

from recorder import schema
from recorder.errors import (
    AlreadyRecordingError,
    LogExistsError,
    LogNotMadeError,
    NotRecordingError,
    WriterError,
)
from recorder.event import Event, EventType, SampleEvent, SessionEvent
from recorder.file_checks import Presence
from recorder.lock import is_held
from recorder.writer import COMMIT_BYTES, COMMIT_EVENTS, EventRecorder

pytestmark = pytest.mark.usefixtures("health_at_the_end_alone")


def rows(
    path: Path, query: str = "SELECT code, at_ns, sample_uuid, data FROM events ORDER BY seq"
) -> list[tuple]:
    """What a reader of the log sees, but for the recorder's own telemetry."""
    connection = sqlite3.connect(path)
    try:
        return [row for row in connection.execute(query).fetchall() if row[0] != EventType.TELEMETRY]
    finally:
        connection.close()


def test_events_are_written_in_the_order_of_their_recording(tmp_path: Path) -> None:
    """What is recorded first has the lower sequence number."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path):
        for at_ns in range(3 * COMMIT_EVENTS):
            EventRecorder.record_event(EventType.FIRST_CHUNK, at_ns, "a")
    assert [at_ns for _, at_ns, _, _ in rows(path)] == list(range(3 * COMMIT_EVENTS))


def written(path: Path) -> int:
    """How many events a log has, with the last reading of the recorder's health."""
    with closing(sqlite3.connect(path)) as connection:
        return int(connection.execute("SELECT count(*) FROM events").fetchone()[0])


def test_no_event_of_many_threads_is_lost(tmp_path: Path) -> None:
    """Every event of every thread is in the log, each thread's in its own order."""
    path = tmp_path / "events.db"

    def record(name: str) -> None:
        for at_ns in range(5000):
            EventRecorder.record_event(EventType.FIRST_CHUNK, at_ns, name)

    with EventRecorder(path=path) as recorder:
        threads = [threading.Thread(target=record, args=(name,)) for name in "abcd"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    for name in "abcd":
        assert [at_ns for _, at_ns, uuid, _ in rows(path) if uuid == name] == list(range(5000))
    assert recorder.health.lost == 0
    assert recorder.health.events == written(path) > 20_000


def test_rows_of_another_process_are_events_like_others(tmp_path: Path) -> None:
    """They are written as they are, in the order of the queue, and counted one by one."""
    path = tmp_path / "events.db"
    batches = [
        [schema.row(Event(EventType.FIRST_CHUNK, 1000 * number + at_ns, "a")) for at_ns in range(1, 1000)]
        for number in range(9)
    ]
    with EventRecorder(path=path) as recorder:
        for number, batch in enumerate(batches):
            recorder.put(Event(EventType.REQUEST_SENT, 1000 * number, "a"))
            recorder.put_rows(batch, time.monotonic_ns())
        recorder.wait_for_writes()
        assert recorder.waiting == 0
    assert [at_ns for _, at_ns, _, _ in rows(path)] == list(range(9000))
    assert recorder.health.events == written(path) > 9000
    assert recorder.health.lost == 0


def test_what_waits_is_counted_in_events(tmp_path: Path) -> None:
    """Also while it comes in batches; and the time that they have waited elsewhere counts."""
    batch = [schema.row(Event(EventType.FIRST_CHUNK, at_ns, "a")) for at_ns in range(1000)]
    recorder = EventRecorder(path=tmp_path / "events.db")
    recorder.put(Event(EventType.TEST_STARTED, 1))
    recorder.put_rows(batch, time.monotonic_ns() - 5_000_000_000)
    assert recorder.waiting == 1001
    with recorder:
        recorder.wait_for_writes()
        assert recorder.waiting == 0
        assert recorder.health.high_water == 1001
        assert recorder.health.longest_wait_ms >= 5000


@pytest.mark.parametrize("first", ["put", "record_event"])
def test_the_first_event_waits_from_the_start_of_the_writer(tmp_path: Path, first: str) -> None:
    """And not from the start of the clock, also where the first event starts the writer."""
    recorder = EventRecorder(path=tmp_path / "events.db")
    if first == "put":
        recorder.put(Event(EventType.TEST_STARTED, 1))
        recorder.begin()
    else:
        EventRecorder.record_event(EventType.TEST_STARTED, 1)
    recorder.wait_for_writes()
    recorder.close()
    assert 0 < recorder.health.longest_wait_ms < 30_000


def test_what_waits_is_counted_in_bytes(tmp_path: Path) -> None:
    """Of what comes in batches, and until it is written; a batch of many bytes is committed at once."""
    rows_of_a_batch = [schema.row(Event(EventType.FIRST_CHUNK, 1, "a"))]
    recorder = EventRecorder(path=tmp_path / "events.db")
    for _ in range(3):
        recorder.put_rows(rows_of_a_batch, time.monotonic_ns(), COMMIT_BYTES // 2)
    assert recorder.waiting_bytes == recorder.waiting * COMMIT_BYTES // 2 == 3 * COMMIT_BYTES // 2
    with recorder:
        recorder.wait_for_writes()
        assert recorder.waiting_bytes == 0
    assert recorder.health.high_water_bytes == 3 * COMMIT_BYTES // 2
    assert recorder.health.commits == 3  # two, and the last reading of the recorder's health


def test_rows_that_cannot_be_written_are_lost_one_by_one(tmp_path: Path) -> None:
    """A batch that no log can hold counts as many events as it has rows."""
    row = (EventType.FIRST_CHUNK.value, 2**70, "a", None, None, None)
    recorder = EventRecorder(path=tmp_path / "events.db")
    with pytest.raises(WriterError, match="too large"), recorder:
        recorder.put_rows([row] * 10, time.monotonic_ns())
    assert recorder.health.lost == 10


def test_force_commit_makes_an_event_visible_to_another_connection(tmp_path: Path) -> None:
    """After `wait_for_writes` a reader sees the event while the recorder goes on."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path) as recorder:
        EventRecorder.record_event(EventType.TEST_STARTED, 1, force_commit=True)
        recorder.wait_for_writes()
        assert rows(path) == [(EventType.TEST_STARTED, 1, None, None)]


def test_an_event_is_committed_without_being_asked_for(tmp_path: Path) -> None:
    """`wait_for_writes(force_commit=False)` only waits for the writer's own interval."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path) as recorder:
        recorder.put(Event(EventType.TEST_STARTED, 7))
        recorder.wait_for_writes(force_commit=False)
        assert rows(path) == [(EventType.TEST_STARTED, 7, None, None)]


def test_a_payload_is_encoded_on_the_writers_thread(tmp_path: Path) -> None:
    """Encoding happens where it costs the caller nothing."""
    encoders: list[str] = []

    class Payload(dict):
        """Tells which thread reads it."""

        def __contains__(self, key: object) -> bool:
            encoders.append(threading.current_thread().name)
            return super().__contains__(key)

    with EventRecorder(path=tmp_path / "events.db"):
        EventRecorder.record_event(EventType.COMPLETE, 1, "a", data=Payload(status=200))
    assert set(encoders) == {"event-writer"}


def test_a_payload_that_cannot_be_encoded_does_not_lose_the_event(tmp_path: Path) -> None:
    """The event is in the log and says what was wrong with its payload."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path):
        EventRecorder.record_event(EventType.COMPLETE, 1, "a", data={"bad": object()})
    ((code, at_ns, uuid, data),) = rows(path)
    assert (code, at_ns, uuid) == (EventType.COMPLETE, 1, "a")
    assert "encode_error" in data


def test_only_one_recorder_is_active(tmp_path: Path) -> None:
    """A second one in the same process is refused, and a later one is not."""
    with (
        EventRecorder(path=tmp_path / "a.db"),
        pytest.raises(AlreadyRecordingError),
        EventRecorder(path=tmp_path / "b.db"),
    ):
        pass
    with EventRecorder(path=tmp_path / "c.db") as recorder:
        assert EventRecorder.LIVE is recorder
    assert EventRecorder.LIVE is None


def test_a_recorder_is_the_only_one_from_its_construction_on(tmp_path: Path) -> None:
    """A second one cannot be made until the first is closed; one that recorded nothing leaves nothing."""
    first = EventRecorder(path=tmp_path / "a.db")
    assert EventRecorder.LIVE is first
    with pytest.raises(AlreadyRecordingError, match=first.session.session_id):
        EventRecorder(path=tmp_path / "b.db")
    first.close()
    assert EventRecorder.LIVE is None
    EventRecorder(path=tmp_path / "b.db").close()
    assert list(tmp_path.iterdir()) == []


def test_the_first_event_makes_the_log(tmp_path: Path) -> None:
    """Without `with` too, what is recorded after the construction is in the log."""
    recorder = EventRecorder(path=tmp_path / "events.db")
    EventRecorder.record_event(ev_type=SessionEvent.TEST_STARTED, timestamp_ns=1)
    EventRecorder.record_event(SampleEvent.COMPLETE, 2, "a")
    recorder.wait_for_writes()
    assert rows(recorder.path) == [
        (EventType.TEST_STARTED, 1, None, None),
        (EventType.COMPLETE, 2, "a", None),
    ]
    recorder.close()


def test_a_log_that_the_first_event_cannot_make(tmp_path: Path) -> None:
    """Who waits for it, or closes it, learns of it."""
    (tmp_path / "events.db").write_text("")
    for end in (EventRecorder.wait_for_writes, EventRecorder.close):
        recorder = EventRecorder(path=tmp_path / "events.db")
        EventRecorder.record_event(SessionEvent.TEST_STARTED, 1)
        with pytest.raises(LogExistsError):
            end(recorder)
        with suppress(LogExistsError):
            recorder.close()
        assert EventRecorder.LIVE is None


def test_the_events_of_a_session_and_of_a_sample_are_all_there_are() -> None:
    """Each has one of the two enums, by its name and its code."""
    halves = [*SessionEvent, *SampleEvent]
    assert [(event.name, int(event)) for event in halves] == [(kind.name, kind.value) for kind in EventType]
    assert all(event < 20 for event in SessionEvent)
    assert all(event >= 20 for event in SampleEvent)


@pytest.mark.parametrize(
    "data",
    [
        0,
        5,
        2.5,
        True,
        "my texts, and chunk_gaps_us",
        "",
        ["texts", 1],
        [],
        {"texts": {"output": "a"}, "n": 1},
    ],
)
def test_an_event_has_any_data(tmp_path: Path, data: Any) -> None:
    """Whatever JSON has is kept, and read again; a text that looks like a key of ours is a text."""
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        EventRecorder.record_event(EventType.COMPLETE, 1, "a", data=data)
        EventRecorder.record_event(EventType.COMPLETE, 2, "b", data={"n": 1})
        recorder.wait_for_writes()
    first, second = rows(recorder.path, "SELECT code, data, texts FROM events ORDER BY seq")
    stored = None if first[1] is None else orjson.loads(first[1])
    if isinstance(data, dict) and "texts" in data:
        assert (stored, orjson.loads(first[2])) == ({"n": 1}, {"output": "a"})
    else:
        assert stored == data
    assert second[1] == '{"n":1}'


def test_recording_without_a_recorder(tmp_path: Path) -> None:
    """It raises, or returns False where the caller says that it may."""
    with pytest.raises(NotRecordingError):
        EventRecorder.record_event(EventType.TEST_STARTED, 1)
    assert not EventRecorder.record_event(EventType.TEST_STARTED, 1, assert_active=False)
    assert list(tmp_path.iterdir()) == []


def test_a_log_is_never_overwritten(tmp_path: Path) -> None:
    """Where there is a file already, there is no recorder."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path):
        pass
    with pytest.raises(LogExistsError), EventRecorder(path=path):
        pass
    assert EventRecorder.LIVE is None


def test_a_place_that_cannot_be_written_to(tmp_path: Path) -> None:
    """The error names it, and another recorder can be active afterwards."""
    (tmp_path / "file").write_text("")
    for place in (tmp_path / "file" / "events.db", tmp_path):
        with pytest.raises((LogNotMadeError, LogExistsError), match=str(place)), EventRecorder(path=place):
            pass
    assert EventRecorder.LIVE is None


def test_the_path_follows_from_the_session_id() -> None:
    """The published interface: a session's log can be found by its id."""
    assert EventRecorder.db_path("abc") == Path("runs/abc/events.db")
    with closing(EventRecorder("abc")) as recorder:
        assert recorder.path == Path("runs/abc/events.db")


def test_the_recorder_reports_its_own_health(tmp_path: Path) -> None:
    """The last row of an orderly log is the recorder's reading of itself."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path):
        for at_ns in range(100):
            EventRecorder.record_event(EventType.FIRST_CHUNK, at_ns, "a")
    connection = sqlite3.connect(path)
    code, data = connection.execute("SELECT code, data FROM events ORDER BY seq DESC LIMIT 1").fetchone()
    connection.close()
    assert code == EventType.TELEMETRY
    assert '"source":"recorder"' in data
    assert '"events":100' in data
    assert '"lost":0' in data


def test_a_log_that_cannot_be_written_any_more_says_so(tmp_path: Path) -> None:
    """What was committed stays, the failure is handed on once, and what comes later counts as lost."""
    path = tmp_path / "events.db"
    failures: list[WriterError] = []
    recorder = EventRecorder(path=path, on_failure=failures.append)
    recorder.__enter__()
    EventRecorder.record_event(EventType.TEST_STARTED, 1)
    recorder.wait_for_writes()
    blocker = sqlite3.connect(path, isolation_level=None)
    blocker.execute("DROP TABLE events")
    EventRecorder.record_event(EventType.FIRST_CHUNK, 2, "a")
    with pytest.raises(WriterError, match="cannot be written"):
        recorder.wait_for_writes()
    EventRecorder.record_event(EventType.FIRST_CHUNK, 3, "a")
    with pytest.raises(WriterError):
        recorder.close()
    blocker.close()
    assert len(failures) == 1
    assert recorder.health.lost == 2
    assert EventRecorder.LIVE is None


def test_an_event_that_no_log_can_hold(tmp_path: Path) -> None:
    """Whatever goes wrong on the writer's thread, the caller learns of it."""
    recorder = EventRecorder(path=tmp_path / "events.db")
    recorder.__enter__()
    recorder.put(Event(EventType.TEST_STARTED, 2**70))
    with pytest.raises(WriterError, match="too large"):
        recorder.wait_for_writes()
    with pytest.raises(WriterError, match="too large"):
        recorder.close()
    assert recorder.health.lost == 1


def test_settings_that_no_log_can_hold(tmp_path: Path) -> None:
    """A mistake in the session row is an error at once, not a recorder that records nothing."""
    with pytest.raises(TypeError), EventRecorder(path=tmp_path / "events.db", settings={"x": object()}):
        pass
    assert EventRecorder.LIVE is None


def test_record_event_does_not_wait_for_a_writer_that_is_held_up(tmp_path: Path) -> None:
    """While another connection holds the write lock, recording goes on; nothing is lost afterwards."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path) as recorder:
        recorder.wait_for_writes()
        blocker = sqlite3.connect(path, isolation_level=None)
        blocker.execute("BEGIN IMMEDIATE")
        for at_ns in range(10_000):
            EventRecorder.record_event(EventType.FIRST_CHUNK, at_ns, "a")
        assert rows(path) == []
        blocker.execute("ROLLBACK")
        blocker.close()
        recorder.wait_for_writes()
        assert len(rows(path)) == 10_000
    assert recorder.health.high_water >= 10_000 - COMMIT_EVENTS
    assert recorder.health.lost == 0


def test_closing_twice_is_harmless(tmp_path: Path) -> None:
    """The second close finds nothing to do."""
    with EventRecorder(path=tmp_path / "events.db") as recorder:
        recorder.close()
        recorder.close()
    assert not any(thread.name == "event-writer" for thread in threading.enumerate())


def test_the_session_row_anchors_monotonic_time_to_wall_time(tmp_path: Path) -> None:
    """Both clocks of the session row were read at the same moment."""
    path = tmp_path / "events.db"
    with EventRecorder("named", path=path, settings={"model": "m"}, environment={"host": "h"}):
        pass
    connection = sqlite3.connect(path)
    name, mono_ns, wall_ns, settings, environment = connection.execute("SELECT * FROM session").fetchone()
    connection.close()
    assert (name, settings, environment) == ("named", '{"model":"m"}', '{"host":"h"}')
    now_offset = time.time_ns() - time.monotonic_ns()
    assert abs((wall_ns - mono_ns) - now_offset) < 1_000_000_000


def test_putting_an_event_runs_one_function(tmp_path: Path) -> None:
    """It happens on the event loop, for every event: all else is the interpreter's own."""
    recorder, event = EventRecorder(path=tmp_path / "events.db"), Event(EventType.TEST_STARTED, 1)
    called: list[str] = []

    def note(frame: object, kind: str, _: object) -> None:
        if kind == "call":
            called.append(frame.f_code.co_name)  # type: ignore[attr-defined]  # of a frame

    sys.setprofile(note)
    try:
        recorder.put(event)
    finally:
        sys.setprofile(None)
    assert called == ["put"]
    assert recorder.waiting == 1
    recorder.close()


def test_a_log_that_cannot_be_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is recorded then, and nothing is held."""
    path = tmp_path / "run" / "events.db"

    def refuse(_: Presence) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Presence, "require", refuse)
    with pytest.raises(PermissionError), EventRecorder(path=path):
        pass
    assert not is_held(path.parent)
    assert [file.name for file in path.parent.iterdir()] == ["events.db"]
    assert EventRecorder.LIVE is None


def test_nothing_is_recorded_after_the_end_was_asked_for(tmp_path: Path) -> None:
    """The caller learns of it, rather than that the event is in no log; what came before is written."""
    path = tmp_path / "events.db"
    with EventRecorder(path=path) as recorder:
        EventRecorder.record_event(EventType.TEST_STARTED, 1)
        recorder.finish()
        assert not EventRecorder.record_event(EventType.TEST_ENDED, 2, assert_active=False)
        with pytest.raises(NotRecordingError):
            EventRecorder.record_event(EventType.TEST_ENDED, 2)
    assert rows(path) == [(EventType.TEST_STARTED, 1, None, None)]


def test_who_was_about_to_record_at_the_end_is_recorded(tmp_path: Path) -> None:
    """Also behind as many events as are committed at once."""
    path = tmp_path / "events.db"
    recorder = EventRecorder(path=path)
    for at_ns in range(COMMIT_EVENTS - 1):
        recorder.put(Event(EventType.FIRST_CHUNK, at_ns, "a"))
    recorder.finish()
    for at_ns in range(COMMIT_EVENTS):
        recorder.put(Event(EventType.FIRST_CHUNK, at_ns, "b"))
    with recorder:
        pass
    assert len(rows(path)) == 2 * COMMIT_EVENTS - 1
