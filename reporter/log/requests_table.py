"""The table `requests`: joined by compiled code, where that is built and sure of the events, else by SQL."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder.event import EventType
from reporter.log.sql_files import columns, execute_file, statements

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from reporter.log.one_log import EventsFile
    from reporter.log.opened import OpenSource
    from reporter.log.stored_columns import StoredColumns

COLUMNS: Final = {
    "ISSUE": columns("Issued"),
    "SENDING": columns("Sent"),
    "ENDING": columns("Failed", "Cancelled"),
}
"""The columns of payloads, by the lists of `_columns.h`."""

INTERFACE: Final = "10;" + "".join(
    f"{key} {column.kind};" for columns in COLUMNS.values() for key, column in columns.items()
)
"""The interface of the compiled module: a number, which `_requests.c` has too, and these columns."""


def _usable() -> Any:
    """The compiled module; None where not built."""
    try:
        from reporter.log import _requests
    except ImportError:
        return None
    return _requests if _requests.INTERFACE == INTERFACE else None


_compiled: Any = _usable()

COMPILED: Final = _compiled is not None

_EVENTS: Final[Mapping[str, str]] = {
    "marks": """
        SELECT seq, code, at_ns, sample_uuid FROM events
        WHERE code BETWEEN EventType.LOADGEN_ISSUE_CALLED AND EventType.RETRY AND sample_uuid <> ''""",
    "issues": """
        SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.LOADGEN_ISSUE_CALLED""",
    "sends": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.REQUEST_SENT",
    "requests": """
        SELECT seq, code, coalesce(data, '') AS data,
            whole_gaps(chunk_gaps_us) AS chunk_gaps_us
        FROM events WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED""",
}
"""What SQLite streams to the SQL that joins the events, in the order in which tables are made."""

_GIVEN_UP: Final = "the log has unusual events"

RARE: Final = tuple(
    kind
    for kind in EventType
    if kind < EventType.QUESTION
    or kind in {EventType.SENSOR_STARTED, EventType.EPISODE_ENDED, EventType.TREE_ENDED}
)
"""Events that each report needs, and of which a log has few: compiled code notes where they are."""


LONG_BYTES: Final = 50_000_000
"""From this size on two threads read halves of a log; requests of a shorter log keep one order."""


class CompiledRequests:
    """The requests of logs as Arrow streams, which compiled code reads from now on."""

    def __init__(self, files: Sequence[EventsFile]) -> None:
        is_long = any(file.path and Path(file.path).stat().st_size > LONG_BYTES for file in files)
        self._reader = _compiled.read(files, sum(1 << kind for kind in RARE), is_long)
        spans = [span for file in files for span in file.spans]
        self._only_span = spans[0] if len(spans) == 1 else None
        self._stored: StoredColumns | None = None

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """An Arrow stream for DuckDB and pyarrow: the requests that no other stream has had."""
        return _compiled.stream(self._reader)

    def close(self) -> None:
        """End the reading threads, if still running: those of an archive use the interpreter."""
        self._reader = None

    def noted(self) -> list[int] | None:
        """The numbers of the events that are `RARE`, after all is read; None where they were not noted."""
        numbers: list[int] | None = _compiled.noted(self._reader)
        return numbers

    def are_joined(self, connection: DuckDBPyConnection) -> bool:
        """Make the table, unless the logs have events that the compiled code is not sure to understand.

        Raises:
            duckdb.Error: Memory and temporary disk space are too small.
        """
        import duckdb

        connection.register("stream", self)
        try:
            execute_file(connection, "joined_requests")
            self._make(connection)
        except duckdb.Error as error:
            if _GIVEN_UP not in str(error):
                raise
            connection.execute("DROP TABLE IF EXISTS requests")
            return False
        finally:
            connection.unregister("stream")
        return True

    def _make(self, connection: DuckDBPyConnection) -> None:
        """Make the table; of many requests only columns that have more than one value, and no copies."""
        is_read, values = _compiled.constants(self._reader) or (True, {})
        if is_read:
            execute_file(connection, "requests")
            return
        *before, made = statements(connection, "requests", temporary=None)
        for statement in before:
            connection.execute(statement)
        defining = made.query.partition("CREATE TABLE requests AS")[2].rstrip().removesuffix(";")
        connection.execute(f"CREATE OR REPLACE MACRO read_requests() AS TABLE ({defining})")
        # What only a log of many requests needs.
        from reporter.log.stored_columns import StoredColumns

        stored = StoredColumns.of(connection, values, self._only_span)
        connection.execute(f"CREATE TABLE requests AS SELECT {stored.names} FROM read_requests()")  # noqa: S608 (columns)
        while (more := _compiled.constants(self._reader)) is not None:
            former, stored = stored, StoredColumns.of(connection, more[1], self._only_span)
            for name in sorted(stored.columns - former.columns):
                connection.execute(f"ALTER TABLE requests ADD COLUMN {name} {stored.kinds[name]}")
                connection.execute(f"UPDATE requests SET {name} = {former.others[name]}")  # noqa: S608 (columns)
            connection.execute(f"INSERT INTO requests BY NAME SELECT {stored.names} FROM read_requests()")  # noqa: S608 (columns)
        self._stored = stored

    def settle(self, connection: DuckDBPyConnection) -> None:
        """Complete the table by `reporter/sql/settled.sql`, and add the columns that are not stored."""
        import duckdb

        if (stored := self._stored) is not None and stored.are_settled:
            stored.leave_others_to_a_view(connection)
            stored.count_gaps(connection, _compiled.gaps(self._reader))
        changed = 0
        for statement in statements(connection, "settled", temporary=None):
            is_update = statement.type == duckdb.StatementType.UPDATE
            if is_update and stored is not None and stored.are_settled:
                continue
            answer = connection.execute(statement)
            changed += answer.fetchall()[0][0] if is_update else 0
        if stored is not None and not stored.are_settled:
            stored.leave_others_to_a_view(connection, changed=changed > 0)


def compiled_requests(log: OpenSource) -> CompiledRequests | None:
    """The requests of a log, if compiled code can read the log."""
    files = log.events_files if COMPILED else None
    return None if files is None else CompiledRequests(files)


def join_by_sql(connection: DuckDBPyConnection, log: OpenSource) -> None:
    """Make the table with the defining SQL.

    Raises:
        duckdb.Error: The log is damaged, or memory and temporary disk space are too small.
    """
    # A stream has no length that DuckDB knows of, and its rows are the larger ones: as written, they pass by
    # the others.
    connection.execute("SET disabled_optimizers = 'build_side_probe_side'")
    for name, selection in _EVENTS.items():
        with log.stream(connection, selection):
            if name == "requests":
                execute_file(connection, "joined_events")
            execute_file(connection, name)
    connection.execute("RESET disabled_optimizers")
