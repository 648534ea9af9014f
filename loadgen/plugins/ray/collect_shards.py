"""Bringing the shards home: the log of each node, also of one that died, in pieces into the run's folder.

With an object store each node uploads its log there instead; the log of a node that cannot comes home.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import NodeGoneError
from loadgen.plugins.ray.group import LOST
from loadgen.plugins.ray.object_store import upload_log
from recorder.cut_off import end_cut_off
from recorder.errors import BeingWrittenError, LogError, RecorderError
from recorder.session import boot_id
from recorder.shards import FOLDER, shard_log
from recorder.store import verify
from reporter.log.storage_place import store_address

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.ray.link import NodeLink
    from loadgen.plugins.ray.node_handle import NodeHandle
    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.settings.cluster import ClusterSettings

PIECE_BYTES: Final = 4 * 1024 * 1024
"""One piece is on its way while another is written: a node takes 8 MiB, however long its log is."""

NODES_AT_ONCE: Final = 4

PIECE_S: Final = 60.0
"""So long a piece may take, and any other answer that takes no work."""

RECOVERY_S: Final = 600.0
"""So long a node may take to end a log that was cut off, which it has to read."""

DYING_S: Final = 10.0
"""So long the writer of a node that was lost may take to die."""

_TRY_AGAIN_S: Final = 0.2

_ABSENT: Final = "shard_missing"
_AT_HOME: Final = "shard_not_uploaded"


@dataclass(frozen=True, slots=True)
class NodeLog:
    """The log of a node.

    Attributes:
        log: Where it is, as the node says; None where it had none yet.
        size: Its bytes once it was closed; None where the node was lost before.
    """

    node: NodeHandle
    log: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class _Destination:
    """The destination of a node's log: a local path, or an object store."""

    node: str
    home: Path
    store: str | None


@dataclass(frozen=True, slots=True)
class ShardPlace:
    """Where the shards of a session lie, if not in the run's folder.

    Attributes:
        shared: The folder on a path that all nodes share.
        store: The address in an object store.
    """

    shared: Path | None = None
    store: str | None = None

    @classmethod
    def of(cls, cluster: ClusterSettings, session_id: str) -> Self:
        """The place that `--shards` says."""
        if cluster.shards is None:
            return cls()
        store = store_address(cluster.shards)
        if store is not None:
            return cls(store=f"{store}/{session_id}")
        return cls(shared=cluster.shards.absolute() / session_id)

    def of_node(self, node: str, run: Path) -> _Destination:
        """Where the log of a node is to be."""
        return _Destination(node, shard_log(self.shared or run / FOLDER, node), self.store)


async def collect_all(
    shards: Sequence[NodeLog], nodes: StartedNodes, run: Path, place: ShardPlace
) -> list[Mapping[str, Any]]:
    """Collect all shards where reports look for shards."""
    places = asyncio.Semaphore(NODES_AT_ONCE)

    async def bring(shard: NodeLog) -> Mapping[str, Any] | None:
        to = place.of_node(shard.node.name, run)
        async with places:
            try:
                refused = await _bring(shard, nodes, to, is_shared=place.shared is not None)
            except (NodeGoneError, RecorderError, OSError, sqlite3.Error) as error:
                return _missing(shard.node, to.home, error)
        return None if refused is None else _not_stored(shard.node, to.home, refused)

    return [finding for finding in await asyncio.gather(*map(bring, shards)) if finding is not None]


async def _bring(
    shard: NodeLog, nodes: StartedNodes, to: _Destination, *, is_shared: bool
) -> Exception | None:
    """Collect an ended shard; return the error of a failed upload, if any."""
    if shard.size is not None and not is_shared:
        return await _take(shard.node.link, shard.size, to)
    if shard.size is not None:
        verify(to.home)
    elif shard.log is None:
        raise NodeGoneError("lost before its log began")
    elif is_shared:
        await asyncio.to_thread(end_lost, to.home)
    else:
        return await _recover(shard.node.link, shard.log, nodes, to)
    return None


async def _take(link: NodeLink, size: int, to: _Destination) -> Exception | None:
    """Have a closed log uploaded, or copy the log; return the error of a failed upload."""
    refused = None
    if to.store is not None:
        try:
            await link.call("upload", to.store, to.node)
            await _asked(link, PIECE_S, "discard")
        except LogError as error:
            refused = error
        else:
            return None
    await copy_log(link, size, to.home)
    return refused


