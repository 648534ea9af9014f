"""Measuring: from a prepared session to a log, which begins with the facts known before the first phase."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack, asynccontextmanager, closing
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgen.driver import own_health
from loadgen.driver.client.dialing import ignored_proxy
from loadgen.driver.load_session import LoadSession, PhaseHook
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import Clock, system_clock
from loadgen.driver.system.memory import allow_many_files, calm, return_free_memory
from loadgen.driver.workers.pool import WorkerPool
from loadgen.sessions.environment import environment
from loadgen.sessions.interrupt import note_stop
from loadgen.sessions.loop_recorder import announce_stop, put_all, recording
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.endpoint_probe import default_url_named, require_descriptors, require_ready
from loadgen.sessions.stored_calibration import warn_beyond
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Sequence
    from pathlib import Path

    from loadgen.driver.client.endpoint import Endpoint
    from loadgen.driver.requests.turn import Emit
    from loadgen.driver.sensing.sensor_process import SensorProcess
    from loadgen.driver.workers.launcher import WorkerLauncher
    from loadgen.sessions.run.preparation import Prepared
    from workloads.dataset import Dataset


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
    if not prepared.perf.telemetry.server_metrics:
        from loadgen.sessions.run.sensors import with_found_metrics

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
        async with _sensors(prepared, recorder) as sensors:
            await stop.unless_asked(_require_all_ready(prepared, targets, pool))
            return_free_memory()  # the questions have been sent
            async with recording(recorder, stop, observer):
                await put_first_facts(prepared, recorder, clock, stop)
                if sensors is not None:
                    await sensors.ready()
                warn_beyond(plan, recorder.put, clock.now_ns(), observer)
                background = [
                    asyncio.create_task(own_health.watch_parent(recorder.put)),
                    asyncio.create_task(announce_stop(stop, pool, observer)),
                ]
                if perf.verdict.abort_on_fail and prepared.left is None:
                    from loadgen.sessions.run.gate_watch import watch_gate

                    following = watch_gate(folder / LOG_NAME, pool, recorder, clock, stop, observer)
                    background.append(asyncio.create_task(following))
                with observer.session(pool.progress, plan, folder / LOG_NAME, scored=bool(prepared.accuracy)):
                    hooks = hooks_of(prepared, recorder.put, clock)
                    await LoadSession(plan, pool, recorder.put, clock, stop, hooks).run()
                await pool.end()
                if sensors is not None:
                    await sensors.finish()
                for task in background:
                    task.cancel()
                await asyncio.gather(*background, return_exceptions=True)
        if stop.asked.is_set():
            note_stop()


@asynccontextmanager
async def _sensors(prepared: Prepared, recorder: EventRecorder) -> AsyncIterator[SensorProcess | None]:
    """The sensors of a run; None where no option asks for sensors and no metrics page was found."""
    if not (prepared.metrics_pages or prepared.perf.telemetry.has_sensors):
        yield None
        return
    from loadgen.driver.sensing.sensor_process import SensorProcess
    from loadgen.sessions.run.sensors import found_sensors, sensors_of

    async with SensorProcess(sensors_of(prepared), recorder, found_sensors(prepared)) as sensors:
        yield sensors


def hooks_of(prepared: Prepared, emit: Emit, clock: Clock) -> list[PhaseHook]:
    """The hooks of the phases that options ask for."""
    hooks: list[PhaseHook] = []
    if prepared.perf.telemetry.server_profile:
        hooks.append(service("server_profile")(prepared.targets, emit, clock))
    if prepared.perf.load.probes is not None:
        hooks.append(service("load_probes")(prepared, emit, clock))
    return hooks


async def _require_all_ready(prepared: Prepared, targets: Sequence[Endpoint], pool: WorkerPool) -> None:
    if prepared.perf.endpoint.probe:
        with default_url_named(prepared.perf.endpoint):
            await asyncio.gather(
                *(require_ready(prepared.plan, prepared.perf.client.transport, target) for target in targets)
            )
    await pool.ready()


async def put_first_facts(prepared: Prepared, recorder: EventRecorder, clock: Clock, stop: Stop) -> None:
    """Record the facts known before the first phase."""
    if not prepared.targets[0].verify:
        recorder.put(
            _finding(
                clock.now_ns(),
                "tls_not_verified",
                "the server's TLS certificate was not verified (--insecure)",
                "trust the certificate's authority (SSL_CERT_FILE) and leave --insecure out",
                "warning",
            )
        )
    if prepared.perf.client.transport != "aiohttp" and (remark := ignored_proxy(prepared.targets[0])):
        recorder.put(
            _finding(
                clock.now_ns(),
                "proxy_ignored",
                f"Requests went directly to {prepared.targets[0].host}: {remark}.",
                f"Put {prepared.targets[0].host} into no_proxy, or give --transport aiohttp.",
            )
        )
    if prepared.perf.telemetry.declared_power is not None:
        from loadgen.sessions.run.sensors import declared_power

        recorder.put(declared_power(prepared.perf.telemetry.declared_power, clock.now_ns()))
    if prepared.left is None:  # a resumed log has them
        for finding in dataset_findings(prepared.dataset, clock.now_ns()):
            recorder.put(finding)
    if prepared.dataset.tasks:
        from loadgen.sessions.run.benchmark_questions import question_events

        questions = question_events(prepared.dataset, prepared.logged_questions, clock.now_ns())
        await put_all(recorder, questions, stop)


def dataset_findings(dataset: Dataset, at_ns: int) -> Iterator[Event]:
    """The findings on questions that differ from the request."""
    lengths, trace = dataset.facts.get("lengths") or {}, dataset.facts.get("trace") or {}
    if lengths.get("by") == "words":
        yield _finding(
            at_ns,
            "lengths_approximate",
            f"Lengths of prompts are approximate: a word was taken for {lengths['tokens_per_word']} tokens.",
            "Give the model's tokenizer with --tokenizer, and they are exact.",
        )
    if trace.get("unit") or dataset.facts.get("left_out"):
        from loadgen.sessions.run.rows_of_file import row_findings

        for finding in row_findings(dataset):
            yield _finding(at_ns, **finding)
    for finding in dataset.facts.get("findings") or ():
        yield Event(EventType.FINDING, at_ns, data=finding)


def _finding(at_ns: int, code: str, message: str, remedy: str, severity: str = "info") -> Event:
    data = {"code": code, "severity": severity, "message": message, "remedy": remedy}
    return Event(EventType.FINDING, at_ns, data=data)
