"""The logs of a run of several machines, read as one (recorder/shards.py has the layout).

The coordinator's log says what was run; the shards have the requests. Times of a shard are shifted onto the
coordinator's clock. An event of a shard has the number of its segment in its own upper bits, counted
through all shards, so that numbers are unique, and the same in whatever order shards are read.
"""

from __future__ import annotations

from bisect import bisect_right
from contextlib import ExitStack, contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from recorder import shards
from recorder.errors import LogError
from reporter.json_values import document, members, text
from reporter.log.node_clock import NodeClock, fitted
from reporter.log.segments import SEQ_BITS, LoggedNode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from duckdb import DuckDBPyConnection

    from reporter.log.one_log import EventsFile, OneLog
    from reporter.log.segments import Part, Segment

_HEAD: Final = "SELECT session_id, environment, started_at_ns, started_wall_ns FROM session"

_ANCHORS: Final = "SELECT started_at_ns, environment FROM sittings ORDER BY sitting"

_READINGS: Final = f"""
    SELECT seq, at_ns, data FROM main.events
    WHERE code = EventType.TELEMETRY AND instr(data, '"{shards.SOURCE}"') > 0 ORDER BY seq"""  # noqa: S608


@dataclass(frozen=True, slots=True)
class _Shard:
    """A shard: the log, and each segment as one of the run."""

    log: OneLog
    segments: tuple[Segment, ...]
    clock: NodeClock
    first_number: int = 0

    @property
    def offsets(self) -> list[int]:
        """The offset of event numbers in each segment."""
        return [self.first_number + place << SEQ_BITS for place in range(len(self.segments))]


class ShardedLog:
    """The logs of a run, open for reading.

    Raises:
        LogError: A shard is not of this run, or is there twice.
    """

    def __init__(self, coordinator: OneLog, expected: Collection[str], logs: Sequence[OneLog]) -> None:
        self._coordinator = coordinator
        readings = _readings(coordinator)
        self._shards: list[_Shard] = []
        nodes: dict[str, LoggedNode] = {
            name: LoggedNode(name, is_here=False, clock=None) for name in expected
        }
        number = 1  # whatever the coordinator's log has: it may be scored meanwhile
        for log in sorted(logs, key=lambda log: log.node or ""):
            shard = _shard(coordinator, log, readings, number)
            self._shards.append(shard)
            nodes[log.node or ""] = LoggedNode(log.node or "", is_here=True, clock=shard.clock)
            number += len(shard.segments)
        self.nodes = tuple(nodes[name] for name in sorted(nodes))

    @property
    def at_once(self) -> bool:
        """Whether several threads can read the log."""
        return self._coordinator.at_once and all(shard.log.at_once for shard in self._shards)

    @property
    def scored_last(self) -> bool:
        """Whether the last writer of the coordinator's log scored the run rather than ran."""
        return self._coordinator.scored_last

    @property
    def segments(self) -> list[Segment]:
        """Those of the coordinator's log, then those of each shard, by the names of the nodes."""
        return [
            *self._coordinator.segments,
            *(segment for shard in self._shards for segment in shard.segments),
        ]

    @property
    def events_files(self) -> list[EventsFile] | None:
        """The logs for compiled code; None where compiled code cannot read all."""
        files = [
            self._coordinator.events_file(self._coordinator.segments),
            *(shard.log.events_file(shard.segments, shard.offsets) for shard in self._shards),
        ]
        there = [file for file in files if file is not None]
        return there if len(there) == len(files) else None

    def has_right_types(self) -> None:
        """See `OpenSource`."""
        for log in (self._coordinator, *(shard.log for shard in self._shards)):
            log.has_right_types()

    @contextmanager
    def stream(self, connection: DuckDBPyConnection, selection: str, part: Part = "run") -> Iterator[None]:
        """Let the table `stream` of a database have the rows of a selection, while the context lasts."""
        with ExitStack() as stack:
            if part == "head":
                rows = stack.enter_context(self._coordinator.batches(selection))
            else:
                rows = _chained(self._each(selection, part))
            connection.register("stream", rows)
            yield
            connection.unregister("stream")

    def texts(self, seqs: Sequence[int]) -> Mapping[int, str]:
        """The texts of events, as JSON, by number."""
        texts = dict(self._coordinator.texts([seq for seq in seqs if not seq >> SEQ_BITS]))
        for shard in self._shards:
            for offset in shard.offsets:
                own = [seq - offset for seq in seqs if seq >> SEQ_BITS == offset >> SEQ_BITS]
                texts |= {seq + offset: text for seq, text in (shard.log.texts(own) if own else {}).items()}
        return texts

    def _each(self, selection: str, part: Part) -> Iterator[Any]:
        """The rows of each log in turn."""
        with self._coordinator.batches(selection, part) as rows:
            yield rows
        for shard in self._shards:
            with shard.log.batches(selection, part, shard.offsets) as rows:
                yield rows


