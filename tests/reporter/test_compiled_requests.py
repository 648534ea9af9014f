"""Requests joined by compiled code: the table is that of the SQL, which joins what is odd itself.

Of logs, and of their archives, in which events are in another order.
"""

from __future__ import annotations

import re
import sqlite3
import threading
from contextlib import closing
from itertools import chain, takewhile
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.errors import LogError
from recorder.session import Session
from reporter.archive import write
from reporter.archive.write import archive
from reporter.log import requests_table, tables
from reporter.log.one_log import EventsFile, LoggedSpan
from reporter.log.opened import opened
from reporter.log.sql_files import sql_file
from reporter.log.tables import TABLES, load
from tests.reporter.conftest import BASE_NS, WALL_NS
from tests.reporter.sharding import sharded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from pathlib import Path

    from tests.reporter.conftest import Run

pytestmark = pytest.mark.skipif(
    not requests_table.COMPILED, reason="needs the compiled code: a C compiler at installation"
)


UNTIL_SETTLED = dict(takewhile(lambda table: table[0] != "windows", TABLES.items()))
"""The tables until `requests` is complete."""
UNTIL_REQUESTS = dict(takewhile(lambda table: table[0] != "requests", TABLES.items()))


@pytest.fixture(params=["log", "archive", "archive in parts"])
def stored(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[Path], Path]:
    """Where a run is read from: its logs, or its archive, which has one part of a log or several."""

    def place(run: Path) -> Path:
        if request.param == "log":
            return run
        if request.param == "archive in parts":
            monkeypatch.setattr(write, "PART_EVENTS", 7)
        archive(run, tmp_path / "archive", "1.0")
        return tmp_path / "archive"

    return place


