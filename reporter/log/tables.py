"""The one bridge from the log, which is SQLite, to SQL that can count: Arrow streams into DuckDB.

`reporter/sql/` holds one file a table or view; docs/sql.md describes the public ones. Tables are made when
the log is opened, and what they need of its payloads is parsed while it streams, so that no JSON is kept. The
texts and the raw events are big and are only loaded where they are asked for.
"""

from __future__ import annotations

import os
import re
from array import array
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from recorder.store import log_path
from reporter.border import blaming
from reporter.log.clock import OneClock, Part
from reporter.log.event_codes import with_event_codes
from reporter.log.source import grows, readable
from reporter.log.sql_files import execute_file

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from duckdb import DuckDBPyConnection

MEMORY_LIMIT: Final = "600MB"
"""What DuckDB keeps in memory before it moves tables to a temporary file; the process takes some more."""

THREADS: Final = min(4, os.cpu_count() or 1)
"""Reading is one thread's work; more than a few that count only take memory."""

# The driver takes a column's type from its first rows, and a NULL for an integer: so no NULL may reach it.
_TABLES: Final[Mapping[str, str | None]] = {
    "clocks": """
        SELECT sitting, first_seq, started_at_ns, started_wall_ns, shift_ns, environment,
            complete_until_ns, written_ns
        FROM sittings ORDER BY sitting""",
    "session_events": """
        SELECT seq, name AS type, at_ns, coalesce(data, '') AS data FROM events JOIN event_types USING (code)
        WHERE code < EventType.QUESTION OR code = EventType.SENSOR_STARTED""",
    "extent": "SELECT coalesce(max(seq), 0) AS last_seq FROM main.events",
    "sitting_ends": None,
    "session": "SELECT session_id, started_at_ns, started_wall_ns, settings, environment FROM session",
    "phases": None,
    "telemetry": None,
    "findings": None,
    "marks": """
        SELECT seq, code, at_ns, sample_uuid FROM events
        WHERE code BETWEEN EventType.LOADGEN_ISSUE_CALLED AND EventType.RETRY AND sample_uuid <> ''""",
    "issues": """
        SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.LOADGEN_ISSUE_CALLED""",
    "sends": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.REQUEST_SENT",
    "endings": """
        SELECT seq, code, coalesce(data, '') AS data,
            CASE WHEN length(chunk_gaps_us) % 4 = 0 THEN chunk_gaps_us ELSE x'' END AS chunk_gaps_us
        FROM events WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED""",
    "credible": None,
    "unencoded": None,
    "episode_ends": """
        SELECT seq, at_ns, coalesce(data, '') AS data FROM events WHERE code = EventType.EPISODE_ENDED""",
    "tool_calls": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.TOOL_CALLED",
    "requests": None,
    "windows": None,
    "measured_window": None,
    "sittings": None,
    "definitions": None,
    "counted": None,
    "samples": None,
    "episodes": None,
    "arrived": None,
    "early": None,
    "chunks": None,
    "gap_bounds": None,
    "violations": None,
    "gap_counts": None,
}
"""What is made when a log is opened, in this order, and what SQLite streams to it."""

BIG_TABLES: Final[Mapping[str, str | None]] = {
    "events": """
        SELECT seq, name AS type, at_ns, coalesce(sample_uuid, '') AS sample_uuid, coalesce(data, '') AS data
        FROM events JOIN event_types USING (code)""",
    "outputs": """
        SELECT seq, sample_uuid, texts FROM events
        WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED
            AND sample_uuid <> '' AND texts IS NOT NULL""",
    "prompts": """
        SELECT coalesce(data, '') AS data, texts FROM events
        WHERE code = EventType.LOADGEN_ISSUE_CALLED AND texts IS NOT NULL""",
    "questions": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.QUESTION",
    "question_references": """
        SELECT seq, coalesce(data, '') AS data, texts FROM events
        WHERE code = EventType.QUESTION AND texts IS NOT NULL""",
    "passes": """
        SELECT seq, name AS type, at_ns, data FROM events JOIN event_types USING (code)
        WHERE code IN (EventType.SCORING_STARTED, EventType.SCORING_ENDED) AND data IS NOT NULL""",
    "scored": """
        SELECT sample_uuid, data FROM events
        WHERE code = EventType.SCORED AND sample_uuid <> '' AND data IS NOT NULL""",
    "judge_calls": """
        SELECT seq, code, at_ns, sample_uuid, coalesce(data, '') AS data,
            CASE WHEN code = EventType.LOADGEN_ISSUE_CALLED THEN '' ELSE coalesce(texts, '') END AS texts
        FROM events
        WHERE code IN (
                EventType.LOADGEN_ISSUE_CALLED, EventType.COMPLETE, EventType.ERROR, EventType.CANCELLED
            ) AND sample_uuid <> ''""",
    "prompt_events": """
        SELECT seq, coalesce(data, '') AS data FROM events
        WHERE code = EventType.LOADGEN_ISSUE_CALLED AND texts IS NOT NULL""",
    "asked": None,
    "scores": None,
    "sensor_readings": """
        SELECT seq, at_ns, coalesce(data, '') AS data FROM events
        WHERE code = EventType.SENSOR_READING AND texts IS NULL""",
    "sensors": None,
    "server_metrics": None,
    "server_pages": """
        SELECT seq, at_ns, coalesce(data, '') AS data, texts FROM events
        WHERE code = EventType.SENSOR_READING AND texts IS NOT NULL""",
    "power_spans": None,
    "energy_flow": None,
    "request_energy": None,
}
"""What is made on demand, in this order."""

