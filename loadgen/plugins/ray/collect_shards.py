"""Collecting the shards of a session: the log of each node, also of a lost one, copied in pieces.

With `--shards` the logs are in a shared folder, or each node uploads its log to an object store; a log that
the store refuses is copied.
"""

from __future__ import annotations

import asyncio
import shutil
import socket
import sqlite3
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

import orjson

from lazy_dataclasses import dataclass
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import NodeGoneError, UnreachableError
from loadgen.plugins.ray.group import LOST
from recorder.cut_off import end_cut_off
from recorder.errors import BeingWrittenError, LogError, RecorderError
from recorder.session import boot_id
from recorder.shards import FOLDER, shard_log
from recorder.store import LOG_NAME, verify
from reporter.log import storage_place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.ray.node_handle import NodeHandle
    from loadgen.plugins.ray.node_links import NodeLink, StartedNodes
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

NOTE: Final = "node.json"
"""Next to a node's log: the host and the path where the log is until it is uploaded."""


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
        store = storage_place.store_address(cluster.shards)
        if store is not None:
            return cls(store=f"{store}/{session_id}")
        return cls(shared=cluster.shards.absolute() / session_id)

    def log_of(self, node: str, run: Path) -> Path:
        """The path at which reports look for the log of a node, if not in the store."""
        return shard_log(self.shared or run / FOLDER, node)


async def collect_all(
    shards: Sequence[NodeLog], nodes: StartedNodes, run: Path, place: ShardPlace
) -> list[Mapping[str, Any]]:
    """Collect all shards where reports look for shards; return a finding on each that is not there."""
    slots = asyncio.Semaphore(NODES_AT_ONCE)

    async def collect(shard: NodeLog) -> Mapping[str, Any] | None:
        log = place.log_of(shard.node.name, run)
        async with slots:
            try:
                refused = await _collect(shard, nodes, log, place)
            except (NodeGoneError, RecorderError, OSError, sqlite3.Error) as error:
                return _missing(shard.node, log, error)
        return None if refused is None else _not_stored(shard.node, log, refused)

    return [finding for finding in await asyncio.gather(*map(collect, shards)) if finding is not None]


async def _collect(shard: NodeLog, nodes: StartedNodes, log: Path, place: ShardPlace) -> Exception | None:
    """Collect an ended shard; return the error of a failed upload, if any."""
    if place.shared is not None and shard.log is not None:
        await asyncio.to_thread(verify if shard.size is not None else end_lost, log)
        return None
    if shard.size is not None:
        return await _take(shard.node.link, shard.node.name, shard.size, log, place.store)
    if shard.log is None:
        raise NodeGoneError("lost before its log began")
    return await _recover(shard.node.link, shard.log, nodes, log, place.store)


async def _take(link: NodeLink, node: str, size: int, log: Path, store: str | None) -> Exception | None:
    """Have a closed log uploaded, or copy the log; return the error of a failed upload."""
    refused = None
    if store is not None:
        try:
            await link.call("upload", store, node)
            await _asked(link, PIECE_S, "discard")
        except LogError as error:
            refused = error
        else:
            return None
    await copy_log(link, size, log)
    return refused


async def _recover(
    link: NodeLink, lost: str, nodes: StartedNodes, log: Path, store: str | None
) -> Exception | None:
    """End and collect the log of a lost node, if the machine is reachable, or is this one."""
    try:
        another = await nodes.again(link.name)
        await _asked(another, PIECE_S, "started")
        size = await _asked(another, RECOVERY_S, "recover", lost)
        return await _take(another, link.name, size, log, store)
    except NodeGoneError:
        facts = next(facts for facts in nodes.facts if facts["shard"] == link.name)
        if not boot_id() or facts["boot_id"] != boot_id():
            raise
        return await asyncio.to_thread(_move_lost, Path(lost), link.name, log, store)


def _move_lost(lost: Path, node: str, log: Path, store: str | None) -> Exception | None:
    """End and move the log of a node that was lost, on this very machine."""
    end_lost(lost)
    refused = None
    if store is not None:
        try:
            upload_log(lost, store, node)
        except LogError as error:
            refused = error
        else:
            lost.unlink()
            return None
    log.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(lost, log)
    return refused


