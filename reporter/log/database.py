"""An opened log as a value: tables, definitions, and window."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final, Self

from lazy_dataclasses import dataclass, field, replace
from recorder.lock import is_held
from recorder.store import log_path
from reporter.errors import blaming
from reporter.log.database_in_memory import empty_database
from reporter.log.opened import opened
from reporter.log.requests_table import compiled_requests
from reporter.log.sql_files import execute_file, sql_file
from reporter.log.tables import SAMPLE_VIEWS, TABLES, load_from, load_on_demand
from reporter.log.window import Timeline, together, window, windows_sql
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.report import Window

READ_BY_VIEWS: Final = (
    "latency_origin",
    "tpot_denominator",
    "tpot_end",
    "tpot_n1",
    "token_source",
    "token_categories",
)
"""The other definitions are of what is done with the values of the views."""


def define(connection: DuckDBPyConnection, definitions: Definitions) -> None:
    """Set the variables of a connection that nothing has been asked of."""
    for name in READ_BY_VIEWS:
        value = getattr(definitions, name)
        connection.execute(f"SET VARIABLE {name} = ?", [list(value) if isinstance(value, tuple) else value])


FEW_REQUESTS: Final = 50_000
"""Their rows of the view `samples` take 30 MB in a table."""

COUNTS: Final = "sample_uuid VARCHAR, input BIGINT, output BIGINT, after_first BIGINT, server BIGINT"
"""The columns of a table of what a tokenizer counted: of what counts, in all and behind the first chunk.

Where only some categories count, `server` is what of the server's count is of them.
"""

_RECOUNTED: Final = """
    CREATE TEMP VIEW recounted AS
    SELECT
        requests.*,
        counts.input AS client_input,
        counts.output AS client_output,
        counts.after_first AS client_after_first,
        counts.server AS client_server
    FROM requests LEFT JOIN {counts} AS counts USING (sample_uuid)"""
"""What takes the place of `reporter/sql/recounted.sql`."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OpenLog:
    """A log in DuckDB as of the moment of opening, with definitions and a window.

    It is a value: no method changes what its views answer. The methods `with_…` return another value of the
    same log, which shares the tables and differs in what they name; values can be used in any order. Each has
    a connection, whose variables and temporary tables, made once, replace those that all share.

    Attributes:
        run: The run's folder, or the log itself.
        database: The connection that made the tables which all values of this log share.
        connection: This value's own.
        definitions: What the views compute by.
        window: The span that rates are counted over, the windows of all segments together.
        windows: That of each segment; None for the run's own.
        timelines: What the run's own windows follow from, a segment each, in order.
        token_counts: The table of what a tokenizer counted; None where none did.
        requests: The number of all requests.
        has_samples_table: Whether the rows of `counted` and `samples` are in tables, which are read faster
            than the views.
    """

    run: Path
    database: DuckDBPyConnection
    connection: DuckDBPyConnection
    window: Window
    requests: int
    definitions: Definitions = field(default_factory=Definitions)
    windows: tuple[Window, ...] | None = None
    timelines: tuple[Timeline, ...] = ()
    token_counts: str | None = None
    has_samples_table: bool = False

    def with_definitions(self, definitions: Definitions) -> OpenLog:
        """The log with other definitions for the views."""
        if all(getattr(definitions, name) == getattr(self.definitions, name) for name in READ_BY_VIEWS):
            return replace(self, definitions=definitions)
        return self._derived(definitions=definitions)

    def with_windows(self, windows: Sequence[Window], whole: Window) -> OpenLog:
        """The log with other windows for rates."""
        return self._derived(windows=tuple(windows), window=whole)

    def with_token_counts(self, table: str) -> OpenLog:
        """The log with a tokenizer's counts.

        Args:
            table: Its name; it has the columns of `COUNTS`.
        """
        return self._derived(token_counts=table)

    def with_samples_table(self) -> OpenLog:
        """The log with `counted` and `samples` as tables, if the log has few requests.

        DuckDB plans a view for every query: 5 and 20 ms for all of their columns, whichever a query needs.
        With few requests this is most of the time that a report takes; with many it does not count, and the
        tables would take memory.
        """
        if self.requests <= FEW_REQUESTS:
            return self._derived(has_samples_table=True)
        self.load(SAMPLE_VIEWS)
        return self

    def with_room(self) -> OpenLog:
        """The log on another connection, with separate temporary tables; on any thread."""
        with self.database.cursor() as own:
            load_on_demand(own, self.run, SAMPLE_VIEWS)
        return self._derived(has_samples_table=False)

    def execute(self, query: str, parameters: object = None) -> DuckDBPyConnection:
        """Run a query; fetch the rows of the result before the next query."""
        return self.connection.execute(query, parameters)

    def load(self, tables: Collection[str]) -> None:
        """Load missing tables and views on demand, for all values of the log.

        Args:
            tables: Names of `reporter.log.tables.SAMPLE_VIEWS` and `BIG_TABLES`.

        Raises:
            LogError: The log is damaged.
            NoRoomError: Memory and temporary disk space are too small for them.
        """
        load_on_demand(self.database, self.run, tables)

    def close(self) -> None:
        """Release the memory; no value of this log can be used afterwards."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _derived(self, **changes: Any) -> OpenLog:
        log = replace(self, connection=self.database.cursor(), **changes)
        define(log.connection, log.definitions)
        if log.windows is not None:
            log.execute(windows_sql(log.windows, log.window))
        if log.token_counts is not None:
            log.execute(_RECOUNTED.format(counts=log.token_counts))
        if log.has_samples_table:
            for name, kind in SAMPLE_VIEWS.items():
                execute_file(log.connection, name, temporary=kind)
        return log


def open_log(run: Path, also: Collection[str] = ()) -> OpenLog:
    """Load a log into a private DuckDB, in memory, with the views of docs/sql.md.

    See `open_for_report`.
    """
    return open_for_report(run, {*SAMPLE_VIEWS, *also})


def open_for_report(run: Path, also: Collection[str] = ()) -> OpenLog:
    """Load a log; of `SAMPLE_VIEWS` only the names in `also`: `with_samples_table` makes the others.

    The log may be finished, still being written, or cut off; it is only read. The figures are those of the
    moment at which it is opened, by the default definitions and over the run's own window.

    Args:
        run: The run's folder, or the log itself.
        also: Names of `reporter.log.tables.SAMPLE_VIEWS` and `BIG_TABLES` to load.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    # Checked before the log is read: a process that ends meanwhile has left an end in it.
    unended = "running" if is_held(log_path(run).resolve().parent) else "cut_off"
    with opened(run) as log:
        requests = compiled_requests(log)  # Its threads read while DuckDB starts.
        database = empty_database()
        with closed_after_errors(database):
            database.execute("SET VARIABLE unended = ?", [unended])
            load_from(database, log, TABLES, requests=requests)
    with closed_after_errors(database):
        ((requests,),) = database.execute("SELECT count(*) FROM requests").fetchall()
        if requests <= FEW_REQUESTS:
            # A thread reads 122,880 rows of a table: a second one would only be woken.
            database.execute("SET threads = 1")
        with blaming(log_path(run)):
            timelines, whole = fill_windows(database)
        load_on_demand(database, run, also)
    return OpenLog(
        run=run, database=database, connection=database, window=whole, timelines=timelines, requests=requests
    )