_OF_THE_SESSION: Final = (
    *("clocks", "session_events", "sitting_ends", "session"),
    *("credible", "windows", "definitions"),
)
"""Those of `_TABLES` that the view `samples` needs in addition to `requests`."""

_PARTS: Final[Mapping[str, Part]] = {
    "events": "whole",
    "passes": "aside",
    "scored": "aside",
    "judge_calls": "aside",
}
"""What is not about the run alone."""

_NEEDS: Final[Mapping[str, frozenset[str]]] = {
    "asked": frozenset({"questions"}),
    "scores": frozenset({"questions", "passes", "scored", "asked"}),
    "sensors": frozenset({"sensor_readings"}),
    "server_metrics": frozenset({"sensor_readings"}),
    "power_spans": frozenset({"sensor_readings"}),
    "energy_flow": frozenset({"sensor_readings", "power_spans"}),
    "request_energy": frozenset({"sensor_readings", "power_spans", "energy_flow"}),
}
"""What has to be there before."""

_EXISTING: Final = """
    SELECT table_name FROM duckdb_tables()
    UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"""

_EVERYTHING: Final = """
    SELECT coalesce(sample_uuid, '') AS sample_uuid, name AS type, at_ns, coalesce(data, '') AS data,
        coalesce(texts, '') AS texts,
        CASE WHEN length(chunk_gaps_us) % 4 = 0 THEN chunk_gaps_us ELSE x'' END AS chunk_gaps_us
    FROM events JOIN event_types USING (code) ORDER BY seq"""

_BATCH_ROWS: Final = 16_384
"""Of what is small: a batch costs about as much as two hundred of its rows."""

_BIG_BATCH_ROWS: Final = 1024
"""Few enough that a column of a batch, texts and all, stays well below the 2 GiB that Arrow allows it."""

_PATIENCE_MS: Final = 30_000  # with a writer that has the log locked

_BIG_COLUMN: Final = re.compile("texts|chunk_gaps_us")


def empty_database() -> DuckDBPyConnection:
    """A DuckDB in memory, with a limit beyond which it uses a temporary file."""
    import duckdb

    return duckdb.connect(
        config={
            "memory_limit": MEMORY_LIMIT,
            "threads": THREADS,
            # DuckDB makes the folder when it needs it, and removes it.
            "temp_directory": str(Path(gettempdir()) / f"loadgen-{uuid4().hex}"),
            "preserve_insertion_order": False,
            "autoinstall_known_extensions": False,
        },
    )


def load_tables(connection: DuckDBPyConnection, run: Path) -> None:
    """Make the tables and views that every opened log has.

    Args:
        connection: An empty database.
        run: The run's folder, or the log itself.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
    """
    _load(connection, run, _TABLES)


def load_big_tables(connection: DuckDBPyConnection, run: Path, names: Collection[str]) -> None:
    """Load those `BIG_TABLES` that a database does not have yet.

    Raises:
        LogError: As for `load_tables`.
    """
    if not names:
        return
    existing = {name for (name,) in connection.execute(_EXISTING).fetchall()}
    wanted = set(names).union(*(_NEEDS.get(name, ()) for name in names))
    missing = {name: source for name, source in BIG_TABLES.items() if name in wanted - existing}
    if missing:
        _load(connection, run, missing, at_once=THREADS)


def load_session(connection: DuckDBPyConnection, run: Path) -> None:
    """Make the tables and macros that the view `samples` needs and that requests add nothing to.

    Raises:
        LogError: As for `load_tables`.
    """
    _load(connection, run, {name: _TABLES[name] for name in _OF_THE_SESSION})


def read_stream(connection: DuckDBPyConnection, run: Path, selection: str, statement: str) -> None:
    """Execute a statement whose table `stream` has what SQLite selects from a log.

    Args:
        connection: A database from `empty_database`.
        run: The run's folder, or the log itself.
        selection: A query in SQLite's SQL.
        statement: A statement in DuckDB's SQL.

    Raises:
        LogError: As for `load_tables`.
    """
    log = log_path(run)
    with (
        readable(log) as uri,
        _reading(log, uri) as source,
        _streamed(source, selection) as stream,
    ):
        connection.register("stream", stream)
        connection.execute(statement)
        connection.unregister("stream")


def big_tables_in(query: str) -> set[str]:
    """The `BIG_TABLES` that a query may be about: those whose names occur in it as words."""
    return BIG_TABLES.keys() & set(re.findall(r"\w+", query.lower()))