async def _recover(link: NodeLink, log: str, nodes: StartedNodes, to: _Destination) -> Exception | None:
    """End and collect the log of a lost node, if the machine is reachable, or is this one."""
    try:
        another = await nodes.again(link.name)
        await _asked(another, PIECE_S, "started")
        return await _take(another, await _asked(another, RECOVERY_S, "recover", log), to)
    except NodeGoneError:
        facts = next(facts for facts in nodes.facts if facts["shard"] == link.name)
        if not boot_id() or facts["boot_id"] != boot_id():
            raise
        return await asyncio.to_thread(_move_lost, Path(log), to)


def _move_lost(log: Path, to: _Destination) -> Exception | None:
    """End and move the log of a node that was lost, on this very machine."""
    end_lost(log)
    refused = None
    if to.store is not None:
        try:
            upload_log(log, to.store, to.node)
        except LogError as error:
            refused = error
        else:
            log.unlink()
            return None
    to.home.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(log, to.home)
    return refused


def end_lost(log: Path) -> int:
    """End the log of a lost node: open requests are `worker_lost`. Return the size in bytes.

    Raises:
        RecorderError, OSError, sqlite3.Error: It cannot be read, or written to.
    """
    import time

    give_up_s = time.monotonic() + DYING_S
    while True:
        try:
            end_cut_off(
                log,
                error=Failure.WORKER_LOST.value,
                message="the node was lost while the request was under way",
                reason=LOST,
            )
        except BeingWrittenError:
            if time.monotonic() >= give_up_s:
                raise
            time.sleep(_TRY_AGAIN_S)
        else:
            return log.stat().st_size


async def copy_log(link: NodeLink, size: int, log: Path) -> None:
    """Copy the closed log of a node; then the node forgets the log.

    Raises:
        NodeGoneError: The node is gone, or what it sent is not its log.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    part = log.with_name(f"{log.name}.part")
    with part.open("wb") as file:
        coming = asyncio.ensure_future(_piece(link, 0))
        while file.tell() < size:
            piece = await coming
            if not piece:
                raise NodeGoneError(f"its log ended after {file.tell()} of {size} bytes")
            coming = asyncio.ensure_future(_piece(link, file.tell() + len(piece)))
            await asyncio.to_thread(file.write, piece)
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
    try:
        verify(part)
    except LogError as error:
        raise NodeGoneError(f"not the node's log: {error}") from error
    part.rename(log)
    await _asked(link, PIECE_S, "discard")


async def _piece(link: NodeLink, start: int) -> bytes:
    piece: bytes = await _asked(link, PIECE_S, "read", start, PIECE_BYTES)
    return piece


def _not_stored(node: NodeHandle, home: Path, refused: Exception) -> Mapping[str, Any]:
    return {
        "code": _AT_HOME,
        "severity": "info",
        "message": f"{node.shown} could not upload its log ({refused}). The log was copied to {home}, where "
        "reports read it.",
        "remedy": "Keep that file with the run's folder; give the node credentials for the store.",
    }


async def _asked(link: NodeLink, seconds: float, method: str, *values: Any) -> Any:
    """Call a method of a node."""
    try:
        return await asyncio.wait_for(link.call(method, *values), seconds)
    except TimeoutError as error:
        raise NodeGoneError(f"no answer for {seconds:g} s") from error


async def bring_stranded(
    links: Sequence[NodeLink],
    session_id: str,
    nodes: Sequence[tuple[str, bool]],
    run: Path,
    place: ShardPlace,
) -> None:
    """Collect and end the shards of an interrupted session.

    Raises:
        NodeGoneError: A node of now is gone; the message names it.
        RecorderError, OSError, sqlite3.Error: A shard cannot be read, or written to.
    """
    for name, _ in nodes:
        log = place.of_node(name, run).home
        if log.exists():
            await asyncio.to_thread(end_lost, log)
    absent = [name for name, is_there in nodes if not is_there]
    for link in links if absent and place.shared is None else ():
        try:
            logs = await _asked(link, PIECE_S, "unfinished_shards", session_id, absent)
            for name, log in logs.items():
                size = await _asked(link, RECOVERY_S, "recover", log)
                await _take(link, size, place.of_node(name, run))
        except NodeGoneError as error:
            raise NodeGoneError(f"{link.name} ({link.host}): {error}") from error


def _missing(node: NodeHandle, home: Path, error: Exception) -> Mapping[str, Any]:
    # A reader that finds no log calls the run incomplete; here is why, and what it would have had.
    issued = (node.progress or {}).get("issued", 0)
    return {
        "code": _ABSENT,
        "severity": "info",
        "message": f"The log of {node.shown} could not be brought home ({error}). The log has the {issued} "
        "requests that the node issued in the measured phase.",
        "remedy": f"If that machine still has the log, copy it to {home} and report again; else run again.",
    }
