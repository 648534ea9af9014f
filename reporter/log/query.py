"""One SQL query over the log of a run."""

from __future__ import annotations

import re
import warnings
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from recorder.store import log_path
from reporter.errors import QueryError, blaming
from reporter.log.chosen_tables import make_views
from reporter.log.database import open_log
from reporter.log.database_in_memory import THREADS, empty_database
from reporter.log.tables import big_tables_in

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from pathlib import Path

    import duckdb
    from duckdb import DuckDBPyConnection, DuckDBPyRelation

    from reporter.report import Finding

VIEWS: Final[Mapping[str, str]] = {
    "session": "one row: settings, environment, how it ended",
    "phases": "one row a phase of a segment: warmup, performance, drain",
    "segments": "one row a segment: several where a run was resumed",
    "nodes": "one row a node of a run of several machines: its clock, its requests",
    "samples": "one row a request: stamps, latencies, tokens, failure",
    "arrived": "one row a completed or cut request: its tokens inside the window of the rates",
    "chunks": "one row a chunk with a token: when it arrived",
    "events": "one row an event, as it was logged",
    "outputs": "one row a response: its texts",
    "prompts": "one row a prompt: its text",
    "questions": "one row a question of a benchmark: which prompt asks it",
    "question_references": "one row a question: the reference that answers are scored against",
    "scores": "one row an answer to one, a scoring pass and a scorer: its score",
    "passes": "one row a scoring pass and scorer",
    "reported_passes": "one row a scorer: the pass that reports show",
    "sessions": "one row a session of several turns: how it ended, times, tokens, what was recorded",
    "vectors": "one row a request for vectors or scores: how many, their dimension, the decoding time",
    "agreement": "one row a response with --expect: its agreement with the earlier run",
    "session_turns": "one row a request of such a session: its place in the tree, waits, what was recorded",
    "episodes": "one row an episode that is over: turns, tool calls, times, tokens, how it ended",
    "open_episodes": "one row an episode without an end in the log: steps so far, and the step in progress",
    "tool_calls": "one row a call of a tool in an episode",
    "judge_calls": "one row a request to a judge: the answer, and the judge's reply",
    "telemetry": "one row a reading of a worker, the parent or the recorder",
    "sensors": "one row a value that a sensor read: of the server, this host, a GPU",
    "server_metrics": "one row a reading of the server's metrics page",
    "server_pages": "one row a metrics page as it was served, before and after the run",
    "server_times": "the times of a request by the server's or a gateway's clock, and the client's",
    "speculation": "the outcome of draft tokens by request",
    "speculation_counters": "the outcome of draft tokens by the server's metrics",
    "request_energy": "one row a request: its share of the energy, and the power while it ran",
    "findings": "one row a finding of the report",
    "measured_window": "one row: the span that rates are counted over",
    "violations": "laws of the log that were broken; there should be none",
}
"""The public views, in a few words; docs/sql.md describes each."""


_NOTHING_ELSE: Final = (
    "SET python_enable_replacements = false",
    "SET allow_persistent_secrets = false",
    "SET allowed_configs = ['memory_limit', 'threads', 'TimeZone', 'preserve_insertion_order']",
    "SET enable_external_access = false",
    "SET lock_configuration = true",
)
"""Restrict SQL to the log: no other file, no network, no variable of this program."""

_FEW_ROWS: Final = 20
_ZONED: Final = "TIMESTAMP WITH TIME ZONE"


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The result of a query: column names, and rows as Python values."""

    columns: Sequence[str]
    rows: Sequence[tuple[Any, ...]]


_WRITES: Final = frozenset({"ALTER", "DELETE", "DROP", "INSERT", "MERGE_INTO", "UPDATE"})
"""Statements that would change the tables in memory, which look like the log."""

_ROWS: Final = (f"('{name}', '{text.replace(chr(39), chr(39) * 2)}')" for name, text in VIEWS.items())
_LIST_OF_VIEWS: Final = f"FROM (VALUES {', '.join(_ROWS)}) AS views(name, description);\n"
_LISTED: Final = re.compile(r"\s*show\s+(all\s+)?tables\s*", re.IGNORECASE)


def open_for_queries(
    run: Path, also: Collection[str] = (), findings: Sequence[Finding] | None = None
) -> DuckDBPyConnection:
    """Open a log for queries only, without access to any file.

    Args:
        run: The run's folder, or the log itself.
        also: Names of `reporter.log.tables.BIG_TABLES` to load.
        findings: Those of its report; by default the view has what the load generator logged.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    connection = open_log(run, also=also).database
    if findings is not None:
        set_findings(connection, findings)
    _lock(connection)
    return connection


