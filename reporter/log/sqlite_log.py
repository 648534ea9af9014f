"""A log that is a SQLite file, read through Arrow: no Python object is made for a row."""

from __future__ import annotations

import re
import sqlite3
from array import array
from contextlib import ExitStack, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from recorder.column_types import Checked, require_types
from recorder.errors import LogError
from reporter.errors import blaming
from reporter.log.one_log import EventsFile, OneLog, spans
from reporter.log.source import grows, readable
from reporter.log.sql_files import with_event_codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.segments import Part, Segment

_BATCH_ROWS: Final = 16_384
"""Of what is small: a batch costs about as much as two hundred of its rows."""

_BIG_BATCH_ROWS: Final = 1024
"""Few enough that a column of a batch, texts and all, stays well below the 2 GiB that Arrow allows it."""

_PATIENCE_MS: Final = 30_000  # with a writer that has the log locked

_ROOT: Final = """
    SELECT rootpage FROM sqlite_master
    WHERE type = 'table' AND name = 'events' AND (
        SELECT group_concat(name || ' ' || pk) FROM pragma_table_info('events')
    ) = 'seq 1,code 0,at_ns 0,sample_uuid 0,data 0,texts 0,chunk_gaps_us 0'"""
"""The first page of the events, where they have the columns that `_pages.c` reads by their places."""

_WHOLE_GAPS: Final = "CASE WHEN length(chunk_gaps_us) % 4 = 0 THEN chunk_gaps_us ELSE x'' END"

_GAPS: Final = "chunk_gaps_us"
"""The column whose blobs become lists."""

_BIG_COLUMN: Final = re.compile(f"texts|{_GAPS}")

_OF_REQUESTS: Final = re.compile(r"texts|sample_uuid")
"""Columns of requests; a report reads them by compiled code, which checks types itself."""

_EVENTS: Final = re.compile(r"\bFROM (?:main\.)?events\b")


