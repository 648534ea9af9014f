"""One performance session on several nodes, or the rest of one, from settings to logs."""

from __future__ import annotations

import asyncio
import os
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final
from uuid import uuid4

from loadgen.driver.errors import NodeGoneError
from loadgen.driver.load_session import LoadSession
from loadgen.driver.phase import Shard
from loadgen.driver.plan import ErrorBudget
from loadgen.driver.sensing.sensor_process import SensorProcess
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.signals import run_async
from loadgen.driver.workers.framing import packed
from loadgen.plugins.ray.collect_shards import NodeLog, ShardPlace, collect_all, collect_unfinished
from loadgen.plugins.ray.group import NodeGroup
from loadgen.plugins.ray.node import Node, NodeConfig
from loadgen.plugins.ray.node_facts import machine_facts
from loadgen.plugins.ray.node_links import require_same, require_share
from loadgen.sessions.environment import environment
from loadgen.sessions.errors import SetupError
from loadgen.sessions.interrupt import note_stop
from loadgen.sessions.loop_recorder import announce_stop, recording
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.endpoint_probe import default_url_named, require_descriptors
from loadgen.sessions.run.gate_watch import require_watchable, watch_gate
from loadgen.sessions.run.measurement import hooks_of, put_first_facts
from loadgen.sessions.run.resumption import announce_rest, end_log, prepare_resumption, resumed_settings
from loadgen.sessions.run.sensors import found_sensors, sensors_of, with_found_metrics
from recorder.errors import WriterError, WriterStalledError
from recorder.shards import coordinator_environment
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from reporter.log.opened import opened
from reporter.log.so_far import so_far

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.ray.node_links import StartedNodes
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared
    from loadgen.sessions.settings.perf import PerfSettings
    from loadgen.sessions.settings.resume import ResumeSettings
    from reporter.log.so_far import RunSoFar

_OF_A_HOST: Final = frozenset({"host", "nvml"})
"""The sensors that read the machine that they run on: each node has them."""


def run_on_nodes(
    settings: PerfSettings, observer: Observer = SILENT
) -> tuple[Prepared, Path, WriterError | None]:
    """Run a session on a cluster; return session, folder, and the error of a failed log, if any.

    Raises:
        SetupError: The nodes cannot take part; which, and what to do.
        UsageError: A node would have nothing to do.
    """
    from loadgen.plugins.ray.ray_nodes import RayNodes
    from loadgen.sessions.files.run_folder import new_run_folder
    from loadgen.sessions.run.preflight import warn_of
    from loadgen.sessions.run.preparation import prepare
    from loadgen.sessions.run.scoring_at_end import warn_of_no_judge

    prepared = prepare(settings)
    require_watchable(prepared)
    with RayNodes(settings.cluster.ray or "auto", settings.cluster.nodes, Node) as nodes:
        require_same(machine_facts(), nodes.facts)
        prepared = replace(prepared, workers=_workers(prepared, nodes.facts))
        _require_capable(prepared, nodes.facts)
        nodes.start(prepared.workers + 1)
        warn_of(prepared, observer)
        folder = new_run_folder(settings.output.out, prepared.perf.endpoint.model)
        warn_of_no_judge(settings.tasks, observer)
        return prepared, folder, run_async(lambda: _recorded(prepared, nodes, folder, observer))


def _require_capable(prepared: Prepared, nodes: Sequence[Mapping[str, Any]]) -> None:
    """Raise `UsageError` or `SetupError` unless every node has work, and can do the work."""
    require_share(prepared.plan.load, len(nodes), prepared.workers)
    require_descriptors(prepared, min(node["open_files"] for node in nodes), len(nodes))


def _workers(prepared: Prepared, nodes: Sequence[Mapping[str, Any]]) -> int:
    """The number of worker processes of each node: as given, else by the load and the smallest machine."""
    from loadgen.driver.workers.launcher import workers_for

    plan, chosen = prepared.plan, prepared.perf.client.workers
    if chosen is not None:
        return chosen
    workers = workers_for(plan.load, plan.count, min(node["cpus"] for node in nodes), len(nodes))
    limit = plan.load.limit
    return workers if limit is None else max(1, min(workers, limit // len(nodes)))


async def _recorded(
    prepared: Prepared, nodes: StartedNodes, folder: Path, observer: Observer, session_id: str | None = None
) -> WriterError | None:
    """`measure_on_nodes`, but return the error that broke the coordinator's log, if any."""
    try:
        await measure_on_nodes(prepared, nodes, folder, observer, session_id)
    except WriterStalledError:
        raise
    except WriterError as error:
        # What was committed before can be reported; the report says that the run has no end.
        return error
    return None


async def measure_on_nodes(
    prepared: Prepared,
    nodes: StartedNodes,
    folder: Path,
    observer: Observer = SILENT,
    session_id: str | None = None,
) -> None:
    """Run a session on nodes into the log and the shards of a folder.

    Raises:
        UnreachableError, RejectedError: The endpoint is not ready, as seen from a node; without a log.
        WorkerLostError, NodeGoneError: A worker or a node ended before the session; without a log.
        StoppedEarlyError: A stop was requested before the session; without a log.
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
                await group.begin()
                background = [asyncio.create_task(announce_stop(stop, group, observer))]
                if prepared.perf.verdict.abort_on_fail and prepared.left is None:
                    following = watch_gate(folder / LOG_NAME, group, recorder, clock, stop, observer)
                    background.append(asyncio.create_task(following))
                log, scored = (folder / LOG_NAME if place.shared else None), prepared.accuracy is not None
                with observer.session(group.progress, plan, log, scored=scored):
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


def finish_on_nodes(
    settings: ResumeSettings, run: RunSoFar, folder: Path, observer: Observer
) -> tuple[Prepared, WriterError | None]:
    """Finish a session; return the remaining part, and the error of a failed log, if any.

    The nodes of now have their own names: each writes a shard more.

    Raises:
        SetupError: The nodes cannot take part; which, and what to do.
        UsageError: An input has changed, or a node would have nothing to do.
    """
    from loadgen.plugins.ray.ray_nodes import RayNodes

    cluster = resumed_settings(settings, run).cluster
    with opened(folder) as log:
        earlier = [(node.name, node.is_here) for node in log.nodes]
    with RayNodes(cluster.ray or "auto", cluster.nodes, Node, len(earlier)) as nodes:
        require_same(machine_facts(), nodes.facts)
        nodes.start(run.settings["workers"] + 1)
        return run_async(lambda: _finish(settings, run, earlier, nodes, folder, observer))


async def _finish(
    settings: ResumeSettings,
    run: RunSoFar,
    earlier: Sequence[tuple[str, bool]],
    nodes: StartedNodes,
    folder: Path,
    observer: Observer,
) -> tuple[Prepared, WriterError | None]:
    place = ShardPlace.of(resumed_settings(settings, run).cluster, run.session_id)
    try:
        await collect_unfinished(nodes.links, run.session_id, earlier, folder, place)
    except NodeGoneError as error:
        raise SetupError(f"the logs of the run could not be brought home: {error}") from error
    prepared = prepare_resumption(settings, so_far(folder))
    if not prepared.left:
        end_log(prepared, folder)
        return prepared, None
    _require_capable(prepared, nodes.facts)
    announce_rest(prepared, observer)
    return prepared, await _recorded(prepared, nodes, folder, observer, run.session_id)
