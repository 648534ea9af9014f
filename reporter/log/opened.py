"""What a run's log is read from, whatever it is: the one interface that tables and queries are made by."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

from recorder.store import log_path
from reporter.log.sharded_log import opened_shards
from reporter.log.sqlite_log import opened_sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.segments import Node, Part, Segment


class Source(Protocol):
    """A log that is open for reading."""

    @property
    def at_once(self) -> bool:
        """Whether several threads can read it."""

    @property
    def scored_last(self) -> bool:
        """Whether who wrote it last scored it, and did not run it."""

    @property
    def nodes(self) -> Sequence[Node]:
        """Those of a run of several machines."""

    @property
    def segments(self) -> Sequence[Segment]:
        """All its segments."""

    def stream(
        self, connection: DuckDBPyConnection, selection: str, part: Part = "run"
    ) -> AbstractContextManager[None]:
        """Let the table `stream` of a database have the rows of a selection, while the context lasts.

        Args:
            connection: The database.
            selection: A query of `events`, `event_types`, `session` or `sittings`, in SQL that SQLite and
                DuckDB have in common, with names of events (reporter/log/event_codes.py).
            part: Which events it is to see.
        """


@contextmanager
def opened(run: Path) -> Iterator[Source]:
    """Open the log of a run.

    Args:
        run: The run's folder, or the log itself.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged.
    """
    with opened_sqlite(log_path(run)) as log, opened_shards(log) as whole:
        yield whole or log