def relation(connection: DuckDBPyConnection, sql: str) -> DuckDBPyRelation:
    """Make a relation of a query, which is computed when the relation is used.

    Raises:
        QueryError: The SQL is wrong, or would write.
    """
    import duckdb

    try:
        return connection.sql(_readable(connection, sql))
    except duckdb.Error as error:
        raise _wrong(error) from error


def _readable(connection: DuckDBPyConnection, sql: str) -> str:
    """The statements, with the public views as the answer to `SHOW TABLES`.

    Raises:
        QueryError: One would write.
    """
    statements = connection.extract_statements(sql)
    for statement in statements:
        if statement.type.name in _WRITES:
            name = statement.type.name.replace("_", " ")
            raise QueryError(f"{name} is refused: the log is only read; use SELECT")
    return "".join(
        _LIST_OF_VIEWS if _LISTED.fullmatch(statement.query.rstrip("; \n")) else f"{statement.query};\n"
        for statement in statements
    )


def _wrong(error: duckdb.Error) -> QueryError:
    return QueryError(f"{error}\nAvailable views: {', '.join(VIEWS)}.")


_REPORTED: Final = """
    CREATE TEMP TABLE reported_findings (code VARCHAR, severity VARCHAR, message VARCHAR, remedy VARCHAR)"""


def set_findings(connection: DuckDBPyConnection, findings: Sequence[Finding]) -> None:
    """Let the view `findings` have those of a report, and when the load generator found them."""
    rows = [[finding.code, finding.severity, finding.message, finding.remedy] for finding in findings]
    connection.execute(_REPORTED)
    if rows:
        connection.executemany("INSERT INTO reported_findings VALUES (?, ?, ?, ?)", rows)
    connection.execute("""
        CREATE TEMP TABLE findings AS
        SELECT logged.* EXCLUDE (code, severity, message, remedy), reported.*
        FROM reported_findings AS reported
        LEFT JOIN (FROM findings QUALIFY row_number() OVER (PARTITION BY code, message) = 1) AS logged
        USING (code, message)""")


def query(run: Path, sql: str, findings: Sequence[Finding] | None = None) -> QueryResult:
    """Query the log of a run, in DuckDB's SQL, without access to any file.

    Args:
        run: The run's folder, or the log itself.
        sql: One or several statements over `VIEWS`; the last one answers.
        findings: As for `open_for_queries`.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
        QueryError: The SQL is wrong, would write, or asks for more than there is room for.
    """
    return queries(run, [sql], findings)[0]


def queries(
    run: Path, statements: Sequence[str], findings: Sequence[Finding] | None = None
) -> list[QueryResult]:
    """Ask the log of a run several things as `query` asks one; the log is read once.

    Raises:
        LogError, QueryError: As for `query`.
    """
    also = set().union(*map(big_tables_in, statements))
    with open_for_queries(run, also, findings) as connection:
        return [_answer(connection, sql) for sql in statements]