class SqliteLog(OneLog):
    """A log in a SQLite file, open for reading.

    Args:
        log: Its path.
        uri: Where SQLite can read it.
        connection: What reads it while it may grow, as of one moment; None for a finished log, which every
            stream opens for itself, so that several threads can read it.
        node: Of a shard of a run its node.
        after_seq: The number of the last event whose values have been checked.

    Raises:
        LogError: A value has the wrong type.
    """

    def __init__(
        self, log: Path, uri: str, connection: Any = None, node: str | None = None, after_seq: int = 0
    ) -> None:
        self._uri = uri
        self._connection = connection
        self._after_seq = after_seq
        self.at_once = connection is None
        self._checked: set[Checked] = set()
        self.path = log
        self._require_types("other tables" if self.at_once else "session")
        super().__init__(log, node)

    @property
    def tables(self) -> frozenset[str]:
        """The names of the log's tables."""
        return frozenset(
            name for (name,) in self.select("SELECT name FROM sqlite_master WHERE type = 'table'")
        )

    def events_file(self, segments: Sequence[Segment], offsets: Sequence[int] = ()) -> EventsFile | None:
        """See `OneLog`."""
        roots = self.select(_ROOT) if self.at_once else []
        path = unquote(urlsplit(self._uri).path)
        return EventsFile(path, roots[0][0], spans(segments, offsets)) if roots else None

    def has_right_types(self) -> None:
        """See `OneLog`."""
        self._checked.add("session")

    @contextmanager
    def batches(self, selection: str, part: Part = "run", offsets: Sequence[int] = ()) -> Iterator[Any]:
        """See `OneLog`."""
        with (
            self._checking(selection),
            self._reading() as source,
            streamed(source, self._own.query(selection, part, offsets)) as rows,
        ):
            yield rows

    @contextmanager
    def stream(self, connection: DuckDBPyConnection, selection: str, part: Part = "run") -> Iterator[None]:
        """See `OneLog`: directly from the driver, without pyarrow, for a stream without changes."""
        if _GAPS in selection:
            with super().stream(connection, selection, part):
                yield
            return
        with (
            self._checking(selection),
            self._reading() as source,
            _executed(source, self._own.query(selection, part)) as rows,
        ):
            connection.register("stream", rows)
            yield
            connection.unregister("stream")

    def select(self, selection: str) -> list[tuple[Any, ...]]:
        """See `OneLog`."""
        if self.at_once:
            # A connection of the driver takes ten times as long.
            with (
                self._checking(selection),
                self._blaming(),
                closing(sqlite3.connect(self._uri, uri=True)) as source,
            ):
                return source.execute(with_event_codes(selection)).fetchall()
        with self._reading() as source, streamed(source, selection) as rows:
            return [tuple(row.values()) for batch in rows for row in batch.to_pylist()]

    def texts(self, seqs: Sequence[int]) -> Mapping[int, str]:
        """See `OneLog`; also while another process appends to the log."""
        numbers = ",".join(map(str, seqs))
        query = f"SELECT seq, coalesce(texts, '{{}}') FROM events WHERE seq IN ({numbers})"  # noqa: S608 (numbers)
        with self._blaming(), closing(sqlite3.connect(self._uri, uri=True)) as source:
            return dict(source.execute(query).fetchall())

    def _require_types(self, of: Checked) -> None:
        """Check the types of the values in the log, once.

        Raises:
            LogError: A value has the wrong type.
        """
        if self._checked.isdisjoint({of, "all"}):
            with self._blaming(), closing(sqlite3.connect(self._uri, uri=True)) as source:
                require_types(source, self.path, after_seq=self._after_seq, of=of)
            self._checked.add(of)

    @contextmanager
    def _checking(self, selection: str) -> Iterator[None]:
        """Check the values that a selection reads, before it does, and all values after an error."""
        if _EVENTS.search(selection):
            self._require_types("all" if _OF_REQUESTS.search(selection) else "session")
        try:
            yield
        except Exception:
            self._require_types("all")
            raise

    @contextmanager
    def _blaming(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise LogError(f"{self.path}: the log is damaged and cannot be read ({error})") from error

    def _reading(self) -> AbstractContextManager[Any]:
        return reading(self.path, self._uri) if self._connection is None else nullcontext(self._connection)


@contextmanager
def opened_sqlite(
    log: Path, node: str | None = None, *, is_elsewhere: bool = False, after_seq: int = 0
) -> Iterator[SqliteLog]:
    """Open one log, as a node's or as the run's.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
        BeingWrittenError: As for `readable`.
    """
    with ExitStack() as stack:
        uri = stack.enter_context(readable(log, is_elsewhere=is_elsewhere))
        connection = stack.enter_context(reading(log, uri)) if grows(uri) else None
        yield SqliteLog(log, uri, connection, node, after_seq)


@contextmanager
def reading(log: Path, uri: str) -> Iterator[Any]:
    """SQLite through the Arrow driver: one transaction, so that a growing log is read as of one moment.

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
def streamed(source: Any, selection: str) -> Iterator[Any]:
    """The rows of a selection as an Arrow stream; blobs of chunk gaps become lists."""
    from pyarrow import RecordBatchReader

    with _executed(source, selection) as rows:
        yield _with_gap_lists(RecordBatchReader.from_stream(rows))


@contextmanager
def _executed(source: Any, selection: str) -> Iterator[Any]:
    """The rows of a selection as the driver's Arrow stream, which can be read once."""
    from adbc_driver_manager import AdbcStatement

    with AdbcStatement(source) as statement:
        rows_at_once = _BIG_BATCH_ROWS if _BIG_COLUMN.search(selection) else _BATCH_ROWS
        statement.set_options(**{"adbc.sqlite.query.batch_rows": str(rows_at_once)})
        statement.set_sql_query(with_event_codes(selection).replace("whole_gaps(chunk_gaps_us)", _WHOLE_GAPS))
        yield statement.execute_query()[0]


def _with_gap_lists(stream: Any) -> Any:
    """Convert a stream's column `chunk_gaps_us`, if any, from bytes to lists of uint32."""
    import pyarrow as pa

    place = stream.schema.get_field_index(_GAPS)
    if place < 0:
        return stream
    schema = stream.schema.set(place, pa.field(_GAPS, pa.list_(pa.uint32())))

    def batches() -> Iterator[Any]:
        for batch in stream:
            if not len(batch):
                continue
            columns = batch.columns
            columns[place] = _gap_lists(columns[place])
            yield pa.RecordBatch.from_arrays(columns, schema=schema)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _gap_lists(blobs: Any) -> Any:
    """View blobs as lists of numbers without a copy: offsets divided by four."""
    import pyarrow as pa

    _, offsets, content = blobs.buffers()
    in_bytes = memoryview(offsets).cast("i")[blobs.offset : blobs.offset + len(blobs) + 1]
    # By `pyarrow.compute` a batch takes 30 us less, and importing it as long as a thousand of them.
    offsets_in_numbers = pa.py_buffer(array("i", [offset // 4 for offset in in_bytes]))
    numbers = pa.Array.from_buffers(pa.uint32(), content.size // 4, [None, content])
    return pa.Array.from_buffers(
        pa.list_(pa.uint32()), len(blobs), [None, offsets_in_numbers], children=[numbers]
    )
