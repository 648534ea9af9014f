"""Measuring on several nodes: from a prepared session to collected logs."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final
from uuid import uuid4

from loadgen.driver.ending import ErrorBudget
from loadgen.driver.load_session import LoadSession
from loadgen.driver.phase import Shard
from loadgen.driver.sensing.sensor_process import SensorProcess
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.workers.packing import packed
from loadgen.plugins.ray.collect_shards import NodeLog, ShardPlace, collect_all
from loadgen.plugins.ray.group import NodeGroup
from loadgen.plugins.ray.node import NodeConfig
from loadgen.sessions.environment import environment
from loadgen.sessions.interrupt import note_stop
from loadgen.sessions.loop_recorder import announce_stop, recording
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.endpoint_probe import default_url_named
from loadgen.sessions.run.first_facts import put_first_facts
from loadgen.sessions.run.gate_watch import watch_gate
from loadgen.sessions.run.measurement import hooks_of
from loadgen.sessions.run.sensors import declared_power, found_sensors, sensors_of, with_found_metrics
from recorder.shards import coordinator_environment
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared

_OF_A_HOST: Final = frozenset({"host", "nvml"})
"""The sensors that read the machine that they run on: each node has them."""


async def measure_on_nodes(
    prepared: Prepared,
    nodes: StartedNodes,
    folder: Path,
    observer: Observer = SILENT,
    session_id: str | None = None,
) -> None:
    """Run a session on nodes into the log and the shards of a folder.

    Raises:
        UnreachableError, RejectedError: The endpoint is not ready, as seen from a node; there is no log then.
        WorkerLostError, NodeGoneError: A worker or a node ended before the session; likewise.
        StoppedEarlyError: A stop was requested before the session; likewise.
        WriterError: The coordinator's log could not be written to its end.
    """
    prepared = await with_found_metrics(prepared)
    plan, cluster, stop, clock = prepared.plan, prepared.perf.cluster, Stop(), system_clock()
    session_id = session_id or uuid4().hex
    place = ShardPlace.of(cluster, session_id)
    recorder = EventRecorder(
        session_id,
        path=folder / LOG_NAME,
        settings=prepared.settings(),
        environment=environment() | coordinator_environment(nodes.facts, place.store or place.shared),
        resume=prepared.left is not None,
        after_seq=prepared.after_seq,
        on_failure=stop.on_failure(),
    )
    observer.stoppable(stop.from_any_thread())
    with closing(clock), closing(recorder), stop.on_signals():
        ends_on_loss = cluster.on_node_loss == "stop"
        group = NodeGroup(nodes.links, plan, recorder.put, clock, stop, ends_on_loss=ends_on_loss)
        sensors_here = tuple(sensor for sensor in sensors_of(prepared) if sensor.kind not in _OF_A_HOST)
        async with SensorProcess(sensors_here, recorder, found_sensors(prepared)) as sensors:
            questions = nodes.shared(packed(prepared.request_source(), plan))
            with default_url_named(prepared.perf.endpoint):
                await stop.unless_asked(group.set_up(_configs(prepared, group, session_id, place), questions))
            async with recording(recorder, stop, observer):
                await put_first_facts(prepared, recorder, clock, stop)
                logs = await group.ask_all("open_log")
                await sensors.ready()
                for declared in declared_power(prepared, clock.now_ns()):
                    recorder.put(declared)
                await group.begin()
                background = [asyncio.create_task(announce_stop(stop, group, observer))]
                if prepared.perf.verdict.abort_on_fail and prepared.left is None:
                    following = watch_gate(folder / LOG_NAME, group, recorder, clock, stop, observer)
                    background.append(asyncio.create_task(following))
                with observer.session(group.progress, plan, folder / LOG_NAME if place.shared else None):
                    hooks = hooks_of(prepared, recorder.put, clock)
                    await LoadSession(plan, group, group.tell, clock, stop, hooks).run()
                sizes = await group.end()
                await sensors.finish()
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
                shards = list(map(NodeLog, group.nodes, logs, sizes))
                for finding in await collect_all(shards, nodes, folder, place):
                    group.find(finding)
        if stop.asked.is_set():
            note_stop()


def _configs(prepared: Prepared, group: NodeGroup, session_id: str, place: ShardPlace) -> list[NodeConfig]:
    """The configuration of each node."""
    perf, number = prepared.perf, len(group.nodes)
    # What ends the session by the counters of all nodes is watched here.
    config = NodeConfig(
        name="",
        share=Shard(),
        session_id=session_id,
        settings=prepared.settings(),
        plan=replace(prepared.plan, budget=ErrorBudget(), stop_on_overload=False),
        endpoints=prepared.targets,
        workers=prepared.workers,
        transport=perf.client.transport,
        connect_ahead=perf.client.connect_ahead,
        probe=perf.endpoint.probe,
        shards=place.shared,
        store=place.store,
        sensors=tuple(sensor for sensor in sensors_of(prepared) if sensor.kind in _OF_A_HOST),
        sandboxes=prepared.sandboxes,
        folder=os.getcwd(),  # noqa: PTH109 (as a text)
    )
    return [
        replace(config, name=node.name, share=Shard(place, number)) for place, node in enumerate(group.nodes)
    ]
