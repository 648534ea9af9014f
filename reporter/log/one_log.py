"""A log of one process, open for reading, from any kind of file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from reporter.log.segments import LogSegments

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.segments import LoggedNode, Part, Segment


class LoggedSpan(NamedTuple):
    """A segment, for compiled code.

    Attributes:
        first_seq: The number of its first event, in its log.
        offset: What to add to the numbers of its events.
        shift_ns: What to add to their times.
        is_of_run: Whether they are the run's.
    """

    first_seq: int
    offset: int
    shift_ns: int
    is_of_run: bool


class EventsFile(NamedTuple):
    """Where compiled code finds the events of the requests of one log (reporter/log/_requests.c).

    Attributes:
        path: The SQLite file; empty for an archive.
        root: The first page of the table of events.
        spans: Its segments in order.
        stream: Of an archive a capsule with an Arrow stream of them, which is read instead (`_parts.h`).
    """

    path: str
    root: int
    spans: list[LoggedSpan]
    stream: object = None


def spans(segments: Sequence[Segment], offsets: Sequence[int]) -> list[LoggedSpan]:
    """Segments for compiled code; without offsets events keep their numbers."""
    return [
        LoggedSpan(segment.first_seq, offset, segment.shift_ns, not segment.is_aside)
        for segment, offset in zip(segments, offsets or [0] * len(segments), strict=True)
    ]


class OneLog(ABC):
    """A log of one process: a SQLite file, or an archive's.

    Attributes:
        path: Where it is, for messages.
        node: Of a shard its node.
        nodes: None: they are those of all logs together.
        at_once: Whether several threads can read it.
    """

    nodes: Sequence[LoggedNode] = ()
    at_once: bool

    def __init__(self, path: Path, node: str | None) -> None:
        self.path = path
        self.node = node
        self._own = LogSegments(self.select)

    @property
    def scored_last(self) -> bool:
        """Whether the last writer of the log scored the run rather than ran."""
        return self._own.scored_last

    @property
    def segments(self) -> Sequence[Segment]:
        """All segments in order."""
        return self._own.segments

    @contextmanager
    def stream(self, connection: DuckDBPyConnection, selection: str, part: Part = "run") -> Iterator[None]:
        """Let the table `stream` of a database have the rows of a selection, while the context lasts."""
        with self.batches(selection, part) as rows:
            connection.register("stream", rows)
            yield
            connection.unregister("stream")

    @property
    def events_files(self) -> list[EventsFile] | None:
        """This log for compiled code; None where compiled code cannot read the log."""
        file = self.events_file(self.segments)
        return None if file is None else [file]

    def has_right_types(self) -> None:  # noqa: B027 (most logs check nothing)
        """Compiled code has checked the types of the values of all events but their texts."""

    @abstractmethod
    def events_file(self, segments: Sequence[Segment], offsets: Sequence[int] = ()) -> EventsFile | None:
        """This log for compiled code; None where compiled code cannot read the log."""

    @abstractmethod
    def batches(
        self, selection: str, part: Part = "run", offsets: Sequence[int] = ()
    ) -> AbstractContextManager[Any]:
        """The rows of a selection as an Arrow stream; blobs of chunk gaps become lists."""

    @abstractmethod
    def select(self, selection: str) -> list[tuple[Any, ...]]:
        """The rows of a query, few enough to be Python objects."""

    @abstractmethod
    def texts(self, seqs: Sequence[int]) -> Mapping[int, str]:
        """The texts of events, as JSON, by number.

        Raises:
            LogError: The log is damaged.
        """
