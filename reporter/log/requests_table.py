"""The table `requests`: joined by compiled code, where that is built and sure of the events, else by SQL."""

from __future__ import annotations

import _sqlite3
from typing import TYPE_CHECKING, Any, Final

from reporter.log.sql_files import columns, execute_file

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from reporter.log.one_log import EventsFile
    from reporter.log.opened import OpenSource

COLUMNS: Final = {
    "ISSUE": columns("Issued"),
    "SENDING": columns("Sent"),
    "ENDING": columns("Failed", "Cancelled"),
}
"""The columns of payloads, by the lists of `_columns.h`."""

INTERFACE: Final = "6;" + "".join(
    f"{key} {column.kind};" for columns in COLUMNS.values() for key, column in columns.items()
)
"""The interface of the compiled module: a number, which `_requests.c` has too, and these columns."""


def _usable() -> Any:
    """The compiled module; None where not built, or where Python has no SQLite loaded."""
    try:
        from reporter.log import _requests
    except ImportError:
        return None
    # What Python's own module needs; a Python that has it built in leaves the system's.
    libraries = (getattr(_sqlite3, "__file__", None), "libsqlite3.so.0")
    is_usable = _requests.INTERFACE == INTERFACE and any(
        _requests.use_sqlite(library) for library in libraries if library is not None
    )
    return _requests if is_usable else None


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


class CompiledRequests:
    """The requests of logs as an Arrow stream, which compiled code reads from now on."""

    def __init__(self, files: Sequence[EventsFile]) -> None:
        self._stream: object = _compiled.requests(files)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The Arrow stream for DuckDB and pyarrow."""
        return self._stream

    def close(self) -> None:
        """End the reading threads, if still running: those of an archive use the interpreter."""
        self._stream = None

    def are_joined(self, connection: DuckDBPyConnection) -> bool:
        """Make the table, unless the logs have events that the compiled code is not sure to understand.

        Raises:
            duckdb.Error: Memory and temporary disk space are too small.
        """
        import duckdb

        connection.register("stream", self)
        try:
            execute_file(connection, "joined_requests")
            execute_file(connection, "requests")
        except duckdb.Error as error:
            if _GIVEN_UP not in str(error):
                raise
            return False
        finally:
            connection.unregister("stream")
        return True


def compiled_requests(log: OpenSource) -> CompiledRequests | None:
    """The requests of a log, if compiled code can read the log."""
    files = log.events_files if COMPILED else None
    return None if files is None else CompiledRequests(files)


def join_by_sql(connection: DuckDBPyConnection, log: OpenSource) -> None:
    """Make the table with the defining SQL.

    Raises:
        duckdb.Error: The log is damaged, or memory and temporary disk space are too small.
    """
    for name, selection in _EVENTS.items():
        with log.stream(connection, selection):
            if name == "requests":
                execute_file(connection, "joined_events")
            execute_file(connection, name)
