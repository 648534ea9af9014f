"""The one bridge from the log, which is SQLite, to SQL that can count: Arrow streams into DuckDB.

`reporter/sql/` holds one file a table or view; docs/sql.md describes the public ones. Tables are made when
the log is opened, and what they need of its payloads is parsed while it streams, so that no JSON is kept. The
texts and the raw events are big and are only loaded where they are asked for.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Final

from reporter.log.database_in_memory import THREADS
from reporter.log.opened import opened
from reporter.log.requests_table import RARE, compiled_requests, join_by_sql
from reporter.log.segments import segment_macros
from reporter.log.sql_files import execute_file, needed, with_event_codes

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.opened import OpenSource
    from reporter.log.requests_table import CompiledRequests
    from reporter.log.segments import Part
    from reporter.log.sql_files import Temporary

# The driver takes a column's type from its first rows, and a NULL for an integer: so no NULL may reach it.
TABLES: Final[Mapping[str, str | None]] = {
    "clocks": """
        SELECT segment, first_seq, started_at_ns, started_wall_ns, shift_ns, environment,
            complete_until_ns, written_ns
        FROM segments ORDER BY segment""",
    "session": "SELECT session_id, started_at_ns, started_wall_ns, settings, environment FROM session",
    "credible": None,
    "requests": None,
    "session_events": """
        SELECT seq, name AS type, at_ns, coalesce(data, '') AS data FROM events JOIN event_types USING (code)
        WHERE code < EventType.QUESTION OR code = EventType.SENSOR_STARTED""",
    "extent": "SELECT coalesce(max(seq), 0) AS last_seq FROM main.events",
    "segment_ends": None,
    "phases": None,
    "telemetry": None,
    "findings": None,
    "episode_ends": """
        SELECT seq, at_ns, coalesce(data, '') AS data FROM events WHERE code = EventType.EPISODE_ENDED""",
    "tree_ends": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.TREE_ENDED",
    "settled": None,
    "unencoded": """
        SELECT name AS type FROM events JOIN event_types USING (code)
        WHERE substr(data, 1, 16) = '{"encode_error":' AND (
            code IN (EventType.LOADGEN_ISSUE_CALLED, EventType.REQUEST_SENT)
            OR code BETWEEN EventType.COMPLETE AND EventType.CANCELLED
        )""",
    "windows": None,
    "measured_window": None,
    "segments": None,
    "sittings": None,
    "nodes": None,
    "definitions": None,
    "recounted": None,
    "early": None,
    "chunks": None,
    "gap_bounds": None,
    "violations": None,
    "gap_counts": None,
}
"""What is made when a log is opened, in this order, and what SQLite streams to it."""

SAMPLE_VIEWS: Final[Mapping[str, Temporary]] = {
    "counted": "TABLE",
    "samples": "TABLE",
    "arriving": "VIEW",
    "arrived": "VIEW",
}
"""The views that DuckDB takes 30 ms to plan, and what a report of few requests has in place of each."""

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
    "tool_calls": "SELECT seq, coalesce(data, '') AS data FROM events WHERE code = EventType.TOOL_CALLED",
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
    "tree_turns": """
        SELECT sample_uuid, data FROM events
        WHERE code = EventType.LOADGEN_ISSUE_CALLED AND instr(data, '"tree":') > 0""",
    "results": """
        SELECT sample_uuid, data FROM events
        WHERE code = EventType.COMPLETE AND instr(data, '"results":') > 0""",
    "vectors": None,
    "agreement": None,
    "session_turns": None,
    "sessions": None,
    "episodes": None,
    "open_episodes": None,
    "asked": None,
    "scores": None,
    "reported_passes": None,
    "sensor_readings": """
        SELECT seq, at_ns, coalesce(data, '') AS data FROM events
        WHERE code = EventType.SENSOR_READING AND texts IS NULL""",
    "sensors": None,
    "server_metrics": None,
    "server_pages": """
        SELECT seq, at_ns, coalesce(data, '') AS data, texts FROM events
        WHERE code = EventType.SENSOR_READING AND texts IS NOT NULL""",
    "server_times": None,
    "speculation": None,
    "speculation_counters": None,
    "power_spans": None,
    "energy_flow": None,
    "request_energy": None,
}
"""What is made on demand, in this order."""

ON_DEMAND: Final = {**dict.fromkeys(SAMPLE_VIEWS), **BIG_TABLES}

_FEW: Final = frozenset({"session_events", "unencoded", "episode_ends", "tree_ends"})
"""The names of `TABLES` with few events among many, which a single scan of the log finds together."""

_FEW_EVENTS: Final = f"""
    SELECT seq, code, name, at_ns, coalesce(data, '') AS data FROM events JOIN event_types USING (code)
    WHERE code < EventType.LOADGEN_ISSUE_CALLED AND code IN ({", ".join(map(str, map(int, RARE)))})"""  # noqa: S608 (numbers)
"""The first comparison is the only one for the many events of requests."""

_OR_UNENCODED: Final = """
        OR data BETWEEN '{"encode_error":' AND '{"encode_error;'"""
"""Compiled code, which reads the data of requests anyhow, gives up where it finds one."""


def _of_numbers(noted: list[int] | None) -> str:
    """The condition for the events that compiled code noted, if it did."""
    return "" if noted is None else f" AND seq IN ({', '.join(map(str, noted))})"


_PARTS: Final[Mapping[str, Part]] = {
    "clocks": "head",
    "extent": "head",
    "session": "head",
    "events": "whole",
    "passes": "aside",
    "scored": "aside",
    "judge_calls": "aside",
}
"""What is not about the run alone, or not about all its logs."""

_EXISTING: Final = """
    SELECT table_name FROM duckdb_tables()
    UNION ALL SELECT view_name FROM duckdb_views() WHERE NOT internal"""

_UNKNOWN: Final = (None, None, 0, True)
"""The clock of a node whose shard is missing."""


def load_on_demand(connection: DuckDBPyConnection, run: Path, names: Collection[str]) -> None:
    """Load the `SAMPLE_VIEWS` and `BIG_TABLES` that a database does not have yet.

    Raises:
        LogError: As for `load`.
    """
    if not names:
        return
    existing = {name for (name,) in connection.execute(_EXISTING).fetchall()}
    # The views read none of the big tables, whose files need not be searched for them.
    files = SAMPLE_VIEWS if SAMPLE_VIEWS.keys() >= set(names) else ON_DEMAND
    wanted = needed(names, files) - existing
    for name in SAMPLE_VIEWS:
        if name in wanted:
            execute_file(connection, name)
    missing = {name: source for name, source in BIG_TABLES.items() if name in wanted}
    if missing:
        load(connection, run, missing, at_once=THREADS)


def big_tables_in(query: str) -> set[str]:
    """The `BIG_TABLES` that a query may use: those whose names occur as words."""
    return BIG_TABLES.keys() & set(re.findall(r"\w+", query.lower()))


def load(
    connection: DuckDBPyConnection, run: Path, tables: Mapping[str, str | None], at_once: int = 1
) -> None:
    """Make tables and views of a log.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
    """
    with opened(run) as log:
        requests = compiled_requests(log) if "requests" in tables else None
        load_from(connection, log, tables, at_once, requests)


def load_from(
    connection: DuckDBPyConnection,
    log: OpenSource,
    tables: Mapping[str, str | None],
    at_once: int = 1,
    requests: CompiledRequests | None = None,
) -> None:
    """Make tables and views of an open log; `requests` are those that compiled code reads."""
    if log.scored_last:
        # The process that holds it now scores it, and does not run it.
        connection.execute("SET VARIABLE unended = 'cut_off'")
    if "clocks" in tables:
        make_segments(connection, log)
    if at_once > 1 and log.at_once:
        streams = {name: selection for name, selection in tables.items() if selection is not None}
        _make_at_once(connection, log, streams, at_once)
        tables = {name: None for name in tables if name not in streams}
    with closing(requests) if requests is not None else nullcontext():
        joined: CompiledRequests | None = None
        few = tables.keys() & _FEW if len(tables.keys() & _FEW) > 1 else frozenset()
        few_events: FewEvents | None = None
        for name, selection in tables.items():
            if name == "requests":
                if requests is not None and requests.are_joined(connection):
                    joined = requests
                    log.has_right_types()
                else:
                    join_by_sql(connection, log)
            elif name in few:
                if few_events is None:
                    few_events = FewEvents()
                    of_requests = _OR_UNENCODED if joined is None else _of_numbers(joined.noted())
                    _make(connection, log, "few_events", _FEW_EVENTS + of_requests)
                _make(connection, few_events, name, selection)
            elif name == "settled" and joined is not None:
                joined.settle(connection)
            else:
                _make(connection, log, name, selection)
        connection.execute("DROP TABLE IF EXISTS few_events")


def make_segments(connection: DuckDBPyConnection, log: OpenSource) -> None:
    """Make what shifts the clocks of a log's segments, and the table of nodes."""
    connection.execute(segment_macros(log.segments))
    execute_file(connection, "shifted")
    execute_file(connection, "node_logs")
    for node in log.nodes:
        clock = node.clock
        reading = clock and (clock.shift_ns, clock.uncertainty_ns, clock.readings, clock.is_steady)
        connection.execute(
            "INSERT INTO node_logs VALUES (?, ?, ?, ?, ?, ?)",
            [node.name, node.is_here, *(reading or _UNKNOWN)],
        )


