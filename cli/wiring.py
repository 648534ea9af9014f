"""Where the parts are put together: from a session that is ready to start to its log."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import sys
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

from cli.errors import SetupError
from cli.live import LiveView
from loadgen import own_health
from loadgen.client import chat_completions, completions
from loadgen.client.arrival import timestamp_source
from loadgen.client.http_transport import HttpTransport
from loadgen.clock import system_clock
from loadgen.open_files import allow_many_files
from loadgen.plan import LoadKind
from loadgen.probe import Prober
from loadgen.session import Session
from loadgen.stop import Stop
from loadgen.turn import Asker
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from pathlib import Path

    from cli.preparing import Prepared
    from loadgen.client.codec import Codec
    from loadgen.plan import Load
    from loadgen.progress import Progress

CODECS: Final[dict[str, Codec]] = {"chat": chat_completions, "completions": completions}
"""Protocols by the name that `--protocol` takes."""

PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two questions before a run: more than a connection may take, so that who cannot be reached
is told from who does not answer."""

SPARE_FILES: Final = 64
"""Descriptors for everything but connections."""

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


async def measure(prepared: Prepared, folder: Path, *, probe: bool, quiet: bool) -> None:
    """Run a session into the log of a folder.

    Raises:
        SetupError: This machine cannot put on that load.
        UnreachableError, RejectedError: The endpoint is not ready; there is no log then.
        WriterError: The log could not be written to its end.
    """
    plan, stop = prepared.plan, Stop()
    _require_descriptors(plan.load, plan.requests)
    codec = CODECS[plan.protocol]
    transport = HttpTransport(prepared.target, plan.timeout_s)
    clock = system_clock()
    try:
        if probe:
            await _require_ready(prepared)
        recorder = EventRecorder(
            path=folder / LOG_NAME,
            settings=prepared.settings(),
            environment=_environment(),
            on_failure=_stopper(stop),
        )
        with stop.on_signals(), recorder:
            asker = Asker(transport, codec, plan.generation, recorder.put)
            session = Session(plan, prepared.dataset.samples, asker, recorder.put, clock, stop)
            if not prepared.target.verify:
                recorder.put(_insecure_finding(clock.now_ns()))
            watching = asyncio.create_task(own_health.watch(recorder.put, session.progress))
            _calm_the_collector()
            stopping = asyncio.create_task(_tell_of_stopping(stop, session.progress))
            with LiveView(session.progress, plan, quiet=quiet):
                await session.run()
            for task in (watching, stopping):
                task.cancel()
            await asyncio.gather(watching, stopping, return_exceptions=True)
    finally:
        await transport.close()
        clock.close()


async def _require_ready(prepared: Prepared) -> None:
    """Ask the endpoint about itself; one that takes its time gets the benefit of the doubt."""
    plan = prepared.plan
    transport = HttpTransport(prepared.target, min(PROBE_TIMEOUT_S, plan.timeout_s))
    try:
        await Prober(transport, CODECS[plan.protocol], plan.generation).require_ready()
    finally:
        await transport.close()


async def _tell_of_stopping(stop: Stop, progress: Progress) -> None:
    """Say what is awaited, and how not to await it."""
    await stop.draining.wait()
    if not stop.aborting.is_set():
        sys.stderr.write(f"\nstopping: {progress.in_flight} requests in flight; Ctrl-C again gives them up\n")


def _environment() -> dict[str, Any]:
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


def _calm_the_collector() -> None:
    """Let the garbage collector leave alone what lives to the end, and come less often: it stops all."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 50, 100)


def _require_descriptors(load: Load, requests: int | None) -> None:
    """Make sure that this process may open a connection for each request in flight.

    Raises:
        SetupError: It may not.
    """
    limit = allow_many_files()
    wanted = requests if load.kind is LoadKind.OFFLINE else load.concurrency
    if wanted is not None and wanted > limit - SPARE_FILES:
        raise SetupError(
            f"{wanted} requests in flight need as many connections, and this process may open {limit} files; "
            "raise `ulimit -n`, or put on less load at once",
        )
