"""Where the parts are put together: from the settings of a session to its log."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import resource
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

import orjson

from cli.errors import UsageError
from cli.live import LiveView
from cli.run_folder import LOG
from loadgen import own_health
from loadgen.client import chat_completions, completions
from loadgen.client.arrival import timestamp_source
from loadgen.client.codec import Codec, Generation
from loadgen.client.endpoint import Endpoint, endpoint
from loadgen.client.http_transport import HttpTransport
from loadgen.clock import system_clock
from loadgen.plan import Load, LoadKind, Plan
from loadgen.probe import Prober
from loadgen.session import Session
from loadgen.stop import Stop
from loadgen.turn import Asker
from recorder.event import Event, EventType
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cli.perf_settings import PerfSettings
    from workloads.dataset import Dataset

CODECS: Final[dict[str, Codec]] = {"chat": chat_completions, "completions": completions}
"""Protocols by the name that `--protocol` takes."""

DEFAULT_CONCURRENCY: Final = 8
DEFAULT_REQUESTS: Final = 100
PROBE_TIMEOUT_S: Final = 10.0
"""For each of the two questions before a run."""

SYNTHETIC_PROMPTS: Final = 1000
"""How many different prompts are made up; a longer run asks them again."""

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session that is ready to start: everything has been read and checked, nothing sent."""

    plan: Plan
    target: Endpoint
    dataset: Dataset

    def settings(self) -> dict[str, Any]:
        """What the log keeps, without secrets: of headers the names only."""
        return {
            "command": "perf",
            "url": self.target.url,
            **self.plan.settings(),
            "headers": sorted(self.target.headers),
            "verify_tls": self.target.verify,
            "dataset": {
                "name": self.dataset.name,
                "sha256": self.dataset.sha256,
                "rows": len(self.dataset.samples),
                "synthetic": self.dataset.synthetic,
            },
        }


def prepare(settings: PerfSettings) -> Prepared:
    """Check settings and read the prompts.

    Raises:
        UsageError, PlanError, EndpointError, WorkloadError: What is wrong, and where.
    """
    target = endpoint(settings.url, _headers(settings), verify=not settings.insecure)
    load = _load(settings)
    dataset = _dataset(settings)
    requests = settings.requests
    if requests is None and settings.duration is None:
        requests = DEFAULT_REQUESTS if dataset.synthetic else len(dataset.samples)
    plan = Plan(
        load=load,
        requests=requests,
        duration_s=settings.duration,
        warmup=settings.warmup,
        generation=Generation(
            model=settings.model,
            max_tokens=settings.max_tokens,
            temperature=settings.temperature,
            stream=settings.stream,
            extra_body=_extra_body(settings.extra_body),
        ),
        protocol=settings.protocol,
        seed=settings.seed,
        timeout_s=settings.timeout,
    )
    return Prepared(plan, target, dataset)


async def measure(prepared: Prepared, folder: Path, *, probe: bool, quiet: bool) -> None:
    """Run a session into the log of a folder.

    Raises:
        UnreachableError, RejectedError: The endpoint is not ready; there is no log then.
        WriterError: The log could not be written to its end.
    """
    plan, stop = prepared.plan, Stop()
    codec = CODECS[plan.protocol]
    transport = HttpTransport(prepared.target, plan.timeout_s)
    clock = system_clock()
    _allow_many_files()
    try:
        if probe:
            await _require_ready(prepared)
        recorder = EventRecorder(
            path=folder / LOG,
            settings=prepared.settings(),
            environment=_environment(),
            on_failure=_stopper(stop),
        )
        with recorder, stop.on_signals():
            asker = Asker(transport, codec, plan.generation, recorder.put)
            session = Session(plan, prepared.dataset.samples, asker, recorder.put, clock, stop)
            if not prepared.target.verify:
                recorder.put(_insecure_finding(clock.now_ns()))
            watching = asyncio.create_task(own_health.watch(recorder.put, session.progress))
            # What is alive now lives to the end: the collector need not look at it again.
            gc.collect()
            gc.freeze()
            with LiveView(session.progress, plan, quiet=quiet):
                await session.run()
            watching.cancel()
            with suppress(asyncio.CancelledError):
                await watching
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


def _load(settings: PerfSettings) -> Load:
    if settings.offline:
        return Load(LoadKind.OFFLINE)
    if settings.rate is not None:
        return Load(LoadKind(settings.arrival or "poisson"), rate=settings.rate)
    concurrency = DEFAULT_CONCURRENCY if settings.concurrency is None else settings.concurrency
    return Load(LoadKind.CLOSED, concurrency=concurrency)


def _dataset(settings: PerfSettings) -> Dataset:
    if settings.prompts is not None:
        from workloads.prompts import load_prompts

        return load_prompts(settings.prompts, settings.prompt_column, settings.system_column)
    from workloads.synthetic import synthetic_prompts

    return synthetic_prompts(
        min(settings.requests or SYNTHETIC_PROMPTS, SYNTHETIC_PROMPTS), seed=settings.seed
    )


def _headers(settings: PerfSettings) -> Mapping[str, str]:
    headers = {"User-Agent": f"llm-loadgen/{version('llm-loadgen')}"}
    if settings.api_key:
        headers["Authorization"] = f"Bearer {settings.api_key}"
    for given in settings.header:
        name, colon, value = given.partition(":")
        if not colon:
            # The text may be a secret that lacks its name: it is not repeated.
            raise UsageError("--header: write 'Name: value', there is no colon in one of them")
        headers[name.strip()] = value.strip()
    return headers


def _extra_body(text: str | None) -> Mapping[str, Any]:
    if text is None:
        return {}
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--extra-body is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise UsageError("--extra-body must be a JSON object, e.g. '{\"ignore_eos\": true}'")
    return members


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
        "argv0": sys.argv[0].rsplit("/", 1)[-1],
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


def _allow_many_files() -> None:
    """Raise the soft limit of open files to the hard one: every request in flight is a socket."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
