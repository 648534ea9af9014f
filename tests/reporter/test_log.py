"""The bridge from the log to DuckDB: what it carries over, and in what state a log may be."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from array import array
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.errors import LogError, NewerLogError, NotALogError
from recorder.session import Session
from recorder.store import Store
from reporter.log.all_events import rows
from reporter.log.database import open_log
from reporter.log.settings import head
from reporter.log.sqlite_log import reading, streamed
from reporter.log.tables import BIG_TABLES, big_tables_in
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

KILLED = """
import os, sys
from pathlib import Path
from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store
store = Store.create(Path(sys.argv[1]), Session())
store.append([schema.row(Event(EventType.LOADGEN_ISSUE_CALLED, 1, "a", {"phase": "performance"}))])
print("written", flush=True)
sys.stdin.read()
os._exit(9)
"""
"""A writer that commits one event, waits for the end of its input, and dies without closing the log."""

APPENDS = """
import os, sqlite3, sys
log = sqlite3.connect(sys.argv[1], isolation_level=None)
log.execute("PRAGMA journal_mode = WAL")
log.execute("INSERT INTO events (code, at_ns, sample_uuid) VALUES (22, 1, 'b')")
os._exit(9)
"""
"""A writer that appends one event to a log and dies without closing it."""

AS_NOBODY = """
import os, sys
from pathlib import Path
import pyarrow  # a log that may grow is read with it
from reporter.log.database import open_log
ask = lambda run: open_log(Path(run)).execute("SELECT count(*) FROM requests").fetchone()[0]
ask(sys.argv[1])  # imports everything while it may
if os.getuid() == 0:
    os.setuid(65534)
