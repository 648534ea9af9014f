"""The places of a run's shards, from the coordinator's log."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from recorder import shards
from recorder.errors import BeingWrittenError, LogError, NotALogError
from recorder.session import boot_id
from recorder.store import LOG_NAME
from reporter.json_values import document, members, text
from reporter.log.fetched_shards import fetched, stored_shards
from reporter.log.sqlite_log import opened_sqlite
from reporter.log.storage_place import store_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reporter.log.one_log import OneLog
    from reporter.log.sqlite_log import SqliteLog

_OF_SEGMENTS: Final = "SELECT environment FROM sittings ORDER BY sitting"


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """The shards of a run.

    Attributes:
        nodes: The boot of each node's machine, by the node's name; empty where that is unknown.
        folder: The folder that has a folder for each node.
        store: The address in an object store to which nodes upload their logs when they are over; those that
            could not are in the folder.
    """

    nodes: Mapping[str, str]
    folder: Path
    store: str | None = None

    @classmethod
    def named_by(cls, environments: Sequence[Mapping[str, Any]], coordinator: Path) -> Self | None:
        """The shards named by a log; None for a run with a single log.

        Args:
            environments: Those of its segments.
            coordinator: Its path.
        """
        environments = [of_run for of_run in environments if of_run.get("kind") == shards.COORDINATOR]
        if not environments:
            return None
        nodes = [members(facts) for of_run in environments for facts in _list(of_run.get("shards"))]
        path = text(environments[-1].get("shards_path"))
        store = None if path is None else store_address(path)
        folder = coordinator.parent / shards.FOLDER if path is None or store else Path(path)
        boots = {str(facts.get("shard")): text(facts.get("boot_id")) or "" for facts in nodes}
        return cls(boots, folder, store)

    def log(self, node: str) -> Path:
        """The place of a node's growing log, if not on the node."""
        return shards.shard_log(self.folder, node)

    def is_elsewhere(self, node: str) -> bool:
        """Whether another machine writes a node's log."""
        return self.nodes[node] not in {"", boot_id()}

    def opened(
        self, node: str, log: Path | None = None, after_seq: int = 0
    ) -> AbstractContextManager[SqliteLog]:
        """Open a node's log.

        Args:
            node: The node.
            log: Where it is, if not in the folder.
            after_seq: The number of the last event whose values have been checked.

        Raises:
            LogError: It is not a log that this version reads, or it is damaged.
            BeingWrittenError: Another machine writes it faster than it can be copied.
        """
        is_elsewhere = self.is_elsewhere(node)
        return opened_sqlite(log or self.log(node), node, is_elsewhere=is_elsewhere, after_seq=after_seq)


def shard_files(coordinator: OneLog) -> ShardFiles | None:
    """The shards of a run; None for a run with a single log."""
    environments = [members(document(json)) for (json,) in coordinator.select(_OF_SEGMENTS)]
    return ShardFiles.named_by(environments, coordinator.path)


@contextmanager
def opened_shards(of_run: ShardFiles, *, is_running: bool = False) -> Iterator[list[SqliteLog]]:
    """Open the shards that there are.

    Args:
        of_run: They.
        is_running: Whether the run is in progress, so that one may still be made.

    Raises:
        LogError: One is not of a node of the run, or is damaged; or the object store cannot be reached.
        NoRoomError: Memory and temporary disk space are too small for copies of them.
    """
    here = {log.parent.name for log in of_run.folder.glob(f"*/{LOG_NAME}")}
    stored = {} if of_run.store is None else stored_shards(of_run.store)
    if strange := sorted((here | stored.keys()) - of_run.nodes.keys()):
        where = of_run.folder if strange[0] in here else of_run.store
        raise LogError(
            f"{where}/{strange[0]}: not a node of this run, which has "
            f"{', '.join(sorted(of_run.nodes))}; move the folder away"
        )
    with ExitStack() as stack:
        logs = []
        for name in sorted(here):
            try:
                logs.append(stack.enter_context(of_run.opened(name)))
            except (NotALogError, BeingWrittenError):
                if not is_running:
                    raise
        to_fetch = {node: size for node, size in stored.items() if node not in here}
        if of_run.store is not None and to_fetch:
            folder = stack.enter_context(fetched(of_run.store, to_fetch))
            logs += [
                stack.enter_context(of_run.opened(node, shards.shard_log(folder, node))) for node in to_fetch
            ]
        yield logs


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
