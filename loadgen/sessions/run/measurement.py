"""Measuring: from a prepared session to a log."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgen.driver import own_health
from loadgen.driver.load_session import LoadSession, PhaseHook
from loadgen.driver.sensing.sensor_process import SensorProcess
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import Clock, system_clock
from loadgen.driver.system.memory import allow_many_files, calm, return_free_memory
from loadgen.driver.workers.pool import WorkerPool
from loadgen.sessions.environment import environment
from loadgen.sessions.interrupt import note_stop
from loadgen.sessions.loop_recorder import announce_stop, recording
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.endpoint_probe import default_url_named, require_descriptors, require_ready
from loadgen.sessions.run.first_facts import put_first_facts
from loadgen.sessions.run.sensors import declared_power, found_sensors, sensors_of, with_found_metrics
from loadgen.sessions.stored_calibration import warn_beyond
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.run.preparation import Prepared


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
    prepared = await with_found_metrics(prepared)
    plan, perf, stop, clock = prepared.plan, prepared.perf, Stop(), system_clock()
    if plan.session_kind is not None:
        plan = replace(plan, session_kind=plan.session_kind.in_folder(folder))
    require_descriptors(prepared, allow_many_files())
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
        if perf.episodes.debug:
            from loadgen.sessions.run.debug_log import debug_log

            providers.enter_context(debug_log(folder / LOG_NAME))
        pool = WorkerPool(launcher, plan, recorder, clock, stop)
        targets = prepared.targets
        if any("litellm" in target.host for target in targets):
            from loadgen.driver.providers.litellm_process import reached

            targets = providers.enter_context(reached(targets))
        pool.begin(targets, prepared.request_source(), perf.client.connect_ahead)
        calm()
        async with SensorProcess(sensors_of(prepared), recorder, found_sensors(prepared)) as sensors:
            await stop.unless_asked(_require_all_ready(prepared, targets, pool))
            return_free_memory()  # the questions have been sent
            async with recording(recorder, stop, observer):
                await put_first_facts(prepared, recorder, clock, stop)
                await sensors.ready()
                for declared in declared_power(prepared, clock.now_ns()):
                    recorder.put(declared)
                warn_beyond(plan, recorder.put, clock.now_ns(), observer)
                background = [
                    asyncio.create_task(own_health.watch_parent(recorder.put)),
                    asyncio.create_task(announce_stop(stop, pool, observer)),
                ]
                if perf.verdict.abort_on_fail and prepared.left is None:
                    from loadgen.sessions.run.gate_watch import watch_gate

                    following = watch_gate(folder / LOG_NAME, pool, recorder, clock, stop, observer)
                    background.append(asyncio.create_task(following))
                with observer.session(pool.progress, plan, folder / LOG_NAME):
                    hooks = hooks_of(prepared, recorder.put, clock)
                    await LoadSession(plan, pool, recorder.put, clock, stop, hooks).run()
                await pool.end()
                await sensors.finish()
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
        if stop.asked.is_set():
            note_stop()


def hooks_of(prepared: Prepared, emit: Emit, clock: Clock) -> list[PhaseHook]:
    """The hooks of the phases that options ask for."""
    if not prepared.perf.telemetry.server_profile:
        return []
    return [service("server_profile")(prepared.targets, emit, clock)]


async def _require_all_ready(prepared: Prepared, targets: Sequence[Endpoint], pool: WorkerPool) -> None:
    if prepared.perf.endpoint.probe:
        with default_url_named(prepared.perf.endpoint):
            await asyncio.gather(
                *(require_ready(prepared.plan, prepared.perf.client.transport, target) for target in targets)
            )
    await pool.ready()
