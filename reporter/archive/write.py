"""Writing an archive: the events of each log in parts, by kind, encoded to be small; then checked."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from recorder.errors import LogError
from recorder.lock import is_held
from recorder.store import log_path
from reporter.errors import blaming
from reporter.log.archive_manifest import SMALL_TABLES, ArchivedTables, File, Manifest
from reporter.log.archived_log import for_duckdb, opened_archive
from reporter.log.database_in_memory import empty_database
from reporter.log.opened import each_log
from reporter.log.sql_files import with_event_codes
from reporter.log.storage_place import MANIFEST, UNFINISHED, place

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.sqlite_log import SqliteLog
    from reporter.log.storage_place import Place

PART_EVENTS: Final = 500_000
PART_BYTES: Final = 64 << 20
"""A part ends with either: it is sorted in memory."""

_EVENTS: Final = """
    SELECT seq, code, at_ns, coalesce(sample_uuid, '') AS sample_uuid, coalesce(data, '') AS data,
        coalesce(texts, '') AS texts, whole_gaps(chunk_gaps_us) AS chunk_gaps_us
    FROM events"""

_SORTED: Final = """
    SELECT
        seq,
        code::SMALLINT AS code,
        CASE
            WHEN code < EventType.LOADGEN_ISSUE_CALLED THEN 0
            WHEN code BETWEEN EventType.COMPLETE AND EventType.CANCELLED THEN 2
            WHEN code = EventType.SCORED THEN 3
            ELSE 1
        END AS row_group,
        at_ns,
        CASE WHEN is_id THEN unhex(sample_uuid) END AS request,
        CASE WHEN NOT is_id THEN nullif(sample_uuid, '') END AS request_name,
        nullif(data, '') AS data,
        nullif(texts, '') AS texts,
        chunk_gaps_us
    FROM (
        SELECT
            * REPLACE (sample_uuid::VARCHAR AS sample_uuid, data::VARCHAR AS data, texts::VARCHAR AS texts),
            regexp_full_match(sample_uuid::VARCHAR, '[0-9a-f]{32}') AS is_id
        FROM part
    )
    ORDER BY row_group, code, seq"""

_SUM: Final = """
    SELECT count(*), coalesce(sum(hash(
        seq, code, at_ns, sample_uuid::VARCHAR, data::VARCHAR, texts::VARCHAR, chunk_gaps_us
    )), 0) FROM part"""

_ENCODINGS: Final = {
    "seq": "DELTA_BINARY_PACKED",
    "at_ns": "DELTA_BINARY_PACKED",
    # Texts of a kind repeat each other: zstd makes less of them than a dictionary would.
    "chunk_gaps_us.list.element": "BYTE_STREAM_SPLIT",
}

_DICTIONARY: Final = ["code", "request"]

_LEVEL: Final = 6
"""Of zstd: higher ones take several times as long for a few hundredths."""


@dataclass(frozen=True, slots=True)
class ArchiveProgress:
    """How far an archive is: events written or checked, of all; `step` is `write` or `check`."""

    step: str
    events: int
    of_events: int


OnProgress = Callable[[ArchiveProgress], None]


@dataclass(frozen=True, slots=True)
class _Sum:
    """The order-independent checksum of a log's events."""

    events: int = 0
    hashes: int = 0

    def with_part(self, database: DuckDBPyConnection, part: Any) -> _Sum:
        """The sum with further events, an Arrow table or stream."""
        database.register("part", part)
        ((events, hashes),) = database.execute(_SUM).fetchall()
        database.unregister("part")
        return _Sum(self.events + events, self.hashes + int(hashes))


def archive(run: Path, to: Path | str, made_by: str, on_progress: OnProgress = lambda _: None) -> Manifest:
    """Write the logs of a run as an archive, read the archive, and compare each event.

    The archive exists once its manifest does, which is written after the comparison: what is left of an
    archive that was not finished is not read, and is replaced by the next one.

    Args:
        run: The run's folder, or the log itself.
        to: A folder, or an address in an object store.
        made_by: The version of this program.
        on_progress: Called after each part.

    Raises:
        LogError: The run is being written, is damaged, or the archive is not what was written; or there is
            an archive at that place already, or it cannot be written to.
    """
    if is_held(log_path(run).resolve().parent):
        raise LogError(f"{run}: the run is being written; archive it when it is over")
    there = place(to)
    if not there.is_local:
        for_duckdb(there)  # the archive is read after it was written
    if there.has(MANIFEST):
        raise LogError(f"{there.address}: an archive is there already; choose another place")
    _make_room(there)
    with each_log(run) as logs, empty_database() as database:
        database.execute("SET memory_limit = '400MB'")
        counts = [log.select("SELECT count(*) FROM events")[0][0] for log in logs]
        archived: list[ArchivedTables] = []
        sums: list[_Sum] = []
        for log in logs:
            done = ArchiveProgress("write", sum(written.events for written in sums), sum(counts))
            tables, written = _write(log, there, database, partial(_tell, on_progress, done))
            archived.append(tables)
            sums.append(written)
        whole = Manifest(archived, sum(file.size for log in archived for file in log.files), made_by)
        _check(there, whole, sums, database, on_progress)
    whole.write(there)
    with there.blamed():
        there.filesystem.delete_file(there.file(UNFINISHED))
    return whole