def answer_of(
    connection: DuckDBPyConnection, sql: str, most_rows: int | None = None, longest: int | None = None
) -> QueryResult:
    """Query an opened log, and lock the connection so that later queries see only the log.

    Args:
        connection: Of an opened log.
        sql: One or several statements over `VIEWS`; the last one answers.
        most_rows: How many rows to read; None for all.
        longest: Of each text or list the most characters to keep; None for all.

    Raises:
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
    _lock(connection)
    return _answer(connection, sql, most_rows, longest)


def _lock(connection: DuckDBPyConnection) -> None:
    for setting in _NOTHING_ELSE:
        connection.execute(setting)


def _answer(
    connection: DuckDBPyConnection, sql: str, most_rows: int | None = None, longest: int | None = None
) -> QueryResult:
    import duckdb

    try:
        answer = connection.execute(_readable(connection, sql))
        columns = [column[0] for column in (answer and answer.description) or ()]
        return QueryResult(columns, _rows(answer, most_rows, longest) if columns else [])
    except OverflowError as error:
        raise QueryError(f"{error}: cast it to text (::VARCHAR)") from error
    except duckdb.Error as error:
        raise _wrong(error) from error


def _rows(answer: DuckDBPyConnection, most_rows: int | None, longest: int | None) -> list[tuple[Any, ...]]:
    """The first rows of an answer, or all.

    A time with a zone, such as `now()`, comes by way of pyarrow: without it DuckDB asks for pytz.

    Raises:
        OverflowError: Such a time is outside Python's range.
    """
    if not any(_ZONED in str(kind) for _, kind, *_ in answer.description or ()):
        if longest is not None:
            return _short_rows(answer, most_rows, longest)
        return answer.fetchall() if most_rows is None else answer.fetchmany(most_rows)
    with warnings.catch_warnings():
        # It costs a copy of the rows.
        warnings.simplefilter("ignore", UserWarning)
        arrow: Any = answer.to_arrow_table()
    return list(zip(*(column.to_pylist() for column in arrow.slice(0, most_rows).columns), strict=True))


def _short_rows(answer: DuckDBPyConnection, most_rows: int | None, longest: int) -> list[tuple[Any, ...]]:
    """The first rows with short values, a few rows at a time: the texts of all may not fit into memory."""
    rows: list[tuple[Any, ...]] = []
    while (left := _FEW_ROWS if most_rows is None else min(_FEW_ROWS, most_rows - len(rows))) and (
        part := answer.fetchmany(left)
    ):
        rows += [tuple(_short(value, longest) for value in row) for row in part]
    return rows


def _short(value: Any, longest: int) -> Any:
    if isinstance(value, str | bytes | list | dict) and len(text := str(value)) > longest:
        return f"{text[:longest]}… ({len(text):,} characters)"
    return value


RUN = "run"
"""The column that names the run, before those of docs/sql.md."""


def query_series(
    runs: Mapping[str, Path],
    sql: str,
    findings_of: Callable[[Path], Sequence[Finding] | None] | None = None,
) -> QueryResult:
    """Query the logs of several runs, in DuckDB's SQL, without access to any file.

    Of each log only the views that the query names are made, and few logs are open at a time; what does not
    fit into memory DuckDB keeps in a temporary file.

    Args:
        runs: Folders of runs, or logs, by what `run` says of each; at least one.
        sql: One or several statements over `VIEWS`; the last one answers.
        findings_of: Gives the findings of a run's report where the SQL asks for them.

    Raises:
        LogError: One is not a log that this version reads, or is damaged.
        QueryError: The SQL is wrong, or asks for more than there is room for.
    """
    views = _views_in(sql)
    with empty_database() as connection:
        put = "CREATE TABLE memory.main.{view} AS"
        for (name, run), log in _opened(connection, runs, views):
            findings = None if findings_of is None else findings_of(run)
            if findings is not None:
                set_findings(log, findings)
            with blaming(log_path(run)):
                for view in sorted(views):
                    log.execute(f"{put.format(view=view)} SELECT ? AS {RUN}, * FROM {view}", [name])  # noqa: S608 (a view)
            put = "INSERT INTO memory.main.{view} BY NAME"
        return answer_of(connection, sql)


def _views_in(sql: str) -> set[str]:
    """The views that a query may use: all names in the query; all small views without any."""
    named = VIEWS.keys() & set(re.findall(r"\w+", sql.lower()))
    return set(named) or set(VIEWS.keys() - big_tables_in(" ".join(VIEWS)))


def _opened(
    connection: DuckDBPyConnection, runs: Mapping[str, Path], views: set[str]
) -> Iterator[tuple[tuple[str, Path], DuckDBPyConnection]]:
    """Each run with a connection to a database of views; the next runs' are made meanwhile."""

    def load(number: int, run: Path) -> DuckDBPyConnection:
        log = connection.cursor()
        log.execute(f"ATTACH ':memory:' AS run_{number}; USE run_{number}")
        make_views(log, run, views)
        return log

    ahead = enumerate(runs.values())
    with ThreadPoolExecutor(THREADS) as pool:
        loading = deque(pool.submit(load, number, run) for number, run in islice(ahead, THREADS))
        for number, named in enumerate(runs.items()):
            with loading.popleft().result() as log:
                loading.extend(pool.submit(load, *following) for following in islice(ahead, 1))
                yield named, log
                log.execute(f"USE memory; DETACH run_{number}")