def tables_of(run: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Types of columns and rows of the table as compiled code joins it, and as SQL does; columns by name."""
    tables = []
    for compiled in (True, False):
        monkeypatch.setattr(requests_table, "COMPILED", compiled)
        with duckdb.connect() as connection:
            connection.execute("SET VARIABLE unended = 'cut_off'")
            load(connection, run, UNTIL_SETTLED)
            requests = connection.table("requests").order("sample_uuid")
            by_name = requests.project(", ".join(sorted(requests.columns)))
            tables.append((by_name.types, by_name.fetchall()))
    return tables


def is_joined(run: Path) -> bool:
    """Whether compiled code joins the events of a log."""
    with duckdb.connect() as connection:
        connection.execute("SET VARIABLE unended = 'cut_off'")
        load(connection, run, UNTIL_REQUESTS)
        with opened(run) as log:
            requests = requests_table.compiled_requests(log)
            assert requests is not None
            return requests.are_joined(connection)


def varied(a_run: Callable[..., Run]) -> Run:
    """Requests of many kinds: retried, sent again, failed, in flight, with texts in their payloads."""
    run = a_run()
    run.answers(50, 60, 70, usage=(10, 3), first_chunk=["content", {"x": [1, None, True]}], cached_tokens=0)
    about = {
        "tags": {"class": "é \U0001f600", "n": 3},
        "conversation": 'a "quoted"\n\\text\x1b\x7f',
        "turn": 0,
    }
    run.answers(80, at_ms=10, issue={"about": about, "connect_ms": 0.1234567890123, "reused": False})
    run.answers(90, late_chunks=[0, 1, 250], first_token_low_ns=BASE_NS + 5, issue={"reused": True})
    run.issues(20).happens(EventType.RETRY, 25, attempt=1, error="http_500")
    run.happens(EventType.REQUEST_SENT, 30, sent_high_ns=BASE_NS + 31_000_000, retried=True)
    run.happens(EventType.FIRST_CHUNK, 40).happens(EventType.COMPLETE, 50, status=200, stream=True)
    run.fails("http_429", at_ms=30, failed=35, status=429, unknown={"deep": [[1.5e-7, -0.0], "\\u00e9"]})
    run.issues(40).happens(EventType.CANCELLED, 45, reason="drain")
    run.issues(50, sent=-1)
    run.happens(EventType.ERROR, 60, "never issued", error="client_bug")
    return run.issues(60).happens(EventType.FIRST_CHUNK, 70).ends()


def test_the_table_is_that_of_the_sql(
    a_run: Callable[..., Run], stored: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Value for value, type for type."""
    run = stored(varied(a_run).write())
    assert is_joined(run)
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql
    assert len(by_code[1]) == 9


def test_columns_with_one_value_are_left_to_a_view(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of many requests stores no column of one value."""
    reads_as_many(monkeypatch)
    for run in (varied(a_run).write(), a_run().answers(50, 60).ends().write()):
        by_code, by_sql = tables_of(run, monkeypatch)
        assert by_code == by_sql
    with duckdb.connect() as connection:
        monkeypatch.setattr(requests_table, "COMPILED", True)
        load(connection, run, TABLES)
        stored = connection.table("requests_but_constants").columns
        assert not {"trace_id", "choices", "first_token_low_ns", "conversation_id", "status"}.intersection(
            stored
        )


def reads_as_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table be made before the reader is done."""
    constants = requests_table._compiled.constants

    def constants_of_many(reader: object) -> tuple[bool, dict[str, object]] | None:
        learnt = constants(reader)
        return learnt and (False, learnt[1])

    monkeypatch.setattr(requests_table._compiled, "constants", constants_of_many)


@pytest.mark.parametrize("about", ["imported", "without phases", "a conversation"])
def test_columns_with_one_value_that_are_settled(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, about: str
) -> None:
    """The view has the values that `settled.sql` gives them."""
    reads_as_many(monkeypatch)
    run = a_run()
    run.settings |= {"imported": {"format": "x"}} if about == "imported" else {}
    issue = {"about": {"conversation": "one", "turn": 0, "turns": 2}} if about == "a conversation" else {}
    path = run.answers(50, 60, issue=issue).answers(70, issue=issue).ends().write()
    if about == "without phases":
        with closing(sqlite3.connect(path / "events.db")) as log, log:
            log.execute("DELETE FROM events WHERE code = 21")
            log.execute(
                """UPDATE events SET data = replace(data, '"phase":"performance",', '') WHERE code = 20"""
            )
    by_code, by_sql = tables_of(path, monkeypatch)
    assert by_code == by_sql
    with duckdb.connect() as connection:
        monkeypatch.setattr(requests_table, "COMPILED", True)
        load(connection, path, TABLES)
        ((settled, measured, attempts),) = connection.execute(
            "SELECT bool_and(settled), bool_and(measured), max(attempts) FROM requests"
        ).fetchall()
    assert (settled, measured, attempts) == (
        about != "a conversation",
        True,
        None if about == "imported" else 1,
    )


@pytest.mark.parametrize("longest_ms", [9, 4000, 5000])
def test_times_between_chunks_are_counted_while_they_are_read(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, longest_ms: int
) -> None:
    """Compiled code counts the gaps of completed requests of the performance phase; SQL counts long ones."""
    reads_as_many(monkeypatch)
    monkeypatch.setattr(requests_table, "LONG_BYTES", 0)
    run = a_run().answers(50, 60, issue={"phase": "warmup"}).answers(50, kind=EventType.CANCELLED)
    run.answers(50, 50.5, kind=EventType.ERROR).answers(50).answers()
    for place in range(100):
        run.answers(50, 50 + place % 7, 100 + longest_ms, issue={"about": {"tags": {"long": "x" * 100}}})
    path = run.ends().write()
    with duckdb.connect() as connection:
        connection.execute("SET VARIABLE unended = 'cut_off'")
        load(connection, path, TABLES)
        rows = connection.execute("SELECT * FROM gap_counts ORDER BY value").fetchall()
        is_counted = "counted_gaps" in {name for (name,) in connection.execute("SHOW TABLES").fetchall()}
        connection.execute(sql_file("gap_counts").replace("IF NOT EXISTS gap_counts", "by_sql"))
        assert rows == connection.execute("SELECT * FROM by_sql ORDER BY value").fetchall()
    assert is_counted == (longest_ms < 4200)
    assert sum(weight for _, weight in rows) == 200


class _LearntInParts:
    """The compiled module, with a log so long that some columns get a second value late."""

    def __init__(self, module: Any, at_once: int) -> None:
        self._module, self._at_once = module, at_once
        self._position, self._columns = 0, dict[str, list[Any]]()

    def read(self, files: Sequence[EventsFile], *options: Any) -> object:
        reader = self._module.read(files, *options)
        stream = SimpleNamespace(__arrow_c_stream__=lambda _: self._module.stream(reader))
        self._table = pa.RecordBatchReader.from_stream(stream).read_all()
        scalars = [field.name for field in self._table.schema if not pa.types.is_nested(field.type)]
        self._columns = self._table.select(scalars).to_pydict()
        return reader

    def constants(self, _: object) -> tuple[bool, dict[str, Any]] | None:
        if self._position == self._table.num_rows:
            return None
        end = self._position + self._at_once
        self._values = {
            name: values[0] for name, values in self._columns.items() if {*values[:end]} == {values[0]}
        }
        return False, self._values

    def stream(self, _: object) -> Any:
        return pa.RecordBatchReader.from_batches(self._table.schema, self._rows()).__arrow_c_stream__()

    def _rows(self) -> Iterator[pa.RecordBatch]:
        while self._position < self._table.num_rows:
            place = self._position
            if any(self._columns[name][place] != value for name, value in self._values.items()):
                return
            self._position += 1
            yield from self._table.slice(place, 1).to_batches()

    def noted(self, _: object) -> None:
        return None

    def gaps(self, _: object) -> None:
        return None


@pytest.mark.parametrize("at_once", [1, 2, 5])
def test_columns_that_get_a_second_value_late(
    a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    """The columns are added to the table, with the former value in the rows before."""
    run = varied(a_run).write()
    monkeypatch.setattr(requests_table, "_compiled", _LearntInParts(requests_table._compiled, at_once))
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql


@pytest.mark.slow
def test_shards_are_on_one_clock(
    a_run: Callable[..., Run], stored: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also the times within payloads; each request is of the node whose log has it."""
    clocks = {"node-0": 0, "node-1": 7_000_000_000}
    run = stored(sharded(varied(a_run), clocks, lambda uuid: f"node-{len(uuid) % 2}"))
    assert is_joined(run)
    by_code, by_sql = tables_of(run, monkeypatch)
    assert by_code == by_sql


@pytest.mark.slow
@pytest.mark.parametrize("aside", [False, True])
def test_segments_are_on_one_clock(
    a_run: Callable[..., Run], stored: Callable[[Path], Path], monkeypatch: pytest.MonkeyPatch, *, aside: bool
) -> None:
    """The clock began again with the machine before the second one; what a judge was asked is left out."""
    run = varied(a_run).write()
    environment = {"kind": "scoring"} if aside else {}
    store = reopen(run / "events.db", Session("", 1000, WALL_NS + 10**12, {}, environment, "another boot"))
    issue = {"scheduled_ns": 1500, "phase": "performance"}
    later = [
        Event(EventType.LOADGEN_ISSUE_CALLED, 2000, "later", issue),
        Event(EventType.REQUEST_SENT, 3000, "later", {"sent_high_ns": 3100}),
        Event(EventType.COMPLETE, 9000, "later", {"first_byte_ns": 8000, "last_token_ns": 8500}),
    ]
    store.append([schema.row(event) for event in later])
    store.close()
    place = stored(run)
    assert is_joined(place)
    by_code, by_sql = tables_of(place, monkeypatch)
    assert by_code == by_sql
    assert len(by_code[1]) == 9 + (not aside)


@pytest.mark.slow
@pytest.mark.parametrize(
    "odd",
    [
        "UPDATE events SET code = 20 WHERE code = 22",  # issued twice
        "INSERT INTO events SELECT 99, 22, at_ns, sample_uuid, NULL, NULL, NULL FROM events WHERE code = 23",
        "UPDATE events SET data = replace(data, '\"chunks\":3', '\"chunks\":3.0')",
        'UPDATE events SET data = replace(data, \'"chunks":3\', \'"chunks":"3"\')',
        'UPDATE events SET data = replace(data, \'"chunks":3\', \'"chunks":3,"chunks":4\')',
        "UPDATE events SET data = replace(data, ':', ' : ')",
        "UPDATE events SET data = '[]' WHERE code = 20",
    ],
)
def test_sql_joins_what_is_odd(a_run: Callable[..., Run], stored: Callable[[Path], Path], odd: str) -> None:
    """The compiled code does not guess."""
    run = a_run().answers(50, 60, 70, usage=(10, 3)).ends().write()
    with closing(sqlite3.connect(run / "events.db")) as log:
        assert log.execute(odd).rowcount
        log.commit()
    assert not is_joined(stored(run))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "counted"),
    [(20, ["LOADGEN_ISSUE_CALLED"]), (21, ["REQUEST_SENT"]), (22, []), (23, ["COMPLETE"])],
)
def test_data_that_could_not_be_written_is_counted(
    a_run: Callable[..., Run],
    stored: Callable[[Path], Path],
    monkeypatch: pytest.MonkeyPatch,
    code: int,
    counted: list[str],
) -> None:
    """Compiled code gives up where it finds some: the scan for few events does not look for it."""
    run = a_run().answers(50, 60).answers(70, 80).ends().write()
    with closing(sqlite3.connect(run / "events.db")) as log:
        data = '{"encode_error":"not JSON"}'
        assert log.execute("UPDATE events SET data = ? WHERE code = ?", (data, code)).rowcount == 2
        log.commit()
    place = stored(run)
    assert is_joined(place) == (not counted)
    for compiled in (True, False):
        monkeypatch.setattr(requests_table, "COMPILED", compiled)
        with duckdb.connect() as connection:
            connection.execute("SET VARIABLE unended = 'cut_off'")
            load(connection, place, UNTIL_SETTLED)
            types = [type_ for (type_,) in connection.execute("FROM unencoded").fetchall()]
            assert types == counted * 2


def test_unread_requests_of_an_archive(a_run: Callable[..., Run], tmp_path: Path) -> None:
    """Threads that wait for the interpreter while it waits for their ends get it."""
    archive(varied(a_run).write(), tmp_path / "archive", "1.0")
    with opened(tmp_path / "archive") as log:
        for _ in range(200):
            assert requests_table.compiled_requests(log) is not None


def test_requests_are_closed_on_errors(a_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the error, which knows of them, is kept."""
    read = []

    def failing(*_: object) -> None:
        raise LogError

    class Watched(requests_table.CompiledRequests):
        def __init__(self, files: Sequence[EventsFile]) -> None:
            super().__init__(files)
            read.append(self)

    monkeypatch.setattr(requests_table, "CompiledRequests", Watched)
    monkeypatch.setattr(tables, "_make", failing)
    with duckdb.connect() as connection, pytest.raises(LogError):
        load(connection, varied(a_run).write(), TABLES)
    for requests in read:
        with pytest.raises(ValueError, match="PyCapsule"):
            requests.__arrow_c_stream__()


def test_closing_releases_what_is_read() -> None:
    """The reading thread is in the middle of it."""
    begun, closed = threading.Event(), threading.Event()

    def batches() -> Iterator[pa.RecordBatch]:
        try:
            begun.set()
            yield batch_of()
        finally:
            closed.set()

    reader = pa.RecordBatchReader.from_batches(batch_of().schema, batches())
    file = EventsFile("", 0, [], reader.__arrow_c_stream__())
    del reader
    requests = requests_table.CompiledRequests([file])
    del file
    begun.wait()
    requests.close()
    assert closed.is_set()


def test_an_archive_that_cannot_be_read_is_an_error(a_run: Callable[..., Run], tmp_path: Path) -> None:
    """The error is that of the SQL, which reads what compiled code could not."""
    archive(varied(a_run).write(), tmp_path / "archive", "1.0")
    (part,) = (tmp_path / "archive").glob("events/*/*.parquet")
    content = bytearray(part.read_bytes())
    content[4 : len(content) // 2] = bytes(len(content) // 2 - 4)
    part.write_bytes(content)
    with duckdb.connect() as connection, pytest.raises(LogError, match="archive"):
        load(connection, tmp_path / "archive", TABLES)


@pytest.mark.slow
@pytest.mark.parametrize("order", ["seq", "seq DESC", "data, seq"])
def test_a_part_in_another_order(
    a_run: Callable[..., Run], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, order: str
) -> None:
    """The order in which an archive is written makes reading fast, not right."""
    place = tmp_path / "archive"
    archive(varied(a_run).write(), place, "1.0")
    (part,) = place.glob("events/*/*.parquet")
    events = pq.ParquetFile(part).read()
    with duckdb.connect() as connection:
        events = connection.sql(f"FROM events ORDER BY {order}").to_arrow_table()
    pq.write_table(events, part)
    text = (place / "archive.json").read_text()
    size = re.search(r'"size":\s*(\d+)', text)
    assert size is not None
    (place / "archive.json").write_text(text.replace(size[0], f'"size":{part.stat().st_size}', 1))
    assert is_joined(place)
    by_code, by_sql = tables_of(place, monkeypatch)
    assert by_code == by_sql
    assert len(by_code[1]) == 9


_GAPS = pa.list_(pa.field("element", pa.uint32()))
_TYPES = {
    "seq": pa.int64(),
    "code": pa.int16(),
    "at_ns": pa.int64(),
    "request": pa.binary(),
    "request_name": pa.string(),
    "data": pa.string(),
    "chunk_gaps_us": _GAPS,
}
_ROWS = {
    "seq": [1, 2, 3, 4],
    "code": [20, 21, 23, 24],
    "at_ns": [10, 20, 30, 40],
    "request": [b"0123456789abcdef"] * 3 + [None],
    "request_name": [None] * 3 + ["a name"],
    "data": ['{"phase":"p"}', None, "{}", '{"error":"e"}'],
    "chunk_gaps_us": [None, None, [1, 2], []],
}


def batch_of(**changed: Any) -> pa.RecordBatch:
    """Two requests of an archive, of which some columns have other types or values."""
    columns = {}
    for name, values in {**_ROWS, **changed}.items():
        columns[name] = values if isinstance(values, pa.Array) else pa.array(values, _TYPES[name])
    return pa.record_batch(columns)


def read_of(batches: Iterable[pa.RecordBatch], schema: pa.Schema | None = None) -> list[dict[str, Any]]:
    """The requests that compiled code makes of batches."""
    reader = pa.RecordBatchReader.from_batches(schema or batch_of().schema, batches)
    file = EventsFile("", 0, [LoggedSpan(1, 0, 5, is_of_run=True)], reader.__arrow_c_stream__())
    requests = requests_table.CompiledRequests([file])
    rows: list[dict[str, Any]] = pa.RecordBatchReader.from_stream(requests).read_all().to_pylist()
    return rows


def test_batches_of_an_archive_are_read_where_they_begin() -> None:
    """Behind rows that are not theirs, with NULLs, and some without rows."""
    whole = read_of([batch_of()])
    assert [
        (row["sample_uuid"], row["issued_ns"], row["ended_ns"], row["chunk_gaps_us"]) for row in whole
    ] == [
        (b"0123456789abcdef".hex(), 15, 35, [1, 2]),
        ("a name", None, 45, []),
    ]
    twice = pa.concat_batches([batch_of(), batch_of()])
    none = batch_of().slice(4)
    assert read_of([none, twice.slice(4, 1), twice.slice(5), none, none]) == whole
    assert read_of([twice.slice(6), twice.slice(4, 2)]) == whole
    assert read_of([none]) == read_of([]) == []


@pytest.mark.parametrize(
    "changed",
    [
        {"code": pa.array([20, 21, 23, 24], pa.int64())},
        {"seq": pa.array([1, 2, 3, 4], pa.uint64())},
        {"at_ns": pa.array([1, 2, 3, 4], pa.int64()).dictionary_encode()},
        {"request": pa.array(_ROWS["request"], pa.large_binary())},
        {"request_name": pa.array(_ROWS["request_name"]).dictionary_encode()},
        {"data": pa.array(_ROWS["data"], pa.string_view())},
        {"chunk_gaps_us": pa.array(_ROWS["chunk_gaps_us"], pa.list_(pa.int32()))},
        {"chunk_gaps_us": pa.array(_ROWS["chunk_gaps_us"], pa.large_list(pa.uint32()))},
        {"more": pa.array([1, 2, 3, 4])},
        {"seq": [1, None, 3, 4]},
        {"code": [20, None, 23, 24]},
        {"at_ns": [1, 2, 3, None]},
        {"seq": [1, 2, 2, 4]},
        {"seq": [0, 2, 3, 4]},
        {"request": [b"0123456789abcde"] * 3 + [None]},
        {"chunk_gaps_us": [None, None, [1, None], []]},
    ],
)
def test_batches_of_other_types_are_refused(changed: dict[str, Any]) -> None:
    """So is what no recorder writes: NULLs, numbers twice or before the first segment, and shorter ids."""
    odd = batch_of(**changed)
    with pytest.raises(OSError, match="unusual events"):
        read_of([odd], odd.schema)


def test_a_stream_that_fails() -> None:
    """Requests of the batches before the failure are not a whole log."""

    def batches() -> Iterator[pa.RecordBatch]:
        yield batch_of()
        yield batch_of().slice(4)
        raise OSError

    with pytest.raises(OSError, match="unusual events"):
        read_of(batches())


def test_a_stream_is_read_once() -> None:
    """The reader releases it."""
    capsule = pa.RecordBatchReader.from_batches(batch_of().schema, []).__arrow_c_stream__()
    file = EventsFile("", 0, [], capsule)
    requests_table.CompiledRequests([file])
    with pytest.raises(ValueError, match="the stream has been read"):
        requests_table.CompiledRequests([file])


@st.composite
def interleaved(draw: st.DrawFn) -> list[tuple[int, int]]:
    """The requests and codes of the events of requests that run at once."""
    begin, middle, end = ([20, 21], [20], [21], []), ([22], [22, 26, 22], []), ([23], [24], [])
    codes = st.tuples(*map(st.sampled_from, (begin, middle, end))).map(chain.from_iterable)
    requests = draw(st.lists(codes.map(list), min_size=4, max_size=8))
    numbers = [number for number, codes in enumerate(requests) for _ in codes]
    return [(number, requests[number].pop(0)) for number in draw(st.permutations(numbers))]


@settings(max_examples=100)
@given(interleaved(), st.lists(st.tuples(st.integers(0, 7), st.integers(20, 26)), max_size=1))
def test_two_threads_read_halves_of_a_log(
    tmp_path_factory: pytest.TempPathFactory, events: list[tuple[int, int]], more: list[tuple[int, int]]
) -> None:
    """The requests are those that one thread reads, also those with events in both halves."""
    path = tmp_path_factory.mktemp("halves") / "events.db"
    rows = [
        (code, place, f"request {number}", f'{{"other":"{"x" * 400}"}}', bytes(4 * place))
        for place, (number, code) in enumerate([*events, *more])
    ]
    with closing(sqlite3.connect(path)) as log:
        log.execute("PRAGMA page_size = 1024")
        log.execute("CREATE TABLE events (seq INTEGER PRIMARY KEY, code, at_ns, uuid, data, texts, gaps)")
        log.executemany("INSERT INTO events VALUES (NULL, ?, ?, ?, ?, NULL, ?)", rows)
        log.commit()
        ((root,),) = log.execute("SELECT rootpage FROM sqlite_master").fetchall()
    file = EventsFile(str(path), root, [LoggedSpan(1, 5, 7, is_of_run=True)])
    whole = _joined([file])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(requests_table, "LONG_BYTES", 0)
        halves = _joined([file])
    is_issued_late = any(code == EventType.LOADGEN_ISSUE_CALLED for _, code in more)
    assert halves == whole or (halves is None and is_issued_late)


def _joined(files: Sequence[EventsFile]) -> list[dict[str, Any]] | None:
    """The requests of logs; None for logs that SQL joins."""
    try:
        stream = pa.RecordBatchReader.from_stream(requests_table.CompiledRequests(files))
        rows: list[dict[str, Any]] = stream.read_all().sort_by("sample_uuid").to_pylist()
    except OSError:
        return None
    return rows
