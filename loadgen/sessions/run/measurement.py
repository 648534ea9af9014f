"""Where the parts are put together: from a session that is ready to start to its log."""

from __future__ import annotations

import asyncio
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver import own_health
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.transports import load_transport
from loadgen.driver.load import in_flight, limit_of
from loadgen.driver.probe import Prober
from loadgen.driver.session import Session
from loadgen.driver.shard import Shard
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.system.collector import calm
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
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.observer import Observer
    from loadgen.sessions.run.preparation import Prepared

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two questions before a run: more than a connection may take, so that who cannot be reached
is told from who does not answer."""

SPARE_FILES: Final = 64
"""Descriptors for everything but connections."""


async def measure(
    prepared: Prepared, launcher: WorkerLauncher, folder: Path, observer: Observer = SILENT
) -> None:
    """Run a session into the log of a folder.

    Raises:
        SetupError: This machine cannot put on that load.
        UnreachableError, RejectedError: The endpoint is not ready; there is no log then.
        StoppedEarlyError: Somebody asked to stop before the session; there is no log then.
        WriterError: The log could not be written to its end.
    """
    plan, given, stop, clock = prepared.plan, prepared.given, Stop(), system_clock()
    _require_descriptors(prepared)
    recorder = EventRecorder(
        path=folder / LOG_NAME,
        settings=prepared.settings(),
        environment=environment(),
        resume=prepared.left is not None,
        after_seq=prepared.after_seq,
        on_failure=_stopper(stop),
    )
    observer.stoppable(_from_any_thread(stop))
    with closing(clock), closing(recorder), stop.on_signals():
        pool = WorkerPool(launcher, plan, recorder, clock, stop)
        pool.begin(prepared.targets, prepared.agenda(), given.client.connect_ahead)
        calm()
        await stop.unless_asked(_require_all_ready(prepared, pool))
        async with recording(recorder, stop, observer):
            if not prepared.targets[0].verify:
                recorder.put(_insecure_finding(clock.now_ns()))
            if prepared.left is None:  # a log that is gone on with has them
                for finding in dataset_findings(prepared.dataset, clock.now_ns()):
                    recorder.put(finding)
            await put_all(recorder, question_events(prepared.dataset, prepared.told, clock.now_ns()), stop)
            warn_beyond(plan, recorder.put, clock.now_ns(), observer)
            beside = [
                asyncio.create_task(own_health.watch_parent(recorder.put)),
                asyncio.create_task(_tell_of_stopping(stop, pool, observer)),
            ]
            if given.verdict.abort_on_fail and prepared.left is None:
                following = watch_gate(folder / LOG_NAME, pool, recorder, clock, stop, observer)
                beside.append(asyncio.create_task(following))
            with observer.session(pool.progress, plan):
                await Session(plan, pool, recorder.put, clock, stop).run()
            await pool.end()
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        if stop.asked.is_set():
            note_stop()


async def _require_all_ready(prepared: Prepared, pool: WorkerPool) -> None:
    if prepared.given.probe:
        await asyncio.gather(*(_require_ready(prepared, target) for target in prepared.targets))
    await pool.ready()


async def _require_ready(prepared: Prepared, target: Endpoint) -> None:
    """Ask an endpoint about itself; one that takes its time gets the benefit of the doubt."""
    plan = prepared.plan
    make_transport = load_transport(prepared.given.client.transport)
    transport = make_transport(target, plan.timeouts.within(PROBE_TIMEOUT_S))
    try:
        codec = codec_of(plan.protocol, plan.protocol_options)
        with default_url_named(prepared.given):
            await Prober(transport, codec, plan.generation).require_ready()
    finally:
        await transport.close()


async def _tell_of_stopping(stop: Stop, pool: WorkerPool, observer: Observer) -> None:
    """Say what is awaited, and how not to await it; quietly only to who has asked for the stop."""
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


def _from_any_thread(stop: Stop) -> Callable[[], None]:
    loop = asyncio.get_running_loop()

    def ask() -> None:
        with suppress(RuntimeError):  # the loop is closed: the session is over
            loop.call_soon_threadsafe(stop.ask)

    return ask


def _stopper(stop: Stop) -> Any:
    """Tell the session, from the writer's thread, that going on is pointless: nothing can be recorded."""
    loop = asyncio.get_running_loop()

    def ask(_: Exception) -> None:
        loop.call_soon_threadsafe(stop.ask)
        loop.call_soon_threadsafe(stop.ask)

    return ask


def _require_descriptors(prepared: Prepared) -> None:
    """Make sure that a process may open a connection for each request that it has in flight.

    Of several endpoints each may come to have as many connections, for they are kept.

    Raises:
        SetupError: It may not.
    """
    limit, plan, workers = allow_many_files(), prepared.plan, prepared.workers
    streams, bound = in_flight(plan.load, plan.count), limit_of(plan.load)
    if bound is not None:
        streams = min(streams or bound, bound)
    connections = max((streams or 0) * len(prepared.targets), prepared.given.client.connect_ahead)
    wanted = Shard(0, workers).of(connections) + SPARE_FILES
    if wanted > limit:
        more = "give more --workers, " if limit > SPARE_FILES else ""
        raise SetupError(
            f"{connections} connections at once are asked for: with --workers {workers} a process then needs "
            f"{wanted} open files ({SPARE_FILES} of them for itself), and it may open {limit}; "
            f"raise the limit (`ulimit -n {wanted}`), {more}or put on less load",
        )
