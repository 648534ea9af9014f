"""Where the shards of a run are, by what the coordinator's log says of them."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from recorder import shards
from recorder.errors import LogError
from recorder.session import boot_id
from recorder.store import LOG_NAME
from reporter.kinds import document, members, text
from reporter.log.sqlite_log import opened_sqlite

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from contextlib import AbstractContextManager

    from reporter.log.one_log import OneLog
    from reporter.log.sqlite_log import SqliteLog

_ENVIRONMENTS: Final = "SELECT environment FROM session"

_OF_SEGMENTS: Final = "SELECT environment FROM sittings ORDER BY sitting"


@dataclass(frozen=True, slots=True)
class ShardFiles:
    """The shards of a run.

    Attributes:
        nodes: The boot of each node's machine, by the node's name; empty where that is unknown.
        folder: The folder that has a folder for each node.
    """

    nodes: Mapping[str, str]
    folder: Path

    def log(self, node: str) -> Path:
        """The path of a node's log, which is perhaps not there."""
        return shards.shard_log(self.folder, node)

    def opened(self, node: str, log: Path | None = None) -> AbstractContextManager[SqliteLog]:
        """Open a node's log.

        Args:
            node: The node.
            log: Where it is, if not in the folder.

        Raises:
            LogError: It is not a log that this version reads, or it is damaged.
            BeingWrittenError: Another machine writes it faster than it can be copied.
        """
        boot = self.nodes[node]
        return opened_sqlite(log or self.log(node), node, is_elsewhere=bool(boot) and boot != boot_id())


def shard_files(coordinator: OneLog) -> ShardFiles | None:
    """The shards of a run; None where its log is the only one."""
    if not any(_is_coordinator(environment) for (environment,) in coordinator.select(_ENVIRONMENTS)):
        return None
    environments = [
        members(document(json)) for (json,) in coordinator.select(_OF_SEGMENTS) if _is_coordinator(json)
    ]
    nodes = [members(facts) for environment in environments for facts in _list(environment.get("shards"))]
    path = text(environments[-1].get("shards_path"))
    folder = coordinator.path.parent / shards.FOLDER if path is None else Path(path)
    return ShardFiles({str(facts.get("shard")): text(facts.get("boot_id")) or "" for facts in nodes}, folder)


@contextmanager
def opened_shards(of_run: ShardFiles) -> Iterator[list[SqliteLog]]:
    """Open the shards that there are.

    Raises:
        LogError: One is not of a node of the run, or is damaged.
    """
    there = sorted(log.parent.name for log in of_run.folder.glob(f"*/{LOG_NAME}"))
    if strange := [name for name in there if name not in of_run.nodes]:
        raise LogError(
            f"{of_run.folder / strange[0]}: not a node of this run, which has "
            f"{', '.join(sorted(of_run.nodes))}; move the folder away"
        )
    with ExitStack() as stack:
        yield [stack.enter_context(of_run.opened(name)) for name in there]


def _is_coordinator(environment: str) -> bool:
    return members(document(environment)).get("kind") == shards.COORDINATOR


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
