"""A log in an archive, with the queries of a SQLite log, answered from Parquet files."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.errors import LogError
from recorder.event import EventType
from reporter.errors import blaming
from reporter.log.archive_manifest import SMALL_TABLES, TEXT_COLUMNS, manifest
from reporter.log.database_in_memory import empty_database
from reporter.log.one_log import EventsFile, OneLog, spans
from reporter.log.sql_files import with_event_codes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from reporter.log.archive_manifest import ArchivedTables, Manifest
    from reporter.log.segments import Part, Segment
    from reporter.log.storage_place import Place

_BATCH_ROWS: Final = 122_880
"""DuckDB's own row groups."""

_BIG_BATCH_ROWS: Final = 8192

_EVENTS: Final = """
    CREATE VIEW {log}.main.events AS
    SELECT
        seq, code, at_ns, coalesce(lower(hex(request)), request_name) AS sample_uuid,
        data, texts, chunk_gaps_us
    FROM read_parquet([{files}])"""

_TYPES: Final = {
    "seq": "BIGINT",
    "code": "SMALLINT",
    "at_ns": "BIGINT",
    "request": "BLOB",
    "request_name": "VARCHAR",
    "data": "VARCHAR",
    "texts": "VARCHAR",
    "chunk_gaps_us": "UINTEGER[]",
}
"""The columns of a file of events."""

_NO_EVENTS: Final = """
    CREATE TABLE {log}.main.events (
        seq BIGINT, code BIGINT, at_ns BIGINT, sample_uuid VARCHAR, data VARCHAR, texts VARCHAR,
        chunk_gaps_us UINTEGER[]
    )"""

_WHOLE_GAPS: Final = "CREATE MACRO {log}.main.whole_gaps(gaps) AS coalesce(gaps, []::UINTEGER[])"

_COLUMNS_OF_REQUESTS: Final = ("seq", "code", "at_ns", "request", "request_name", "data", "chunk_gaps_us")
"""What `_parts.c` reads, by their places."""


class ArchivedLog(OneLog):
    """A log in an archive, open for reading."""

    at_once = True

    def __init__(self, place: Place, tables: ArchivedTables, database: DuckDBPyConnection, name: str) -> None:
        self._place = place
        self._files = tables.files
        self._database = database
        self._name = name
        super().__init__(Path(place.address), tables.node)

    def events_file(self, segments: Sequence[Segment], offsets: Sequence[int] = ()) -> EventsFile:
        """See `OneLog`."""
        from pyarrow import RecordBatchReader

        batches = RecordBatchReader.from_batches(_schema_of_requests(), self._parts())
        return EventsFile("", 0, spans(segments, offsets), batches.__arrow_c_stream__())

    @contextmanager
    def batches(self, selection: str, part: Part = "run", offsets: Sequence[int] = ()) -> Iterator[Any]:
        """See `OneLog`."""
        with self._asked() as connection:
            query = with_event_codes(self._own.query(selection, part, offsets))
            at_once = _BIG_BATCH_ROWS if "texts" in selection else _BATCH_ROWS
            yield connection.sql(query).to_arrow_reader(at_once)

    def select(self, selection: str) -> list[tuple[Any, ...]]:
        """See `OneLog`."""
        with self._asked() as connection:
            return connection.execute(with_event_codes(selection)).fetchall()

    def texts(self, seqs: Sequence[int]) -> Mapping[int, str]:
        """See `OneLog`."""
        numbers = ", ".join(map(str, seqs))
        return dict(self.select(f"SELECT seq, coalesce(texts, '{{}}') FROM events WHERE seq IN ({numbers})"))  # noqa: S608

    def _parts(self) -> Iterator[Any]:
        """The requests of each file, and a batch without rows; files are opened when read."""
        from pyarrow import RecordBatch

        schema = _schema_of_requests()
        for file in self._files:
            with self._place.filesystem.open_input_file(self._place.file(file.name)) as source:
                yield from (batch.cast(schema) for batch in _of_requests(source))
            yield RecordBatch.from_pylist([], schema)

    @contextmanager
    def _asked(self) -> Iterator[DuckDBPyConnection]:
        with blaming(self.path), self._database.cursor() as connection:
            connection.execute(f"USE {self._name}")
            yield connection


