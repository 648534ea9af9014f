"""Shards in an object store, read from copies: SQLite reads files, and a report reads all of each.

The copies of a run are kept while it is read, and after that until another run's are fetched or the process
ends, so that what reads a run several times fetches it once. They are in the folder of temporary files.
"""

from __future__ import annotations

import atexit
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from shutil import disk_usage, rmtree
from tempfile import gettempdir, mkdtemp
from threading import Lock
from typing import TYPE_CHECKING, Final

from recorder.shards import shard_log
from recorder.store import LOG_NAME
from reporter.errors import NoRoomError
from reporter.log.storage_place import place

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


@dataclass(slots=True)
class _Copies:
    """The copies of the shards of a run.

    Attributes:
        folder: Where they are.
        sizes: The bytes of each, by its node.
        readers: How many read them now.
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

    Args:
        store: The address of the run's shards.
        sizes: Those to fetch, as `stored_shards` has them.

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
