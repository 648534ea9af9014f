"""A run's growing logs: the outcomes of measured requests, from the new events.

The figures are those of the report: the new events, and those of the requests that have not ended, pass
through the tables and views of `reporter/sql/`, and the requests that ended are read from the view `samples`.
Each event is read once, and no text of any request. Of several machines no clock is shifted: a request's
figures are from the clock of the node that issued it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self

from lazy_dataclasses import dataclass
from recorder.errors import BeingWrittenError, NotALogError
from recorder.store import log_path
from reporter.errors import blaming
from reporter.late_read_bounds import ENDS, column
from reporter.log.chosen_tables import load_session
from reporter.log.database import define
from reporter.log.database_in_memory import empty_database
from reporter.log.opened import shards_of
from reporter.log.segments import SEQ_BITS
from reporter.log.sharded_log import require_own
from reporter.log.sql_files import execute_file, with_event_codes
from reporter.log.sqlite_log import opened_sqlite
from rulesets.definitions import CATEGORIES
from rulesets.early_failure import Ending, FigureBounds
from rulesets.metric_table import BY_NAME
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.sqlite_log import SqliteLog
    from rulesets.definitions import Definitions

_NEW_EVENTS: Final = """
    SELECT seq, code, at_ns, sample_uuid, coalesce(data, '') AS data FROM events
    WHERE seq > {last_seq:d} AND code BETWEEN EventType.LOADGEN_ISSUE_CALLED AND EventType.RETRY
        AND sample_uuid <> ''
    ORDER BY seq LIMIT {most:d}"""

MOST_EVENTS: Final = 100_000
"""Events of a log that a look reads, so that a long log takes little memory."""

_MAKE_PENDING: Final = """
    CREATE TABLE pending (seq BIGINT, code BIGINT, at_ns BIGINT, sample_uuid VARCHAR, data VARCHAR)"""

_ADD_PENDING: Final = """
    INSERT INTO pending
    SELECT seq + {offset:d}, code, at_ns, sample_uuid::VARCHAR, data::VARCHAR FROM stream"""

_LAST_SEQS: Final = f"SELECT seq >> {SEQ_BITS}, max(seq) FROM pending GROUP BY ALL"  # noqa: S608 (a constant)

_STREAMS: Final[Mapping[str, str]] = {
    # They decide which requests are asked again, which is of no interest while a run lasts.
    "episode_ends": "FROM pending WHERE false",
    "tree_ends": "FROM pending WHERE false",
    "marks": "FROM pending",
    "issues": "FROM pending WHERE code = EventType.LOADGEN_ISSUE_CALLED",
    "sends": "FROM pending WHERE code = EventType.REQUEST_SENT",
    # No figure of a whole request needs the times between its chunks.
    "requests": """
        SELECT *, NULL::UINTEGER[] AS chunk_gaps_us FROM pending
        WHERE code BETWEEN EventType.COMPLETE AND EventType.CANCELLED""",
}
"""What the SQL of each table reads as `stream`, in the order in which they are made."""

_DROP: Final = """
    DROP TABLE IF EXISTS requests; DROP TABLE IF EXISTS episode_ends; DROP TABLE IF EXISTS tree_ends"""

_IN_FLIGHT: Final = "SELECT node, segment, issued_ns FROM requests WHERE measured AND status = 'in_flight'"

ENDED: Final = "measured AND status IN ('completed', 'failed', 'cancelled')"
"""The condition for a measured request that is over."""

_ENDED: Final = f"SELECT status{{columns}} FROM samples WHERE {ENDED}"  # noqa: S608 (a constant)

_KEEP_IN_FLIGHT: Final = """
    CREATE OR REPLACE TABLE pending AS
    SELECT pending.* FROM pending JOIN requests USING (sample_uuid)
    WHERE status = 'in_flight' AND (measured OR phase IS NULL)"""


@dataclass(frozen=True, slots=True)
class EndedRequest:
    """A measured request that is over.

    Attributes:
        figures: If it completed, its latencies in ms and its lengths in tokens by metric, each with the least
            and the most that it can be.
    """

    ending: Ending
    figures: Mapping[str, FigureBounds]


class UnendedRequest(NamedTuple):
    """A measured request in flight; the node is None for a run of one machine."""

    node: str | None
    segment: int
    issued_ns: int


def followed_metrics(definitions: Definitions) -> frozenset[str]:
    """The metrics that depend only on a request's own events, under these definitions."""
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
    """A reader of a log in progress; for a run of several machines, also of the nodes' logs.

    Args:
        log: The log's path; of several machines, that of the coordinator.
        definitions: What the figures mean.
        metrics: The metrics to compute, of `followed_metrics`.
        shards: The logs of the nodes, by their names; each may appear later. None for where the coordinator's
            log says that they are.

    Attributes:
        issued: How many measured requests have been issued, by the logs that are there.
        awaited: The nodes whose logs are not there yet, as of the last look.
        in_flight: The measured requests in flight.
        is_behind: Whether the last look left events for the next one.
    """

    def __init__(
        self,
        log: Path,
        definitions: Definitions,
        metrics: Collection[str],
        shards: Mapping[str, Path] | None = None,
    ) -> None:
        self.issued = 0
        self.awaited: tuple[str, ...] = ()
        self.in_flight: list[UnendedRequest] = []
        self.is_behind = False
        self._log = log
        self._shards = shards
        self._definitions = definitions
        self._metrics = sorted(metrics)
        self._query = _ENDED.format(
            columns="".join(f", {columns}" for columns in map(_bounds_of, self._metrics))
        )
        self._last_seqs: dict[int, int] = {}
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
            LogError: It is not a log that this version reads, or it is damaged; or a shard is of another run.
            NoRoomError: Memory and temporary disk space are too small for the figures.
        """
        return [EndedRequest(ending, self._figures(values)) for ending, *values in self.rows(self._query)]

    def rows(self, ended: str) -> list[tuple[Any, ...]]:
        """The measured requests that have ended since the last call, by a query.

        Args:
            ended: SQL over the view `samples`; it names `ENDED`, which keeps the other requests out.

        Raises:
            LogError, NoRoomError: See `ended`.
        """
        self.is_behind = False
        connection = self._connection = self._connection or self._opened()
        with opened_sqlite(log_path(self._log), after_seq=self._last_seq(0)) as log:
            self._add_events(connection, log, 0)
            self._add_shards(connection, log)
        new = {
            number: last_seq
            for number, last_seq in connection.execute(_LAST_SEQS).fetchall()
            if last_seq > self._last_seqs.get(number, 0)
        }
        if not new:
            return []
        self._last_seqs |= new
        with blaming(log_path(self._log)):
            _make_requests(connection)
            rows = connection.execute(ended).fetchall()
            self.in_flight = [UnendedRequest(*row) for row in connection.execute(_IN_FLIGHT).fetchall()]
        connection.execute(_KEEP_IN_FLIGHT)
        self._ended += len(rows)
        self.issued = self._ended + len(self.in_flight)
        return rows

    def _add_shards(self, connection: DuckDBPyConnection, coordinator: SqliteLog) -> None:
        """Add the new events of each node's log; event numbers carry the node above `SEQ_BITS`."""
        files = shards_of(coordinator)
        if files is None:
            return
        awaited = []
        for number, node in enumerate(sorted(files.nodes), start=1):
            try:
                path = (self._shards or {}).get(node)
                with files.opened(node, path, self._last_seq(number)) as shard:
                    require_own(coordinator, shard)
                    self._add_events(connection, shard, number)
            except (NotALogError, BeingWrittenError):
                awaited.append(node)
        self.awaited = tuple(awaited)

    def _add_events(self, connection: DuckDBPyConnection, log: SqliteLog, number: int) -> None:
        query = _NEW_EVENTS.format(last_seq=self._last_seq(number), most=MOST_EVENTS)
        with log.stream(connection, query):
            ((added,),) = connection.execute(_ADD_PENDING.format(offset=number << SEQ_BITS)).fetchall()
        self.is_behind |= added == MOST_EVENTS

    def _last_seq(self, number: int) -> int:
        """The number of the last event of a log that has been read, in that log."""
        offset = number << SEQ_BITS
        return self._last_seqs.get(number, offset) - offset

    def _opened(self) -> DuckDBPyConnection:
        connection = empty_database()
        try:
            # The run needs the other cores.
            connection.execute("SET threads = 1")
            connection.execute("SET VARIABLE unended = 'running'")
            with opened_sqlite(log_path(self._log)) as log:
                load_session(connection, log)
            define(connection, self._definitions)
            connection.execute(_MAKE_PENDING)
            _make_requests(connection)
            for view in ("recounted", "counted", "samples"):
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
        if table == "requests":
            execute_file(connection, "joined_events")
        execute_file(connection, table)
    execute_file(connection, "settled")
    connection.execute("DROP VIEW stream")


def _bounds_of(metric: str) -> str:
    """The columns of `samples` with the least and the most that a metric can be, if the request completed."""
    low, high = (column(metric, end) for end in ENDS)
    # What the server does not count is not guessed: a tokenizer may count it after the run.
    is_counted = "status = 'completed'"
    if "tokens" in BY_NAME[metric].needs and metric != "input_tokens":
        is_counted += " AND token_source = 'server_usage'"
    return f"CASE WHEN {is_counted} THEN {low} END, CASE WHEN {is_counted} THEN {high} END"