@contextmanager
def opened_archive(place: Place, whole: Manifest | None = None) -> Iterator[list[ArchivedLog]]:
    """Open the logs of an archive: that of the run's folder first.

    Raises:
        LogError: The archive is damaged, or of a later version; a file is missing, or was cut off.
    """
    logs = (whole or manifest(place)).logs
    _require_files(place, logs)
    with empty_database() as database:
        database.execute("SET memory_limit = '200MB'")
        if not place.is_local:
            database.register_filesystem(for_duckdb(place))
        names = []
        with blaming(Path(place.address)):
            for number, log in enumerate(logs):
                names.append(f"log_{number}")
                _attach(database, names[-1], log, place)
        yield [ArchivedLog(place, log, database, name) for name, log in zip(names, logs, strict=True)]


def _schema_of_requests() -> Any:
    import pyarrow as pa

    types = [
        *(pa.int64(), pa.int16(), pa.int64(), pa.binary(), pa.string(), pa.string()),
        pa.list_(pa.field("element", pa.uint32())),
    ]
    return pa.schema(list(zip(_COLUMNS_OF_REQUESTS, types, strict=True)))


def _of_requests(file: Any) -> Iterator[Any]:
    """The row groups of a file that have events of requests, in large batches."""
    from pyarrow.parquet import ParquetFile

    parquet = ParquetFile(file)
    whole = parquet.metadata
    groups = [group for group in range(whole.num_row_groups) if _may_have_requests(whole.row_group(group))]
    # Other threads have their own work.
    yield from parquet.iter_batches(
        max(whole.num_rows, 1), row_groups=groups, columns=list(_COLUMNS_OF_REQUESTS), use_threads=False
    )


def _may_have_requests(group: Any) -> bool:
    codes = next(
        column for column in map(group.column, range(group.num_columns)) if column.path_in_schema == "code"
    ).statistics
    return codes is None or (
        codes.max >= EventType.LOADGEN_ISSUE_CALLED.value and codes.min <= EventType.RETRY.value
    )


def _require_files(place: Place, logs: Sequence[ArchivedTables]) -> None:
    files = [file for log in logs for file in log.files]
    with place.blamed():
        infos = place.filesystem.get_file_info([place.file(file.name) for file in files])
    for file, info in zip(files, infos, strict=True):
        if info.size != file.size:
            state = "missing" if info.size is None else f"{info.size} bytes instead of {file.size}"
            raise LogError(f"{place.address}: the archive is damaged: {file.name} is {state}")


def _attach(database: DuckDBPyConnection, name: str, log: ArchivedTables, place: Place) -> None:
    database.execute(f"ATTACH ':memory:' AS {name}")
    for table, rows in log.tables.items():
        columns = SMALL_TABLES[table]
        types = ", ".join(
            f"{column} {'VARCHAR' if column in TEXT_COLUMNS else 'BIGINT'}" for column in columns
        )
        database.execute(f"CREATE TABLE {name}.main.{table} ({types})")
        for row in rows:
            marks = ", ".join("?" * len(columns))
            database.execute(f"INSERT INTO {name}.main.{table} VALUES ({marks})", row)  # noqa: S608 (constants)
    scheme = "" if place.is_local else f"{place.address.partition(':')[0]}://"
    quoted = (place.file(file.name).replace("'", "''") for file in log.files)
    files = ", ".join(f"'{scheme}{file}'" for file in quoted)
    if log.files:
        _require_types(database, files, place)
    database.execute((_EVENTS if log.files else _NO_EVENTS).format(log=name, files=files))
    database.execute(_WHOLE_GAPS.format(log=name))


def _require_types(database: DuckDBPyConnection, files: str, place: Place) -> None:
    """Check the columns of the files of events: DuckDB reads all files by the types of the first."""
    described = database.execute(f"DESCRIBE FROM read_parquet([{files}])").fetchall()
    types = {column: kind for column, kind, *_ in described}
    wrong = [column for column, kind in _TYPES.items() if types.get(column) != kind]
    if wrong:
        raise LogError(
            f"{place.address}: the archive is damaged: events have {types.get(wrong[0], 'nothing')} in "
            f"{wrong[0]} in place of {_TYPES[wrong[0]]}"
        )


def for_duckdb(place: Place) -> Any:
    """A filesystem of pyarrow as one that DuckDB can call.

    Raises:
        LogError: fsspec is not installed.
    """
    try:
        from fsspec.implementations.arrow import ArrowFSWrapper  # type: ignore[import-untyped]
    except ModuleNotFoundError as error:
        raise LogError(
            f"{place.address}: archives in object stores need fsspec, which is not installed: "
            "pip install 'llm-loadgen[object-store]'"
        ) from error

    class Wrapped(ArrowFSWrapper):  # type: ignore[misc]  # fsspec has no types
        protocol = place.address.partition(":")[0]

    return Wrapped(place.filesystem)
