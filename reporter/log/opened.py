"""The interface to a run's log, of any kind, for making tables and running queries."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Protocol

from recorder.lock import is_held
from recorder.store import log_path
from reporter.errors import blaming
from reporter.json_values import document, members
from reporter.log.sqlite_log import opened_sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager
    from pathlib import Path

    from duckdb import DuckDBPyConnection

    from reporter.log.one_log import EventsFile, OneLog
    from reporter.log.segments import LoggedNode, Part, Segment
    from reporter.log.shard_files import ShardFiles
    from reporter.log.sqlite_log import SqliteLog


class OpenSource(Protocol):
    """A log that is open for reading."""

    @property
    def at_once(self) -> bool:
        """Whether several threads can read the log."""

    @property
    def scored_last(self) -> bool:
        """Whether the last writer of the log scored the run rather than ran."""

    @property
    def nodes(self) -> Sequence[LoggedNode]:
        """Those of a run of several machines."""

    @property
    def segments(self) -> Sequence[Segment]:
        """All segments."""

    @property
    def events_files(self) -> list[EventsFile] | None:
        """The logs for compiled code; None where compiled code cannot read the logs."""

    def has_right_types(self) -> None:
        """Compiled code has checked the types of the values of all events but their texts."""

    def stream(
        self, connection: DuckDBPyConnection, selection: str, part: Part = "run"
    ) -> AbstractContextManager[None]:
        """Let the table `stream` of a database have the rows of a selection, while the context lasts.

        Args:
            connection: The database.
            selection: A query of `events`, `event_types`, `session` or `segments`, in SQL that SQLite and
                DuckDB have in common, with names of events (reporter/log/sql_files.py).
            part: Which events it is to see.
        """

    def texts(self, seqs: Sequence[int]) -> Mapping[int, str]:
        """The texts of events, as JSON, by number."""


@contextmanager
def opened(run: Path) -> Iterator[OpenSource]:
    """Open the log of a run, or all logs as one; without a log, the archive.

    Raises:
        LogError: It is not a log that this version reads, or it is damaged; also in the context, where that
            is noticed by what is computed from it.
        NoRoomError: Memory and temporary disk space are too small for it.
    """
    with ExitStack() as stack:
        stack.enter_context(blaming(log_path(run)))
        if not log_path(run).exists():
            # What reads archives takes as long to import as a small table to make.
            from reporter.log.archived_log import opened_archive
            from reporter.log.storage_place import archive_of

            archived = archive_of(run)
            if archived is not None:
                coordinator, *archived_shards = stack.enter_context(opened_archive(archived))
                of_run = shards_of(coordinator)
                yield coordinator if of_run is None else _as_one(coordinator, of_run, archived_shards)
                return
        log = stack.enter_context(opened_sqlite(log_path(run)))
        of_run = shards_of(log)
        if of_run is None:
            yield log
        else:
            from reporter.log.shard_files import opened_shards

            is_running = is_held(log_path(run).resolve().parent)
            logs = stack.enter_context(opened_shards(of_run, is_running=is_running))
            yield _as_one(log, of_run, logs)


@contextmanager
def each_log(run: Path) -> Iterator[list[SqliteLog]]:
    """Open the logs of a run separately: the log in the folder, then the shards.

    Raises:
        LogError: One is not a log of the run that this version reads, or is damaged.
    """
    with ExitStack() as stack:
        log = stack.enter_context(opened_sqlite(log_path(run)))
        of_run = shards_of(log)
        if of_run is None:
            yield [log]
            return
        from reporter.log.shard_files import opened_shards

        logs = stack.enter_context(opened_shards(of_run))
        _as_one(log, of_run, logs)  # all of this run
        yield [log, *logs]


def shards_of(log: OneLog) -> ShardFiles | None:
    """The shards of a run of several machines, which alone loads their code; None for a run with one log."""
    environments = log.select("SELECT environment FROM session")
    if not any(members(document(environment)).get("kind") for (environment,) in environments):
        return None
    from reporter.log.shard_files import shard_files

    return shard_files(log)


def _as_one(coordinator: OneLog, of_run: ShardFiles, logs: Sequence[OneLog]) -> OpenSource:
    from reporter.log.sharded_log import ShardedLog

    return ShardedLog(coordinator, of_run.nodes, logs)
