"""Where the parts are put together: from a session that is ready to start to its log."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from contextlib import closing, suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from cli.benchmark_questions import question_events
from cli.calibration.kept import warn_beyond
from cli.dataset_findings import dataset_findings
from cli.errors import SetupError
from cli.gate_watch import watch_gate
from cli.interrupt import note_stop
from cli.live import LiveView
from cli.recording import put_all, recording
from loadgen import own_health
from loadgen.client.arrival import timestamp_source
from loadgen.clock import system_clock
from loadgen.collector import calm
from loadgen.open_files import allow_many_files
from loadgen.plan import LoadKind
from loadgen.probe import Prober
from loadgen.session import Session
from loadgen.share import Share
from loadgen.stop import Stop
from loadgen.workers.crew import ProcessCrew, WorkerLostError
from loadgen.workers.parts import codec_of, load_transport
from loadgen.workers.sizing import usable_cpus
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from pathlib import Path

    from cli.preparing import Prepared
    from loadgen.client.endpoint import Endpoint
    from loadgen.workers.staff import Staff

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two questions before a run: more than a connection may take, so that who cannot be reached
is told from who does not answer."""

SPARE_FILES: Final = 64
"""Descriptors for everything but connections."""

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


async def measure(prepared: Prepared, staff: Staff, folder: Path) -> None:
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
    with closing(clock), stop.on_signals():
        crew = ProcessCrew(staff, plan, recorder, clock, stop)
        crew.begin(prepared.targets, prepared.agenda(), given.connect_ahead)
        calm()
        await stop.unless_asked(_require_all_ready(prepared, crew))
        async with recording(recorder, stop):
            if not prepared.targets[0].verify:
                recorder.put(_insecure_finding(clock.now_ns()))
            if prepared.left is None:  # a log that is gone on with has them
                for finding in dataset_findings(prepared.dataset, clock.now_ns()):
                    recorder.put(finding)
            await put_all(recorder, question_events(prepared.dataset, prepared.told, clock.now_ns()), stop)
            warn_beyond(plan, recorder.put, clock.now_ns(), quiet=given.quiet)
            beside = [
                asyncio.create_task(own_health.watch_parent(recorder.put)),
                asyncio.create_task(_tell_of_stopping(stop, crew, quiet=given.quiet)),
            ]
            if given.abort_on_fail and prepared.left is None:
                following = watch_gate(folder / LOG_NAME, crew, recorder, clock, stop)
                beside.append(asyncio.create_task(following))
            with LiveView(crew.progress, plan, quiet=given.quiet):
                await Session(plan, crew, recorder.put, clock, stop).run()
            await crew.end()
            for task in beside:
                task.cancel()
            await asyncio.gather(*beside, return_exceptions=True)
        if stop.asked.is_set():
            note_stop()


async def _require_all_ready(prepared: Prepared, crew: ProcessCrew) -> None:
    if prepared.given.probe:
        await asyncio.gather(*(_require_ready(prepared, target) for target in prepared.targets))
    await _require_workers(crew)


async def _require_ready(prepared: Prepared, target: Endpoint) -> None:
    """Ask an endpoint about itself; one that takes its time gets the benefit of the doubt."""
    plan = prepared.plan
    make_transport = load_transport(prepared.given.transport)
    transport = make_transport(target, plan.timeouts.within(PROBE_TIMEOUT_S))
    try:
        codec = codec_of(plan.protocol, plan.protocol_options)
        await Prober(transport, codec, plan.generation).require_ready()
    finally:
        await transport.close()


async def _require_workers(crew: ProcessCrew) -> None:
    try:
        await crew.ready()
    except WorkerLostError as error:
        raise SetupError(str(error)) from error


async def _tell_of_stopping(stop: Stop, crew: ProcessCrew, *, quiet: bool) -> None:
    """Say what is awaited, and how not to await it; quietly only to who has asked for the stop."""
    await stop.draining.wait()
    if not stop.aborting.is_set() and not (quiet and stop.reason != "interrupted"):
        how = "Ctrl-C again gives" if stop.reason == "interrupted" else "Ctrl-C gives"
        sys.stderr.write(f"\nstopping: {crew.in_flight} requests in flight; {how} them up\n")


def environment() -> dict[str, Any]:
    """What the log says of this program and of this machine."""
    packages = {}
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            packages[name] = version(name)
    return {
        "version": packages.get("llm-loadgen", "unknown"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "host": platform.node(),
        "cpus": os.cpu_count(),
        "usable_cpus": usable_cpus(),
        "timestamp_source": timestamp_source(),
        "packages": packages,
    }


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
    load = plan.load
    in_flight = plan.count if load.kind is LoadKind.OFFLINE else load.concurrency
    if load.max_concurrency is not None:
        in_flight = min(in_flight or load.max_concurrency, load.max_concurrency)
    connections = max((in_flight or 0) * len(prepared.targets), prepared.given.connect_ahead)
    wanted = Share(0, workers).of(connections) + SPARE_FILES
    if wanted > limit:
        more = "give more --workers, " if limit > SPARE_FILES else ""
        raise SetupError(
            f"{connections} connections at once are asked for: with --workers {workers} a process then needs "
            f"{wanted} open files ({SPARE_FILES} of them for itself), and it may open {limit}; "
            f"raise the limit (`ulimit -n {wanted}`), {more}or put on less load",
        )