def _tell(on_progress: OnProgress, before: ArchiveProgress, events: int) -> None:
    on_progress(replace(before, events=before.events + events))


def _make_room(there: Place) -> None:
    """Remove an unfinished archive, and begin another."""
    from pyarrow.fs import FileType

    with there.blamed():
        if there.has(UNFINISHED):
            there.filesystem.delete_dir_contents(there.file("events"), missing_dir_ok=True)
        elif there.filesystem.get_file_info(there.file("events")).type != FileType.NotFound:
            raise LogError(f"{there.file('events')}: not part of an archive; choose another place")
        there.filesystem.create_dir(there.file("events"), recursive=True)
    there.write(UNFINISHED, b"{}")


def _write(
    log: SqliteLog, there: Place, database: DuckDBPyConnection, on_events: Callable[[int], None]
) -> tuple[ArchivedTables, _Sum]:
    """Write the events of one log."""
    folder = f"events/log={log.node or 'run'}"
    files: list[File] = []
    written = _Sum()
    with there.blamed():
        there.filesystem.create_dir(there.file(folder), recursive=True)
    for part in _parts(log):
        with blaming(log.path):
            written = written.with_part(database, part)
            files.append(_file(there, f"{folder}/part-{len(files):05}.parquet", part, database))
        on_events(written.events)
    tables = {
        table: [list(row) for row in log.select(f"SELECT {', '.join(columns)} FROM {table}")]  # noqa: S608
        for table, columns in SMALL_TABLES.items()
        if table in log.tables
    }
    return ArchivedTables(log.node, tables, files, written.events, log.path.stat().st_size), written


def _parts(log: SqliteLog) -> Iterator[Any]:
    """The events of a log in Arrow tables of a bounded size."""
    import pyarrow as pa

    with log.batches(_EVENTS, "whole") as batches:
        held: list[Any] = []
        for batch in batches:
            held.append(batch)
            if (
                sum(map(len, held)) >= PART_EVENTS
                or sum(held_batch.nbytes for held_batch in held) >= PART_BYTES
            ):
                yield pa.Table.from_batches(held)
                held = []
        if any(len(batch) for batch in held):
            yield pa.Table.from_batches(held)


def _file(there: Place, name: str, part: Any, database: DuckDBPyConnection) -> File:
    """Write one part.

    A row group has all events of requests until they end, so that it has the names of requests once; or all
    ends; or the others. A query of one kind of event then reads one of them.
    """
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    database.register("part", part)
    events = database.sql(with_event_codes(_SORTED)).to_arrow_table()
    database.unregister("part")
    columns = events.drop_columns("row_group")
    with there.blamed():
        with (
            there.filesystem.open_output_stream(there.file(name)) as stream,
            pq.ParquetWriter(
                stream,
                columns.schema,
                compression="zstd",
                compression_level=_LEVEL,
                use_dictionary=_DICTIONARY,
                dictionary_pagesize_limit=16 * PART_EVENTS,
                column_encoding=_ENCODINGS,
            ) as writer,
        ):
            first = 0
            for count in pc.value_counts(events["row_group"]).field("counts").to_pylist():
                writer.write_table(columns.slice(first, count))
                first += count
        return File(name, len(events), there.filesystem.get_file_info(there.file(name)).size)


def _check(
    there: Place, whole: Manifest, sums: list[_Sum], database: DuckDBPyConnection, on_progress: OnProgress
) -> None:
    """Read the archive, and compare the sums over all events of each log.

    Raises:
        LogError: They differ.
    """
    total = sum(written.events for written in sums)
    done = 0
    with opened_archive(there, whole) as logs:
        for log, written in zip(logs, sums, strict=True):
            with blaming(log.path), log.batches(_EVENTS, "whole") as events:
                read = _Sum().with_part(database, events)
            if read != written:
                raise LogError(
                    f"{there.address}: the archive does not have what the log has "
                    f"({read.events} of {written.events} events); keep the log, and archive it again"
                )
            done += read.events
            on_progress(ArchiveProgress("check", done, total))
