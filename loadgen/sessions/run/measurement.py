"""Measuring: from a session that is ready to start to its log."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.driver import own_health
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transports import load_transport
from loadgen.driver.load import in_flight, limit_of
from loadgen.driver.probe import Prober
from loadgen.driver.providers.process import reached
from loadgen.driver.sensing.child import SensorProcess
from loadgen.driver.session import Session
from loadgen.driver.shard import Shard
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.collector import calm
from loadgen.driver.system.memory import return_free_memory
from loadgen.driver.system.open_files import allow_many_files
from loadgen.driver.workers.pool import WorkerPool
from loadgen.sessions.calibration.stored import warn_beyond
from loadgen.sessions.errors import SetupError
from loadgen.sessions.interrupt import note_stop
from loadgen.sessions.observer import SILENT
from loadgen.sessions.run.benchmark_questions import question_events
from loadgen.sessions.run.dataset_findings import dataset_findings
from loadgen.sessions.run.default_url import default_url_named
from loadgen.sessions.run.environment import environment
from loadgen.sessions.run.gate_watch import watch_gate
from loadgen.sessions.run.recording import put_all, recording
from loadgen.sessions.run.sensors import declared_power, sensors_of
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two requests before a run: more than a connection may take, so that an unreachable endpoint
is distinguished from a silent one."""

SPARE_FILES: Final = 64
"""File descriptors for everything but connections."""


async def measure(
    prepared: Prepared, launcher: WorkerLauncher, folder: Path, observer: Observer = SILENT
) -> None:
    """Run a session into the log of a folder.

    Raises:
        SetupError: This machine cannot generate that load.
        UnreachableError, RejectedError: The endpoint is not ready; there is no log then.
        StoppedEarlyError: A stop was requested before the session; there is no log then.
        WriterError: The log could not be written to its end.
    """
    plan, perf, stop, clock = prepared.plan, prepared.perf, Stop(), system_clock()
    if plan.episodes is not None:
        plan = replace(plan, episodes=plan.episodes.in_folder(folder))
    _require_descriptors(prepared)
    recorder = EventRecorder(
        path=folder / LOG_NAME,
        settings=prepared.settings(),
        environment=environment(),
        resume=prepared.left is not None,
        after_seq=prepared.after_seq,
        on_failure=stop.on_failure(),
    )
    observer.stoppable(stop.from_any_thread())
    with ExitStack() as providers, closing(clock), closing(recorder), stop.on_signals():
        pool = WorkerPool(launcher, plan, recorder, clock, stop)
        targets = providers.enter_context(reached(prepared.targets))
        pool.begin(targets, prepared.agenda(), perf.client.connect_ahead)
        calm()
        async with SensorProcess(sensors_of(prepared), recorder) as sensors:
            await stop.unless_asked(_require_all_ready(prepared, targets, pool))
            return_free_memory()  # the questions have been sent
            async with recording(recorder, stop, observer):
                if not prepared.targets[0].verify:
                    recorder.put(_insecure_finding(clock.now_ns()))
                if prepared.left is None:  # a resumed log has them
                    for finding in dataset_findings(prepared.dataset, clock.now_ns()):
                        recorder.put(finding)
                await put_all(
                    recorder,
                    question_events(prepared.dataset, prepared.logged_questions, clock.now_ns()),
                    stop,
                )
                await sensors.ready()
                for declared in declared_power(prepared, clock.now_ns()):
                    recorder.put(declared)
                warn_beyond(plan, recorder.put, clock.now_ns(), observer)
                background = [
                    asyncio.create_task(own_health.watch_parent(recorder.put)),
                    asyncio.create_task(_announce_stop(stop, pool, observer)),
                ]
                if perf.verdict.abort_on_fail and prepared.left is None:
                    following = watch_gate(folder / LOG_NAME, pool, recorder, clock, stop, observer)
                    background.append(asyncio.create_task(following))
                with observer.session(pool.progress, plan, folder / LOG_NAME):
                    await Session(plan, pool, recorder.put, clock, stop).run()
                await pool.end()
                await sensors.finish()
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
        if stop.asked.is_set():
            note_stop()


async def _require_all_ready(prepared: Prepared, targets: Sequence[Endpoint], pool: WorkerPool) -> None:
    if prepared.perf.endpoint.probe:
        await asyncio.gather(*(_require_ready(prepared, target) for target in targets))
    await pool.ready()


async def _require_ready(prepared: Prepared, target: Endpoint) -> None:
    """Check an endpoint; a slow one is assumed to be ready."""
    plan = prepared.plan
    make_transport = load_transport(prepared.perf.client.transport)
    transport = make_transport(target, plan.timeouts.within(PROBE_TIMEOUT_S))
    try:
        codec = codec_of(plan.protocol, plan.protocol_options)
        with default_url_named(prepared.perf.endpoint):
            await Prober(transport, codec, plan.generation).require_ready()
    finally:
        await transport.close()


async def _announce_stop(stop: Stop, pool: WorkerPool, observer: Observer) -> None:
    """Say what is awaited, and how to abort; quietly only after a user's request to stop."""
    await stop.draining.wait()
    if stop.aborting.is_set():
        return
    if stop.reason == "interrupted":
        observer.note(f"stopping: {pool.in_flight} requests in flight; Ctrl-C again gives them up")
    else:
        observer.progress(f"stopping: {pool.in_flight} requests in flight; Ctrl-C gives them up")


def _insecure_finding(at_ns: int) -> Event:
    return Event(
        EventType.FINDING,
        at_ns,
        data={
            "code": "tls_not_verified",
            "severity": "warning",
            "message": "the server's TLS certificate was not verified (--insecure)",
            "remedy": "trust the certificate's authority (SSL_CERT_FILE) and leave --insecure out",
        },
    )


def _require_descriptors(prepared: Prepared) -> None:
    """Make sure that a process may open a connection for each request that it has in flight.

    Each of several endpoints may get this many connections, because they are kept.

    Raises:
        SetupError: It may not open as many.
    """
    limit, plan, workers = allow_many_files(), prepared.plan, prepared.workers
    streams, bound = in_flight(plan.load, plan.count), limit_of(plan.load)
    if bound is not None:
        streams = min(streams or bound, bound)
    connections = max((streams or 0) * len(prepared.targets), prepared.perf.client.connect_ahead)
    wanted = Shard(0, workers).of(connections) + SPARE_FILES
    if wanted > limit:
        more = "give more --workers, " if limit > SPARE_FILES else ""
        raise SetupError(
            f"{connections} connections are needed at once: with --workers {workers} a process then needs "
            f"{wanted} open files ({SPARE_FILES} of them for itself), and it may open {limit}; "
            f"raise the limit (`ulimit -n {wanted}`), {more}or put on less load",
        )