@contextmanager
def closed_after_errors(database: DuckDBPyConnection) -> Iterator[None]:
    """Close a database where the context fails."""
    try:
        yield
    except BaseException:
        database.close()
        raise


def figures(log: OpenLog, name: str) -> dict[str, Any]:
    """The single row of a query in `reporter/sql/figures/` for an opened log, by column."""
    return all_figures(log, name)[0]


def all_figures(log: OpenLog, name: str) -> list[dict[str, Any]]:
    """The rows of one that has several."""
    return _all_figures(log.connection, name)


def streamed_figures(
    log: OpenLog, name: str, at_once: int, parameters: object = None
) -> Iterator[list[dict[str, Any]]]:
    """The rows of one that has very many, in lists of that length. Meanwhile nothing else can be asked."""
    answer = log.execute(sql_file(f"figures/{name}"), parameters)
    columns = [column[0] for column in answer.description or ()]
    while rows := answer.fetchmany(at_once):
        yield [dict(zip(columns, row, strict=True)) for row in rows]


def _all_figures(connection: DuckDBPyConnection, name: str) -> list[dict[str, Any]]:
    return rows_of(execute_file(connection, f"figures/{name}"))


def rows_of(answer: DuckDBPyConnection) -> list[dict[str, Any]]:
    """The rows of an answer, by column."""
    columns = [column[0] for column in answer.description or ()]
    return [dict(zip(columns, row, strict=True)) for row in answer.fetchall()]


def fill_windows(connection: DuckDBPyConnection) -> tuple[tuple[Timeline, ...], Window]:
    """Fill the tables of windows; return the timelines, and the window of all segments together."""
    timelines = tuple(Timeline(**row) for row in _all_figures(connection, "timeline"))
    windows = [window(timeline) for timeline in timelines]
    whole = together(windows)
    for segment, part in enumerate(windows, start=1):
        connection.execute("INSERT INTO windows VALUES (?, ?, ?, ?, ?)", [segment, *_columns(part)])
    connection.execute("INSERT INTO measured_window VALUES (?, ?, ?, ?)", _columns(whole))
    return timelines, whole


def _columns(part: Window) -> list[Any]:
    return [part.kind, part.duration_s, part.start_ns, part.end_ns]