def _make(
    connection: DuckDBPyConnection, log: OpenSource | FewEvents, name: str, selection: str | None
) -> None:
    if selection is None:
        execute_file(connection, name)
    else:
        with log.stream(connection, selection, _PARTS.get(name, "run")):
            execute_file(connection, name)


def _make_at_once(
    connection: DuckDBPyConnection, log: OpenSource, streams: Mapping[str, str], at_once: int
) -> None:
    """Make independent tables, several at a time: SQLite reads on one thread each."""

    def make(name: str) -> None:
        with connection.cursor() as own:
            _make(own, log, name, streams[name])

    with ThreadPoolExecutor(at_once) as pool:
        list(pool.map(make, streams))


_AS_A_LOG: Final = """
    CREATE TEMP VIEW stream AS
    WITH events AS (SELECT seq, code, at_ns, data FROM few_events),
    event_types AS (SELECT DISTINCT code, name FROM few_events)
"""


class FewEvents:
    """The events of a table `few_events` of the database, open for reading."""

    @contextmanager
    def stream(self, connection: DuckDBPyConnection, selection: str, part: Part = "run") -> Iterator[None]:  # noqa: ARG002
        """Let the table `stream` of a database have the rows of a selection, as `Source.stream` does."""
        connection.execute(_AS_A_LOG + with_event_codes(selection))
        yield
        connection.execute("DROP VIEW stream")
