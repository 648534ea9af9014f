"""Bringing the shards home: the log of each node, also of one that died, in pieces into the run's folder.

With an object store each node uploads its log there instead; the log of a node that cannot comes home.
"""

from __future__ import annotations

import asyncio
import shutil
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import NodeGoneError
from loadgen.driver.nodes.group import LOST
from loadgen.sessions.cluster.object_store import upload_log
from recorder.cut_off import end_cut_off
from recorder.errors import BeingWrittenError, LogError, RecorderError
from recorder.session import boot_id
from recorder.shards import FOLDER, shard_log
from recorder.store import verify

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.nodes.handle import NodeHandle
    from loadgen.driver.nodes.link import NodeLink
    from loadgen.sessions.cluster.nodes import StartedNodes

PIECE_BYTES: Final = 4 * 1024 * 1024
"""One piece is on its way while another is written: a node takes 8 MiB, however long its log is."""

NODES_AT_ONCE: Final = 4

PIECE_S: Final = 60.0
"""So long a piece may take."""

DYING_S: Final = 10.0
"""So long the writer of a node that was lost may take to die."""

_TRY_AGAIN_S: Final = 0.2

_ABSENT: Final = "shard_missing"
_AT_HOME: Final = "shard_not_uploaded"


@dataclass(frozen=True, slots=True)
class NodeLog:
    """The log of a node.

    Attributes:
        node: The node.
        log: Where it is, as the node says; None where it had none yet.
        size: Its bytes once it was closed; None where the node was lost before.
    """

    node: NodeHandle
    log: str | None
    size: int | None


@dataclass(frozen=True, slots=True)
class _Destination:
    """Where the log of a node is to be: its path here, or an object store."""

    node: str
    home: Path
    store: str | None


async def bring_all_home(
    shards: Sequence[NodeLog], nodes: StartedNodes, run: Path, shared: Path | None, store: str | None = None
) -> list[Mapping[str, Any]]:
    """Have all shards where a report looks for them.

    Args:
        shards: The logs of all nodes.
        nodes: The ways to them.
        run: The run's folder.
        shared: The folder in which all of them are already, if there is one.
        store: The address in an object store where they are to be, if there is one.

    Returns:
        A finding on each that is missing, or not in the store.
    """
    places = asyncio.Semaphore(NODES_AT_ONCE)

    async def bring(shard: NodeLog) -> Mapping[str, Any] | None:
        to = _Destination(shard.node.name, shard_log(shared or run / FOLDER, shard.node.name), store)
        async with places:
            try:
                refused = await _bring(shard, nodes, to, is_shared=shared is not None)
            except (NodeGoneError, RecorderError, OSError, sqlite3.Error) as error:
                return _missing(shard.node, to.home, error)
        return None if refused is None else _not_stored(shard.node, to.home, refused)

    return [finding for finding in await asyncio.gather(*map(bring, shards)) if finding is not None]


async def _bring(
    shard: NodeLog, nodes: StartedNodes, to: _Destination, *, is_shared: bool
) -> Exception | None:
    """Have a shard at a place, with an end; return why it is not in the object store, if it should be."""
    if shard.size is not None and not is_shared:
        return await _take(shard.node.link, shard.size, to)
    if shard.size is not None:
        verify(to.home)
    elif shard.log is None:
        raise NodeGoneError("it was lost before it had one")
    elif is_shared:
        await asyncio.to_thread(end_lost, to.home)
    else:
        return await _recover(shard.node.link, shard.log, nodes, to)
    return None


async def _take(link: NodeLink, size: int, to: _Destination) -> Exception | None:
    """Have a log that was closed uploaded, or copy it; return why it could not be uploaded."""
    refused = None
    if to.store is not None:
        try:
            await link.call("upload", to.store, to.node)
            await link.call("discard")
        except LogError as error:
            refused = error
        else:
            return None
    await copy_log(link, size, to.home)
    return refused


async def _recover(link: NodeLink, log: str, nodes: StartedNodes, to: _Destination) -> Exception | None:
    """End and take the log of a node that was lost, if its machine is still there, or is this one."""
    try:
        another = await nodes.again(link.name)
        return await _take(another, await another.call("recover", log), to)
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
    """End the log of a node that was lost: its open requests are `worker_lost`. Return its bytes.

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
    """Copy the log of a node, which was closed; then the node forgets it.

    Args:
        link: The way to the node.
        size: The bytes of its log.
        log: Where it is to be.

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
        raise NodeGoneError(f"what it sent is not its log: {error}") from error
    part.rename(log)
    await link.call("discard")


async def _piece(link: NodeLink, start: int) -> bytes:
    try:
        piece: bytes = await asyncio.wait_for(link.call("read", start, PIECE_BYTES), PIECE_S)
    except TimeoutError as error:
        raise NodeGoneError(f"it sent no piece of its log for {PIECE_S:g} s") from error
    return piece


def _not_stored(node: NodeHandle, home: Path, refused: Exception) -> Mapping[str, Any]:
    return {
        "code": _AT_HOME,
        "severity": "info",
        "message": f"{node.shown} could not upload its log ({refused}). The log was copied to {home}, where "
        "reports read it.",
        "remedy": "Keep that file with the run's folder; give the node credentials for the store.",
    }


def _missing(node: NodeHandle, home: Path, error: Exception) -> Mapping[str, Any]:
    # A reader that finds no log calls the run incomplete; here is why, and what it would have had.
    issued = (node.progress or {}).get("issued", 0)
    return {
        "code": _ABSENT,
        "severity": "info",
        "message": f"The log of {node.shown} could not be brought home ({error}). It has the {issued} "
        "requests that the node had issued in the measured phase.",
        "remedy": f"If that machine still has the log, copy it to {home} and report the run again; else run "
        "it again.",
    }
