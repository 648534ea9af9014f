"""A node of a session: runs the worker processes and the recorder of one machine.

The coordinator calls its methods, by Ray or otherwise; moments in what they take and return are on the node's
own clock. What runs it must be a separate process, because a process has one recorder.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass, field
from loadgen.driver import own_health
from loadgen.driver.errors import NodeGoneError
from loadgen.driver.progress import SessionProgress
from loadgen.driver.sensing.sensor_process import SensorProcess
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.memory import calm
from loadgen.driver.workers.framing import unpacked
from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.driver.workers.pool import WorkerPool
from loadgen.plugins.ray.collect_shards import end_lost, note_in_store, upload_log
from loadgen.plugins.ray.node_environment import enter, take_usual_priority
from loadgen.plugins.ray.node_links import NodeStatus
from loadgen.sessions.environment import environment
from loadgen.sessions.loop_recorder import recording
from loadgen.sessions.run.endpoint_probe import require_ready
from recorder.errors import RecorderError, WriterError
from recorder.event import Event, EventType
from recorder.shards import shard_environment, shard_log
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.phase import Phase, Shard
    from loadgen.driver.plan import Plan
    from loadgen.driver.sensing.config import SensorConfig
    from loadgen.driver.workers.framing import Packed
    from loadgen.sessions.run.preparation import Requirement


@dataclass(frozen=True, slots=True)
class NodeConfig:
    """All that a node must know to begin with.

    Attributes:
        plan: What the whole session is to do, without what ends it by the counters of all nodes.
        connect_ahead: How many connections are opened ahead, on all nodes.
        shards: Where all shards lie, if on a shared path; else this node's is in a separate folder.
        store: The address in an object store to which logs are uploaded at the end.
        sandboxes: What must be here for episodes, and for scorers of what they answer; None for nothing.
        folder: Where the coordinator runs: modules and data are looked for there, if there is such a folder.
    """

    name: str
    share: Shard
    session_id: str
    settings: Mapping[str, Any]
    plan: Plan
    endpoints: tuple[Endpoint, ...]
    workers: int
    transport: str
    connect_ahead: int = 0
    probe: bool = True
    shards: Path | None = None
    store: str | None = None
    sensors: tuple[SensorConfig, ...] = field(default=())
    sandboxes: Requirement | None = None
    folder: str = ""


class Node:
    """A node. Methods run in the event loop of the node's process."""

    def __init__(self) -> None:
        self._life = AsyncExitStack()
        self._stop = Stop()
        self._background: list[asyncio.Task[None]] = []
        self._scheduled = 0
        self._broken: str | None = None
        self._folder: Path | None = None
        self._progress = SessionProgress()

    async def started(self) -> None:
        """Return, which says that there is a process."""

    # Before and after the session…

    async def set_up(self, config: NodeConfig, questions: Packed) -> None:
        """Start the workers, and return when workers and endpoints are ready. No log exists yet.

        Raises:
            UnreachableError, RejectedError: An endpoint is not ready, as seen from here, or an object store.
            WorkerLostError: A worker will never be ready.
            SandboxError, ExtraError, EpisodeCodeError: Episodes cannot be played here.
            OSError: The system does not let this process have as many workers.
        """
        self._config = config
        life, clock = self._life, system_clock()
        if config.shards is None:
            self._folder = own_folder(config.session_id, config.name)
        take_usual_priority()
        enter(config.folder)
        await asyncio.to_thread(_require_episodes, config)
        self._log = shard_log(config.shards or self._folder or Path(), config.name)
        if config.store is not None:
            await asyncio.to_thread(note_in_store, config.store, config.name, self._log)
        launcher = life.enter_context(WorkerLauncher(config.transport))
        launcher.spawn(config.workers)
        self._recorder = EventRecorder(
            config.session_id,
            path=self._log,
            settings=config.settings,
            environment=environment() | shard_environment(config.name, config.share.workers),
            on_failure=self._on_failure,
        )
        life.enter_context(closing(clock))
        life.enter_context(closing(self._recorder))
        self._pool = WorkerPool(launcher, config.plan, self._recorder, clock, self._stop)
        self._progress = self._pool.progress
        self._pool.begin(config.endpoints, unpacked(questions), config.connect_ahead, config.share)
        calm()
        self._sensors = await life.enter_async_context(SensorProcess(config.sensors, self._recorder))
        if config.probe:
            for endpoint in config.endpoints:
                await require_ready(config.plan, config.transport, endpoint)
        await self._pool.ready()

    async def open_log(self) -> str:
        """Make the log, and record from now on; return the path."""
        if self._folder is not None:
            self._folder.mkdir(mode=0o700)
        await self._life.enter_async_context(recording(self._recorder, self._stop))
        await self._sensors.ready()
        if (niceness := os.getpriority(os.PRIO_PROCESS, 0)) > 0:
            self._recorder.put(_niced(self._config.name, niceness))
        self._background += [
            asyncio.create_task(own_health.watch_parent(self._recorder.put)),
            asyncio.create_task(self._heed_stops()),
        ]
        return str(self._log)

    async def end(self, events: Sequence[Event]) -> int:
        """Release the workers and close the log; return the size in bytes, or raise `NodeGoneError`."""
        await self._pool.end()
        await self._sensors.finish()
        self._record(events)
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        try:
            await self._life.aclose()
        except WriterError as error:
            raise NodeGoneError(f"its log could not be written: {error}") from error
        return self._log.stat().st_size

    async def read(self, start: int, size: int) -> bytes:
        """Some bytes of the log that was closed."""
        return await asyncio.to_thread(_read, self._log, start, size)

    async def upload(self, store: str, node: str) -> None:
        """Upload the closed log to an object store, or raise `LogError`."""
        await asyncio.to_thread(upload_log, self._log, store, node)

    async def recover(self, log: str) -> int:
        """End the log of a lost node of this machine; return the size in bytes, or raise `NodeGoneError`."""
        self._log = Path(log)
        self._folder = self._log.parent.parent
        try:
            return await asyncio.to_thread(end_lost, self._log)
        except (RecorderError, OSError, sqlite3.Error) as error:
            raise NodeGoneError(f"its log cannot be read: {error}") from error

    async def unfinished_shards(self, session_id: str, names: Sequence[str]) -> dict[str, str]:
        """The logs of nodes of a session that are still on this machine, by the nodes' names."""
        logs = {name: shard_log(own_folder(session_id, name), name) for name in names}
        return {name: str(log) for name, log in logs.items() if log.exists()}

    async def discard(self) -> None:
        """Remove the folder that this node made for the shard, once no longer needed."""
        if self._folder is not None:
            await asyncio.to_thread(shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    # What the session says…

    async def issue(self, events: Sequence[Event], phase: Phase) -> int:
        """Issue this node's share of a phase; return how many requests were scheduled."""
        self._record(events)
        self._scheduled = await self._pool.issue(phase)
        return self._scheduled

    async def settle(self, events: Sequence[Event]) -> None:
        """Await the end of all requests in flight, including the events."""
        self._record(events)
        await self._pool.settle()

    async def stop(self) -> None:
        """Issue nothing more."""
        self._pool.stop()

    async def abort(self, reason: str | None) -> None:
        """Abandon all requests in flight."""
        self._pool.abort(reason)

    async def status(self) -> NodeStatus:
        """The state of the node, and the time of its clock."""
        return NodeStatus(time.monotonic_ns(), self._progress.snapshot(), self._stop.reason, self._broken)

    # Its own…

    def _record(self, events: Sequence[Event]) -> None:
        """Record session events; of scheduled counts only this node's part."""
        for event in events:
            data = event.data
            if data and "phase" in data:
                self._progress.phase = data["phase"]
            if data and "scheduled" in data:
                data = {**data, "scheduled": self._scheduled}
            self._recorder.put(event._replace(data=data))

    async def _heed_stops(self) -> None:
        """Stop issuing when this node must stop: a worker was lost, or the log failed."""
        await self._stop.draining.wait()
        self._pool.stop()
        await self._stop.aborting.wait()
        self._pool.abort()

    def _on_failure(self, error: Exception) -> None:
        self._broken = str(error)


def own_folder(session_id: str, name: str) -> Path:
    """The folder of a node's shard without a shared path: a later command finds the folder by name."""
    return Path(tempfile.gettempdir()) / f"llm-loadgen-{session_id}-{name}"


def _require_episodes(config: NodeConfig) -> None:
    """Check that this machine can open the sandboxes, and host the sessions."""
    if config.sandboxes is not None:
        config.sandboxes.require()
    if config.plan.session_kind is not None:
        config.plan.session_kind.require()


def _niced(name: str, niceness: int) -> Event:
    """The finding on a node with a low priority, as set by Ray."""
    return Event(
        EventType.FINDING,
        time.monotonic_ns(),
        data={
            "code": "node_niced",
            "severity": "warning",
            "message": f"{name} has a niceness of {niceness}: whatever else runs there comes first, and "
            "answers are read late.",
            "remedy": "Start Ray with RAY_worker_niceness=0 in its environment, on every node.",
        },
    )


def _read(log: Path, start: int, size: int) -> bytes:
    with log.open("rb") as file:
        file.seek(start)
        return file.read(size)