assert not os.access(sys.argv[2], os.W_OK)
print(ask(sys.argv[2]))
"""
"""Counts the requests of a run in a folder that this process may not write to."""


def ask(run: Path, query: str, *also: str) -> list[tuple[Any, ...]]:
    """The rows that a query has over a run."""
    with open_log(run, also) as connection:
        return connection.execute(query).fetchall()


def log_of(folder: Path, *events: Event) -> Path:
    """A closed log of these events."""
    store = Store.create(folder / "events.db", Session())
    store.append([schema.row(event) for event in events])
    store.close()
    return folder


# What is carried over…


def test_every_table_and_view_is_there_for_a_log_without_events(tmp_path: Path) -> None:
    """An empty log opens; everything is empty but the session and its one segment, which was cut off."""
    with open_log(log_of(tmp_path), BIG_TABLES) as connection:
        tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
        views = connection.execute("SELECT view_name FROM duckdb_views() WHERE NOT internal").fetchall()
        sizes = {name: len(connection.execute(f'FROM "{name}"').fetchall()) for (name,) in tables + views}
        for name in (
            "session",
            "bare",
            "clocks",
            "extent",
            "segment_ends",
            "segments",
            "sittings",
            "windows",
            "measured_window",
        ):
            assert sizes.pop(name) == 1
        assert set(sizes.values()) == {0}
        assert connection.execute("SELECT ended FROM session").fetchall() == [("cut_off",)]


@pytest.mark.parametrize("data", [None, {}, {"reason": None}, {"reason": ""}])
def test_an_end_without_a_reason_is_an_end(a_run: Callable[..., Run], data: dict[str, Any] | None) -> None:
    """A session whose TEST_ENDED names no reason completed: only a log without that event was cut off."""
    run = a_run().answers(10, 20, at_ms=0, complete=30, usage=(2, 2)).stops(40)
    run.events.append(Event(EventType.TEST_ENDED, ns(50), None, data))
    assert ask(run.write(), "SELECT ended FROM session") == [("completed",)]


def test_the_last_end_of_a_session_decides(a_run: Callable[..., Run]) -> None:
    """Not the first by the alphabet."""
    run = a_run().answers(10, 20, at_ms=0, complete=30, usage=(2, 2)).stops(40)
    folder = run.ends(50, "completed").ends(60, "interrupted").write()
    assert ask(folder, "SELECT ended FROM session") == [("interrupted",)]


def test_integers_beyond_floats_survive(a_run: Callable[..., Run]) -> None:
    """Stamps and numbers of more than 53 bits are the same in SQL as they were in Python."""
    run = a_run().answers(1.000001, at_ms=0.000003, bytes=2**62 + 1)
    ((issued, first, bytes_),) = ask(run.write(), "SELECT issued_ns, first_token_ns, bytes FROM samples")
    assert (issued, first) == (5_000_000_000_000_000_003, 5_000_000_000_001_000_001)
    assert bytes_ == 2**62 + 1


def test_null_and_missing_are_null(a_run: Callable[..., Run]) -> None:
    """JSON's null and a key that is not there are both SQL's NULL, in every row of a column."""
    run = a_run().answers(1, finish_reason=None).answers(1, usage=(None, 5))
    rows = ask(
        run.write(), "SELECT finish_reason, input_tokens, connect_ms FROM samples ORDER BY sample_uuid"
    )
    assert rows == [(None, None, None), ("stop", None, None)]


@pytest.mark.slow
def test_a_column_may_begin_with_nulls(tmp_path: Path) -> None:
    """Thousands of rows without a payload do not decide what type the payload of later ones has."""
    silent = [Event(EventType.FIRST_CHUNK, n, f"r{n}") for n in range(20_000)]
    telling = Event(
        EventType.ERROR, 7, "r7", {"error": "reset", "chunk_gaps_us": array("I", [5, 6]).tobytes()}
    )
    with open_log(log_of(tmp_path, *silent, telling), ("events",)) as connection:
        assert connection.execute(
            "SELECT sample_uuid, error FROM samples WHERE error IS NOT NULL"
        ).fetchall() == [("r7", "reset")]
        assert connection.execute("SELECT count(*) FROM events WHERE data IS NULL").fetchall() == [(20_000,)]
        assert connection.execute("SELECT chunk_gaps_us FROM requests WHERE ends > 0").fetchall() == [
            ([5, 6],)
        ]


@pytest.mark.slow
def test_gaps_are_lists_across_batches(tmp_path: Path) -> None:
    """Blobs of any length, none and empty ones too, become the lists that they were, in any batch."""
    lists = [list(range(n % 7)) for n in range(40_000)]
    ends = [
        Event(EventType.COMPLETE, n, f"{n:05}", {"chunk_gaps_us": array("I", gaps).tobytes()} if gaps else {})
        for n, gaps in enumerate(lists)
    ]
    rows = ask(log_of(tmp_path, *ends), "SELECT chunk_gaps_us FROM requests ORDER BY sample_uuid")
    assert [gaps for (gaps,) in rows] == lists


def test_a_torn_blob_of_gaps_is_left_out(tmp_path: Path) -> None:
    """Bytes that are not whole numbers do not shift those of other requests."""
    torn = Event(EventType.COMPLETE, 1, "a", {"chunk_gaps_us": b"\1\0\0\0\2"})
    whole = Event(EventType.COMPLETE, 2, "b", {"chunk_gaps_us": b"\1\0\0\0"})
    rows = ask(log_of(tmp_path, torn, whole), "SELECT chunk_gaps_us FROM requests ORDER BY sample_uuid")
    assert rows == [([],), ([1],)]


TEXTS = ("", "nul \0 inside", "naïve 🙂 \u2028 \x1b[31m", '"quoted" \\ back', "x" * 100_000)


def test_texts_survive(a_run: Callable[..., Run]) -> None:
    """An output is in SQL what the server sent, whatever is in it."""
    run = a_run()
    for text in TEXTS:
        run.answers(1, texts={"output": text, "reasoning": None, "tool_calls": None})
    assert ask(run.write(), "FROM outputs ORDER BY sample_uuid", "outputs") == [
        (f"request {number}", text, None, None, None) for number, text in enumerate(TEXTS, start=1)
    ]


def test_any_text_names_a_request(a_run: Callable[..., Run]) -> None:
    """Ids are text, not numbers and not hexadecimal."""
    run, uuids = a_run(), {"0", "not hex", "ab" * 100, "é 🙂", "x'y\"z"}
    for uuid in uuids:
        run.answers(1, 2, uuid=uuid)
    answer = ask(run.write(), "SELECT sample_uuid, status FROM samples")
    assert sorted(answer) == sorted((uuid, "completed") for uuid in uuids)


def test_a_prompt_is_its_text(a_run: Callable[..., Run]) -> None:
    """Of a chat the prompt is what its messages say, of a completion the prompt itself."""
    chat = {"messages": [{"role": "system", "content": "be brief"}, {"role": "user", "content": "why?"}]}
    run = a_run().issues(prompt=chat).issues(prompt={"prompt": "once upon"}).issues()
    rows = ask(run.write(), "SELECT prompt_id, prompt FROM prompts ORDER BY prompt_id", "prompts")
    assert rows == [(1, "be brief\nwhy?"), (2, "once upon")]


def test_chunks_are_where_they_arrived(a_run: Callable[..., Run]) -> None:
    """The view of chunks has each arrival and the gap to the one before."""
    run = a_run().answers(50, 60.5, 60.5, 100)
    assert ask(run.write(), "SELECT chunk_index, at_ns - 5e18::BIGINT, gap_ms FROM chunks ORDER BY ALL") == [
        (0, 50_000_000, None),
        (1, 60_500_000, 10.5),
        (2, 60_500_000, 0.0),
        (3, 100_000_000, 39.5),
    ]


def test_the_first_token_of_a_request_without_an_end(a_run: Callable[..., Run]) -> None:
    """What is in flight when a run is cut off has its first token all the same."""
    run = a_run().issues().happens(EventType.FIRST_CHUNK, 7)
    assert ask(run.write(), "SELECT status, ttft_ms FROM samples") == [("in_flight", 7.0)]


def test_a_request_has_one_output(a_run: Callable[..., Run]) -> None:
    """Of a request that ended twice there is one output, that of the end which counts."""
    run = a_run().answers(5, complete=20, texts={"output": "late"})
    run.happens(EventType.ERROR, 9, error="reset", texts={"output": "early"})
    assert ask(run.write(), "SELECT output FROM outputs", "outputs") == [("early",)]


def test_wall_time_is_anchored_by_the_session(a_run: Callable[..., Run]) -> None:
    """A moment of the monotonic clock has its time of day, in UTC."""
    (moment,) = ask(
        a_run().ends(1500).write(), "SELECT at_utc::VARCHAR FROM events WHERE type = 'TEST_ENDED'", "events"
    )
    assert moment == ("2026-01-02 03:04:07.178901",)


def test_big_tables_are_found_in_a_query() -> None:
    """Those are loaded that a query names, in whatever case, and no others."""
    assert big_tables_in("select * from Samples join OUTPUTS using (sample_uuid)") == {"outputs"}
    assert big_tables_in("FROM samples") == set()


# What state a log may be in…


@pytest.fixture
def writer(tmp_path: Path) -> subprocess.Popen[str]:
    """Another process that has a log open and has committed one event to it."""
    log = tmp_path / "run" / "events.db"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(log)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "written\n"
    return process


def test_a_log_that_is_being_written_can_be_read(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    """What is committed is there while the writer goes on."""
    with writer:
        assert ask(tmp_path / "run", "SELECT sample_uuid, status FROM samples") == [("a", "in_flight")]
        assert writer.poll() is None


def test_a_growing_log_is_read_as_of_one_moment(tmp_path: Path) -> None:
    """What is committed while a log is being loaded is not half in it."""
    log = log_of(tmp_path, Event(EventType.FIRST_CHUNK, 1, "a")) / "events.db"
    append = [sys.executable, "-c", APPENDS, str(log)]
    assert subprocess.run(append, check=False).returncode == 9
    counts = []
    with reading(log, f"{log.as_uri()}?mode=ro") as source:
        for _ in range(2):
            with streamed(source, "SELECT count(*) AS n FROM events") as stream:
                counts += stream.read_all()["n"].to_pylist()
            assert subprocess.run(append, check=False).returncode == 9
    assert counts == [2, 2]
    assert len(list(rows(tmp_path))) == 4


def test_a_reader_waits_for_a_writer_that_has_the_log_locked(tmp_path: Path) -> None:
    """As a log is while its journal mode changes, when it begins and ends; SQLite's own default is not to."""
    log = tmp_path / "events.db"
    Store.create(log, Session()).close()
    with (
        reading(log, f"{log.as_uri()}?mode=ro") as source,
        streamed(source, "PRAGMA busy_timeout") as stream,
    ):
        assert stream.read_all().to_pylist() == [{"timeout": 30_000}]


