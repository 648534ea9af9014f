"""A run's log as it grows: the outcomes of its measured requests, from the new events.

The figures are those of the report: the new events, and those of the requests that have not ended, pass
through the tables and views of `reporter/sql/`, and the requests that ended are read from the view `samples`.
Each event is read once, and no text of any request.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Self

from reporter.bounds import ENDS, column
from reporter.log.database_in_memory import empty_database
from reporter.log.definitions import define
from reporter.log.event_codes import with_event_codes
from reporter.log.sql_files import execute_file
from reporter.log.tables import load_session, read_stream
from rulesets.definitions import CATEGORIES
from rulesets.lost import Ending, FigureBounds
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from rulesets.definitions import Definitions

_NEW_EVENTS: Final = """
    SELECT seq, code, at_ns, sample_uuid, coalesce(data, '') AS data FROM events
    WHERE seq > {last_seq:d} AND code BETWEEN EventType.LOADGEN_ISSUE_CALLED AND EventType.RETRY
        AND sample_uuid <> ''"""

_MAKE_PENDING: Final = """
    CREATE TABLE pending (seq BIGINT, code BIGINT, at_ns BIGINT, sample_uuid VARCHAR, data VARCHAR)"""

_ADD_PENDING: Final = """
    INSERT INTO pending SELECT seq, code, at_ns, sample_uuid::VARCHAR, data::VARCHAR FROM stream"""

_STREAMS: Final[Mapping[str, str]] = {
    # They decide which requests are asked again, which is of no interest while a run lasts.
    "episode_ends": "FROM pending WHERE false",
    "marks": "FROM pending",
    "issues": "FROM pending WHERE code = EventType.LOADGEN_ISSUE_CALLED",
    "sends": "FROM pending WHERE code = EventType.REQUEST_SENT",
    # No figure of a whole request needs the times between its chunks.
    "requests": """
        SELECT *, NULL::UINTEGER[] AS chunk_gaps_us FROM pending
        WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED""",
}
"""What the SQL of each table reads as `stream`, in the order in which they are made."""

_DROP: Final = (
    "DROP TABLE IF EXISTS requests; DROP TABLE IF EXISTS client_tokens; DROP TABLE IF EXISTS episode_ends"
)

_IN_FLIGHT: Final = "SELECT count(*) FROM requests WHERE measured AND status = 'in_flight'"

_ENDED: Final = """
    SELECT status{columns} FROM samples WHERE measured AND status IN ('completed', 'failed', 'cancelled')"""

_KEEP_IN_FLIGHT: Final = """
    CREATE OR REPLACE TABLE pending AS
    SELECT pending.* FROM pending JOIN requests USING (sample_uuid)
    WHERE status = 'in_flight' AND (measured OR phase IS NULL)"""


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A measured request that is over.

    Attributes:
        ending: How it ended.
        figures: If it completed, its latencies in ms and its lengths in tokens by metric, each with the least
            and the most that it can be.
    """

    ending: Ending
    figures: Mapping[str, FigureBounds]


def followed_metrics(definitions: Definitions) -> frozenset[str]:
    """Name the metrics whose figures a request's own events determine under these definitions."""
    server_counts = definitions.token_source in {None, "server_usage"}
    has_lengths = server_counts and set(definitions.token_categories) == set(CATEGORIES)
    has_tpot = definitions.tpot_denominator != "tokens_after_first_chunk"
    return frozenset(
        metric.name
        for metric in REQUEST_METRICS
        if metric.while_running
        and (has_lengths or "tokens" not in metric.needs)
        and (has_tpot or "tpot_denominator" not in metric.depends_on)
    )


class GrowingLog:
    """Reads a log while it is written.

    Args:
        log: The log's path.
        definitions: What the figures mean.
        metrics: The metrics to compute, of `followed_metrics`.

    Attributes:
        issued: How many measured requests have been issued.
    """

    def __init__(self, log: Path, definitions: Definitions, metrics: Collection[str]) -> None:
        self.issued = 0
        self._log = log
        self._definitions = definitions
        self._metrics = sorted(metrics)
        self._query = _ENDED.format(
            columns="".join(f", {columns}" for columns in map(_bounds_of, self._metrics))
        )
        self._last_seq = 0
        self._ended = 0
        self._connection: DuckDBPyConnection | None = None

    def __enter__(self) -> Self:
        """Nothing is read yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the database that the figures are computed in."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def ended(self) -> list[EndedRequest]:
        """The measured requests that have ended since the last call.

        Raises:
            LogError: It is not a log that this version reads, or it is damaged.
            NoRoomError: Memory and temporary disk space are too small for the figures.
        """
        connection = self._connection = self._connection or self._opened()
        read_stream(connection, self._log, _NEW_EVENTS.format(last_seq=self._last_seq), _ADD_PENDING)
        ((last_seq,),) = connection.execute("SELECT coalesce(max(seq), 0) FROM pending").fetchall()
        if last_seq <= self._last_seq:
            return []
        self._last_seq = last_seq
        _make_requests(connection)
        ((in_flight,),) = connection.execute(_IN_FLIGHT).fetchall()
        rows = connection.execute(self._query).fetchall()
        connection.execute(_KEEP_IN_FLIGHT)
        self._ended += len(rows)
        self.issued = self._ended + in_flight
        return [EndedRequest(ending, self._figures(values)) for ending, *values in rows]

    def _opened(self) -> DuckDBPyConnection:
        connection = empty_database()
        try:
            # The run needs the other cores.
            connection.execute("SET threads = 1")
            connection.execute("SET VARIABLE unended = 'running'")
            load_session(connection, self._log)
            define(connection, self._definitions)
            connection.execute(_MAKE_PENDING)
            execute_file(connection, "endings")
            _make_requests(connection)
            for view in ("counted", "samples"):
                execute_file(connection, view)
        except BaseException:
            connection.close()
            raise
        return connection

    def _figures(self, values: list[float | None]) -> dict[str, FigureBounds]:
        pairs = zip(self._metrics, values[::2], values[1::2], strict=True)
        return {
            name: FigureBounds(low, high) for name, low, high in pairs if low is not None and high is not None
        }


def _make_requests(connection: DuckDBPyConnection) -> None:
    """Make the table `requests` of the events that are pending."""
    connection.execute(_DROP)
    for table, stream in _STREAMS.items():
        connection.execute(f"CREATE OR REPLACE TEMP VIEW stream AS {with_event_codes(stream)}")
        execute_file(connection, table)
    connection.execute("DROP VIEW stream")


def _bounds_of(metric: str) -> str:
    """The columns of `samples` with the least and the most that a metric can be, if the request completed."""
    low, high = (column(metric, end) for end in ENDS)
    # What the server does not count is not guessed: a tokenizer may count it after the run.
    is_counted = "status = 'completed'"
    if "tokens" in BY_NAME[metric].needs and metric != "input_tokens":
        is_counted += " AND token_source = 'server_usage'"
    return f"CASE WHEN {is_counted} THEN {low} END, CASE WHEN {is_counted} THEN {high} END"