def end_lost(log: Path) -> int:
    """End the log of a lost node: open requests are `worker_lost`; return the size in bytes."""
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
    """Copy the closed log of a node, which then forgets the log, or raise `NodeGoneError`."""
    log.parent.mkdir(parents=True, exist_ok=True)
    part = log.with_name(f"{log.name}.part")
    with part.open("wb") as file:
        coming = asyncio.ensure_future(_asked(link, PIECE_S, "read", 0, PIECE_BYTES))
        while file.tell() < size:
            piece = await coming
            if not piece:
                raise NodeGoneError(f"its log ended after {file.tell()} of {size} bytes")
            start = file.tell() + len(piece)
            coming = asyncio.ensure_future(_asked(link, PIECE_S, "read", start, PIECE_BYTES))
            await asyncio.to_thread(file.write, piece)
        coming.cancel()
        await asyncio.gather(coming, return_exceptions=True)
    try:
        verify(part)
    except LogError as error:
        raise NodeGoneError(f"not the node's log: {error}") from error
    part.rename(log)
    await _asked(link, PIECE_S, "discard")


def _not_stored(node: NodeHandle, log: Path, refused: Exception) -> Mapping[str, Any]:
    return {
        "code": "shard_not_uploaded",
        "severity": "info",
        "message": f"{node.shown} could not upload its log ({refused}). The log was copied to {log}, where "
        "reports read it.",
        "remedy": "Keep that file with the run's folder; give the node credentials for the store.",
    }


async def _asked(link: NodeLink, seconds: float, method: str, *values: Any) -> Any:
    """Call a method of a node."""
    try:
        return await asyncio.wait_for(link.call(method, *values), seconds)
    except TimeoutError as error:
        raise NodeGoneError(f"no answer for {seconds:g} s") from error


async def collect_unfinished(
    links: Sequence[NodeLink],
    session_id: str,
    nodes: Sequence[tuple[str, bool]],
    run: Path,
    place: ShardPlace,
) -> None:
    """Collect and end the shards of an interrupted session.

    Args:
        links: The links to the present nodes, on whose machines shards may be.
        session_id: The session.
        nodes: The names of the session's nodes, each with whether its shard is at its place.
        run: The run's folder.
        place: The place of shards.

    Raises:
        NodeGoneError: A present node is gone; the message names it.
        RecorderError, OSError, sqlite3.Error: A shard cannot be read, or written to.
    """
    for name, _ in nodes:
        log = place.log_of(name, run)
        if log.exists():
            await asyncio.to_thread(end_lost, log)
    absent = [name for name, is_there in nodes if not is_there]
    for link in links if absent and place.shared is None else ():
        try:
            logs = await _asked(link, PIECE_S, "unfinished_shards", session_id, absent)
            for name, log in logs.items():
                size = await _asked(link, RECOVERY_S, "recover", log)
                await _take(link, name, size, place.log_of(name, run), place.store)
        except NodeGoneError as error:
            raise NodeGoneError(f"{link.name} ({link.host}): {error}") from error


def _missing(node: NodeHandle, log: Path, error: Exception) -> Mapping[str, Any]:
    # A reader that finds no log calls the run incomplete; here is why, and what it would have had.
    issued = (node.progress or {}).get("issued", 0)
    return {
        "code": "shard_missing",
        "severity": "info",
        "message": f"The log of {node.shown} could not be brought home ({error}). The log has the {issued} "
        "requests that the node issued in the measured phase.",
        "remedy": f"If that machine still has the log, copy it to {log} and report again; else run again.",
    }


def note_in_store(store: str, node: str, log: Path) -> None:
    """Leave a note with the log's path in the store before the session, or raise `UnreachableError`."""
    note = {"host": socket.gethostname(), "log": str(log)}
    try:
        storage_place.place(store).write(f"{node}/{NOTE}", orjson.dumps(note))
    except LogError as error:
        raise UnreachableError(
            f"its log could not be left there: {error}: give the node credentials for that store, or another "
            "--shards"
        ) from error


def upload_log(log: Path, store: str, node: str) -> None:
    """Upload a node's closed log, or raise `LogError`."""
    storage_place.place(store).upload(log, f"{node}/{LOG_NAME}")
