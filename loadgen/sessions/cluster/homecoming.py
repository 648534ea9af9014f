"""Bringing the shards home: the log of each node, also of one that died, in pieces into the run's folder."""

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


async def bring_all_home(
    shards: Sequence[NodeLog], nodes: StartedNodes, run: Path, shared: Path | None
) -> list[Mapping[str, Any]]:
    """Have all shards where a report looks for them.

    Args:
        shards: The logs of all nodes.
        nodes: The ways to them.
        run: The run's folder.
        shared: The folder in which all of them are already, if there is one.

    Returns:
        A finding on each that is missing.
    """
    places = asyncio.Semaphore(NODES_AT_ONCE)

    async def bring(shard: NodeLog) -> Mapping[str, Any] | None:
        name = shard.node.name
        home = shard_log(shared or run / FOLDER, name)
        async with places:
            try:
                await _bring(shard, nodes, home, is_shared=shared is not None)
            except (NodeGoneError, RecorderError, OSError, sqlite3.Error) as error:
                return _missing(shard.node, home, error)
        return None

    return [finding for finding in await asyncio.gather(*map(bring, shards)) if finding is not None]


async def _bring(shard: NodeLog, nodes: StartedNodes, home: Path, *, is_shared: bool) -> None:
    """Have a shard at a place, with an end."""
    if shard.size is not None and not is_shared:
        await copy_log(shard.node.link, shard.size, home)
    elif shard.size is not None:
        verify(home)
    elif shard.log is None:
        raise NodeGoneError("it was lost before it had one")
    elif is_shared:
        await asyncio.to_thread(end_lost, home)
    else:
        await _recover(shard.node.link, shard.log, nodes, home)


async def _recover(link: NodeLink, log: str, nodes: StartedNodes, home: Path) -> None:
    """End and copy the log of a node that was lost, if its machine is still there, or is this one."""
    try:
        another = await nodes.again(link.name)
        await copy_log(another, await another.call("recover", log), home)
    except NodeGoneError:
        facts = next(facts for facts in nodes.facts if facts["shard"] == link.name)
        if not boot_id() or facts["boot_id"] != boot_id():
            raise
        await asyncio.to_thread(_move_lost, Path(log), home)


def _move_lost(log: Path, home: Path) -> None:
    """End and move the log of a node that was lost, on this very machine."""
    end_lost(log)
    home.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(log, home)


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