def rows(run: Path) -> Iterator[dict[str, Any]]:
    """Every event of a log, in the order in which they were written; see `recorder.schema` for the columns.

    Raises:
        LogError: As for `load_tables`.
    """
    log = log_path(run)
    with (
        readable(log) as uri,
        _reading(log, uri) as source,
        _streamed(source, _clock(source).query(_EVERYTHING, "whole")) as stream,
    ):
        for batch in stream:
            yield from batch.to_pylist()


def _load(
    connection: DuckDBPyConnection, run: Path, tables: Mapping[str, str | None], at_once: int = 1
) -> None:
    log = log_path(run)
    with readable(log) as uri, _reading(log, uri) as source:
        clock = _clock(source)
        if clock.scored_last:
            # The process that holds it now scores it, and does not run it.
            connection.execute("SET VARIABLE unended = 'cut_off'")
        streams = {
            name: clock.query(selection, _PARTS.get(name, "run"))
            for name, selection in tables.items()
            if selection is not None
        }
        if at_once > 1 and not grows(uri):
            _stream_at_once(connection, log, uri, streams, at_once)
            tables = {name: None for name in tables if name not in streams}
        for name, selection in tables.items():
            if selection is None:
                execute_file(connection, name)
            else:
                _stream(connection, source, name, streams[name])


def _stream(connection: DuckDBPyConnection, source: Any, name: str, query: str) -> None:
    with _streamed(source, query) as stream:
        connection.register("stream", stream)
        execute_file(connection, name)
        connection.unregister("stream")


def _stream_at_once(
    connection: DuckDBPyConnection, log: Path, uri: str, streams: Mapping[str, str], at_once: int
) -> None:
    """Make independent tables, several at a time: SQLite reads on one thread each."""

    def make(name: str) -> None:
        with connection.cursor() as own, _reading(log, uri) as source:
            _stream(own, source, name, streams[name])

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(make, streams))


@contextmanager
def _reading(log: Path, uri: str) -> Iterator[Any]:
    """SQLite through its Arrow driver: one transaction, so that a log that grows is read as of one moment.

    Not by the driver's DB-API, which imports more of pyarrow than reading takes.
    """
    import adbc_driver_sqlite
    from adbc_driver_manager import AdbcConnection, AdbcStatement

    with blaming(log), adbc_driver_sqlite.connect(uri) as database, AdbcConnection(database) as source:
        with AdbcStatement(source) as statement:
            # The driver waits for no lock, which a writer has for a moment when it begins and ends.
            statement.set_sql_query(f"PRAGMA busy_timeout = {_PATIENCE_MS}")
            statement.execute_update()
        source.set_autocommit(False)
        yield source


@contextmanager
def _streamed(source: Any, selection: str) -> Iterator[Any]:
    """The rows of a selection as an Arrow stream; blobs of chunk gaps become lists."""
    from adbc_driver_manager import AdbcStatement
    from pyarrow import RecordBatchReader

    with AdbcStatement(source) as statement:
        rows_at_once = _BIG_BATCH_ROWS if _BIG_COLUMN.search(selection) else _BATCH_ROWS
        statement.set_options(**{"adbc.sqlite.query.batch_rows": str(rows_at_once)})
        statement.set_sql_query(with_event_codes(selection))
        stream, _ = statement.execute_query()
        yield _with_gap_lists(RecordBatchReader.from_stream(stream))


def _clock(source: Any) -> OneClock:
    def select(selection: str) -> list[tuple[Any, ...]]:
        with _streamed(source, selection) as stream:
            return [tuple(row.values()) for batch in stream for row in batch.to_pylist()]

    return OneClock(select)


def _with_gap_lists(stream: Any) -> Any:
    """Let a stream's column `chunk_gaps_us`, if it has one, hold lists of uint32 where it had their bytes."""
    import pyarrow as pa

    place = stream.schema.get_field_index("chunk_gaps_us")
    if place < 0:
        return stream
    schema = stream.schema.set(place, pa.field("chunk_gaps_us", pa.list_(pa.uint32())))

    def batches() -> Iterator[Any]:
        for batch in stream:
            if not len(batch):
                continue
            columns = batch.columns
            columns[place] = _gap_lists(columns[place])
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _gap_lists(blobs: Any) -> Any:
    """See the same memory as lists of numbers: the offsets count four bytes each, nothing else changes."""
    import pyarrow as pa

    _, offsets, content = blobs.buffers()
    in_bytes = memoryview(offsets).cast("i")[blobs.offset : blobs.offset + len(blobs) + 1]
    # By `pyarrow.compute` a batch takes 30 us less, and importing it as long as a thousand of them.
    offsets_in_numbers = pa.py_buffer(array("i", [offset // 4 for offset in in_bytes]))
    numbers = pa.Array.from_buffers(pa.uint32(), content.size // 4, [None, content])
    return pa.Array.from_buffers(
        pa.list_(pa.uint32()), len(blobs), [None, offsets_in_numbers], children=[numbers]
    )
