"""The places of a run's shards, from the coordinator's log."""

from __future__ import annotations

import atexit
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import gettempdir, mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, Self

from lazy_dataclasses import dataclass, field
from recorder import shards
from recorder.errors import BeingWrittenError, LogError, NotALogError
from recorder.session import boot_id
from recorder.shards import shard_log
from recorder.store import LOG_NAME
from reporter.errors import NoRoomError
from reporter.json_values import document, members, text
from reporter.log.sqlite_log import opened_sqlite
from reporter.log.storage_place import place, store_address

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from reporter.log.one_log import OneLog
    from reporter.log.sqlite_log import SqliteLog


@dataclass(slots=True)
class _Copies:
    """The copies of the shards of a run.

    Attributes:
        sizes: The bytes of each, by its node.
    """

    folder: Path = field(default_factory=lambda: Path(mkdtemp(prefix="loadgen-shards-")))
    sizes: dict[str, int] = field(default_factory=dict)
    readers: int = 0


_COPIES: Final[dict[str, _Copies]] = {}
"""By the address of the run's shards."""

_CHANGING: Final = Lock()


def stored_shards(store: str) -> Mapping[str, int]:
    """The shards in an object store: bytes by folder name.

    Raises:
        LogError: It cannot be reached.
    """
    files = ((name.partition("/"), size) for name, size in place(store).sizes().items())
    return {node: size for (node, _, file), size in files if file == LOG_NAME}


@contextmanager
def fetched(store: str, sizes: Mapping[str, int]) -> Iterator[Path]:
    """Have copies of shards here while the context lasts.

    Yields:
        The folder with a folder for each.

    Raises:
        LogError: One cannot be read.
        NoRoomError: The folder of temporary files has no room for them.
    """
    with _CHANGING:
        for other in [name for name, copies in _COPIES.items() if name != store and not copies.readers]:
            rmtree(_COPIES.pop(other).folder, ignore_errors=True)
        if store not in _COPIES:
            _COPIES[store] = _Copies()
        copies = _COPIES[store]
        for node, size in sizes.items():
            if copies.sizes.get(node) != size:
                _fetch(store, node, size, copies.folder)
                copies.sizes[node] = size
        copies.readers += 1
    try:
        yield copies.folder
    finally:
        copies.readers -= 1


def _fetch(store: str, node: str, size: int, folder: Path) -> None:
    free = disk_usage(folder).free
    if free < size:
        raise NoRoomError(
            f"{store}: no room in {gettempdir()} for a copy of the log of {node} ({size:,} bytes; {free:,} "
            "are free); free some, or set TMPDIR to another folder"
        )
    copy = shard_log(folder, node)
    copy.parent.mkdir(exist_ok=True)
    place(store).download(f"{node}/{LOG_NAME}", copy)


@atexit.register
def _forget() -> None:
    for copies in _COPIES.values():
        rmtree(copies.folder, ignore_errors=True)


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
        """The shards named by a log; None for a run with a single log."""
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