def _shard(
    coordinator: OneLog,
    log: OneLog,
    readings: Mapping[tuple[str, int], list[shards.ClockReading]],
    first_number: int,
) -> _Shard:
    """The shard of a node, with the clock readings of each segment.

    Raises:
        LogError: It is not that node's of this run.
    """
    whole, own, name = _head(coordinator), require_own(coordinator, log), log.node or ""
    # By the wall clocks, of which it is not known how far they differ.
    clock = NodeClock(own.wall_ahead_ns - whole.wall_ahead_ns, None, 0)
    segments = []
    for segment, started_at_ns in zip(log.segments, own.started_at_ns, strict=True):
        of_run = coordinator.segments[0]
        for place, later in enumerate(coordinator.segments):
            read = fitted(readings.get((name, place), ())) or clock
            if started_at_ns + read.shift_ns >= whole.started_at_ns[place] or not place:
                clock, of_run = read, later
        segments.append(
            replace(segment, shift_ns=clock.shift_ns + of_run.shift_ns, of_run=of_run.of_run, node=name)
        )
    return _Shard(log, tuple(segments), clock, first_number)


def require_own(coordinator: OneLog, log: OneLog) -> LogOpening:
    """Check that a log is the node's log of this run; return the head.

    Raises:
        LogError: It is not, or is damaged.
    """
    whole, own = _head(coordinator), _head(log)
    if own.session_id != whole.session_id:
        raise LogError(
            f"{log.path}: the log of another session than this run's ({own.session_id}, not "
            f"{whole.session_id}); move it away"
        )
    if own.node != log.node:
        raise LogError(f"{log.path}: the log of {own.node}, in the folder of {log.node}; move it away")
    return own


@dataclass(frozen=True, slots=True)
class LogOpening:
    """The head of a log.

    Attributes:
        wall_ahead_ns: The wall clock less the monotonic clock, at the start.
        started_at_ns: The monotonic clock at the start of each segment.
    """

    session_id: str
    node: str | None
    wall_ahead_ns: int
    started_at_ns: Sequence[int]


def _head(log: OneLog) -> LogOpening:
    rows = log.select(_HEAD)
    if not rows:
        raise LogError(f"{log.path}: the log is damaged: no settings")
    ((session_id, environment, started_at_ns, started_wall_ns),) = rows
    starts = [started_at_ns for started_at_ns, *_ in log.select(_ANCHORS)]
    node = text(members(document(environment)).get("shard"))
    return LogOpening(str(session_id), node, started_wall_ns - started_at_ns, starts)


def _readings(coordinator: OneLog) -> dict[tuple[str, int], list[shards.ClockReading]]:
    """The readings of each node's clock in each segment of the coordinator's log."""
    readings: dict[tuple[str, int], list[shards.ClockReading]] = {}
    first_seqs = [segment.first_seq for segment in coordinator.segments]
    for seq, at_ns, data in coordinator.select(_READINGS):
        try:
            reading = shards.ClockReading.of(at_ns, members(document(data)))
        except (KeyError, TypeError, ValueError) as error:
            raise LogError(
                f"{coordinator.path}: the log is damaged: a reading of a clock ({error})"
            ) from error
        place = bisect_right(first_seqs, seq) - 1
        readings.setdefault((reading.node, place), []).append(reading)
    return readings


def _chained(streams: Iterator[Any]) -> Any:
    """Arrow streams one after the other, of which each is opened when the one before has ended.

    The driver takes the types of columns from the first rows, so a stream without rows does not know them.
    """
    from pyarrow import RecordBatchReader

    schema = None
    batches: Iterator[Any] = iter(())
    for stream in streams:
        schema = schema or stream.schema
        first = next((batch for batch in stream if len(batch)), None)
        if first is not None:
            schema = first.schema
            batches = chain([first], stream, (batch for later in streams for batch in later))
            break
    return RecordBatchReader.from_batches(schema, (batch.cast(schema) for batch in batches if len(batch)))