def test_a_killed_log_can_be_read(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    """What was committed before a kill is there, though it was not folded into the file."""
    with writer:
        pass
    assert (tmp_path / "run" / "events.db-wal").stat().st_size
    assert ask(tmp_path / "run", "SELECT sample_uuid, status FROM samples") == [("a", "in_flight")]


def test_a_killed_log_can_be_read_through_a_link(tmp_path: Path, writer: subprocess.Popen[str]) -> None:
    """The write-ahead file is looked for next to the log, not next to a link to it."""
    with writer:
        pass
    (tmp_path / "link.db").symlink_to(tmp_path / "run" / "events.db")
    assert ask(tmp_path / "link.db", "SELECT sample_uuid FROM samples") == [("a",)]


@pytest.mark.slow
@pytest.mark.parametrize("killed", [False, True])
def test_a_folder_that_cannot_be_written_to_can_be_read(
    tmp_path: Path, writer: subprocess.Popen[str], *, killed: bool
) -> None:
    """A run on a read-only disk opens, one that was killed too."""
    with writer:
        pass
    issued = Event(EventType.LOADGEN_ISSUE_CALLED, 1, "a", {"phase": "performance"})
    run = tmp_path / "run" if killed else log_of(tmp_path / "closed", issued)
    with TemporaryDirectory() as folder:
        frozen = shutil.copytree(run, Path(folder) / "frozen")
        Path(folder).chmod(0o755)
        frozen.chmod(0o555)
        counted = subprocess.run(
            [sys.executable, "-c", AS_NOBODY, str(run), str(frozen)],
            check=True,
            capture_output=True,
            text=True,
        )
        frozen.chmod(0o755)
    assert counted.stdout == "1\n"


def test_a_missing_log(tmp_path: Path) -> None:
    """A folder without a log, and a path without anything, are named."""
    for run in (tmp_path, tmp_path / "none"):
        with pytest.raises(NotALogError, match=r"it has no events\.db|no run folder has this name"):
            open_log(run)


def test_not_a_log(tmp_path: Path) -> None:
    """A file that is not SQLite, and another SQLite file, have their own messages."""
    (tmp_path / "text").write_text("hello\n" * 1000)
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE events (seq INTEGER)")
    with pytest.raises(NotALogError, match="not a SQLite file"):
        open_log(tmp_path / "text")
    with pytest.raises(NotALogError, match="not a log of this program"):
        open_log(tmp_path / "other.db")


def test_a_newer_log(tmp_path: Path) -> None:
    """A log of a later format is refused with both versions, not misread."""
    log = log_of(tmp_path) / "events.db"
    with closing(sqlite3.connect(log)) as connection:
        connection.execute(f"PRAGMA user_version = {schema.VERSION + 1}")
    with pytest.raises(NewerLogError, match=f"log format {schema.VERSION + 1}, .* up to {schema.VERSION}"):
        open_log(tmp_path)


def test_a_damaged_log(tmp_path: Path) -> None:
    """Pages of noise in the middle of the file are reported as damage, in each way of reading the log."""
    events = [Event(EventType.ERROR, n, f"r{n}", {"message": "x" * 100}) for n in range(10_000)]
    log = log_of(tmp_path, *events) / "events.db"
    content = bytearray(log.read_bytes())
    content[200_000:400_000] = os.urandom(200_000)
    log.write_bytes(content)
    with pytest.raises(LogError, match="the log is damaged"):
        open_log(log)
    with pytest.raises(LogError, match="the log is damaged"):
        list(rows(log))


@pytest.mark.parametrize("value", ["", "soon", 1.5, b"soon"])
def test_a_start_that_is_not_a_number(tmp_path: Path, value: Any) -> None:
    """The log is damaged, both where its head is read and where the run is resumed."""
    log = log_of(tmp_path) / "events.db"
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE session SET started_wall_ns = ?", [value])
        connection.execute("UPDATE sittings SET started_wall_ns = ?", [value])
    with pytest.raises(LogError, match="the log is damaged: no start time"):
        head(log)
    with pytest.raises(NotALogError, match="the log is damaged: no start time"):
        reopen(log, Session())


@pytest.mark.parametrize("column", ["started_at_ns", "shift_ns"])
def test_a_time_of_a_segment_that_is_not_a_number(tmp_path: Path, column: str) -> None:
    """The tables that are computed from others name the log, too."""
    log = log_of(tmp_path) / "events.db"
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute(f"UPDATE sittings SET {column} = 'soon'")  # noqa: S608 (a name from above)
    with pytest.raises(LogError, match="the log is damaged"):
        open_log(log)


def test_a_payload_that_is_not_json(tmp_path: Path) -> None:
    """A payload that was tampered with is reported as damage."""
    log = log_of(tmp_path, Event(EventType.ERROR, 1, "a", {"error": "reset"})) / "events.db"
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE events SET data = '{error'")
    with pytest.raises(LogError, match=r"the log is damaged .*Malformed JSON"):
        open_log(log)


@pytest.mark.parametrize("stored", [b'{"error": "\xd0"}', b"\xd0", b'{"\xff": 1}', b'{"error"\xd0 1}'])
def test_a_payload_that_is_not_utf8(tmp_path: Path, stored: bytes) -> None:
    """It is reported as damage too, although the library's error may quote it."""
    log = log_of(tmp_path, Event(EventType.ERROR, 1, "a", {"error": "reset"})) / "events.db"
    with closing(sqlite3.connect(log)) as connection, connection:
        connection.execute("UPDATE events SET data = CAST(? AS TEXT)", [stored])
    with pytest.raises(LogError, match="the log is damaged"):
        open_log(log)


@pytest.mark.slow
def test_a_log_larger_than_memory_uses_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log that is bigger than the memory it is given opens, and leaves no temporary files behind."""
    monkeypatch.setattr("reporter.log.database_in_memory.MOST_MEMORY", 100_000_000)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    gaps = array("I", range(500)).tobytes()
    ends = [Event(EventType.COMPLETE, n, f"r{n}", {"chunk_gaps_us": gaps}) for n in range(40_000)]
    run = log_of(tmp_path / "run", *ends)
    with open_log(run) as connection:
        chunks = connection.execute("SELECT sum(len(chunk_gaps_us)) FROM requests").fetchall()
        assert chunks == [(20_000_000,)]
        assert list(tmp_path.glob("loadgen-*"))
    assert not list(tmp_path.glob("loadgen-*"))
