"""Where the parts are put together: from the settings of a session to its log."""

from __future__ import annotations

import asyncio
import gc
import os
import platform
import sys
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, Final

import orjson

from cli.errors import SetupError, UsageError
from cli.judging import read_rules
from cli.live import LiveView
from loadgen import own_health
from loadgen.client import chat_completions, completions
from loadgen.client.arrival import timestamp_source
from loadgen.client.codec import Codec, Generation
from loadgen.client.endpoint import Endpoint, endpoint
from loadgen.client.http_transport import HttpTransport
from loadgen.clock import system_clock
from loadgen.open_files import allow_many_files
from loadgen.plan import Load, LoadKind, Plan
from loadgen.probe import Prober
from loadgen.session import Session
from loadgen.stop import Stop
from loadgen.turn import Asker
from recorder.event import Event, EventType
from recorder.store import LOG_NAME
from recorder.writer import EventRecorder

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from cli.endpoint_settings import EndpointSettings
    from cli.perf_settings import PerfSettings
    from loadgen.progress import Progress
    from rulesets.ruleset import Ruleset
    from workloads.dataset import Dataset

CODECS: Final[dict[str, Codec]] = {"chat": chat_completions, "completions": completions}
"""Protocols by the name that `--protocol` takes."""

DEFAULT_CONCURRENCY: Final = 8
DEFAULT_REQUESTS: Final = 100
PROBE_TIMEOUT_S: Final = 15.0
"""For each of the two questions before a run: more than a connection may take, so that who cannot be reached
is told from who does not answer."""

MOST_PROMPTS: Final = 10_000
"""So many different prompts are made up at most, in about 0.1 s; a longer run asks them again."""

SPARE_FILES: Final = 64
"""Descriptors for everything but connections."""

_PACKAGES: Final = ("llm-loadgen", "httptools", "orjson")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session that is ready to start: everything has been read and checked, nothing sent."""

    plan: Plan
    target: Endpoint
    dataset: Dataset
    rules: Ruleset | None
    given: PerfSettings

    def settings(self) -> dict[str, Any]:
        """What the log keeps: all that is needed to repeat the run, of headers the names only."""
        return {
            "command": "perf",
            "url": self.target.url,
            **self.plan.settings(),
            "headers": sorted(self.target.headers),
            "verify_tls": self.target.verify,
            "probe": self.given.probe,
            "dataset": {
                "name": _said(self.dataset.name),
                "sha256": self.dataset.sha256,
                "rows": len(self.dataset.samples),
                "synthetic": self.dataset.synthetic,
                "path": None if self.given.prompts is None else _said(self.given.prompts),
                "prompt_column": self.given.prompt_column,
                "system_column": self.given.system_column,
            },
            "ruleset": None if self.rules is None else self.rules.to_dict(),
        }


def prepare(settings: PerfSettings) -> Prepared:
    """Check settings and read the prompts.

    Raises:
        UsageError, PlanError, EndpointError, WorkloadError: What is wrong, and where.
    """
    target = target_of(settings)
    dataset = None if settings.prompts is None else _read(settings)
    requests = settings.requests
    if requests is None and settings.duration is None:
        requests = DEFAULT_REQUESTS if dataset is None else len(dataset.samples)
    plan = Plan(
        load=_load(settings),
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
    rules = read_rules(settings.require, settings.ruleset)
    return Prepared(plan, target, dataset or _made_up(plan), rules, settings)


def target_of(settings: EndpointSettings) -> Endpoint:
    """The endpoint that settings name.

    Raises:
        UsageError, EndpointError: The URL or a header cannot be used.
    """
    return endpoint(settings.url, _headers(settings), verify=not settings.insecure)


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
    _require_descriptors(plan.load, plan.requests)
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


def _said(name: object) -> str:
    """A file's name as text, also where its bytes are none."""
    return str(name).encode(errors="replace").decode()


def _load(settings: PerfSettings) -> Load:
    if settings.offline:
        return Load(LoadKind.OFFLINE)
    if settings.rate is not None:
        return Load(LoadKind(settings.arrival or "poisson"), rate=settings.rate)
    concurrency = DEFAULT_CONCURRENCY if settings.concurrency is None else settings.concurrency
    return Load(LoadKind.CLOSED, concurrency=concurrency)


def _read(settings: PerfSettings) -> Dataset:
    from workloads.prompts import load_prompts

    assert settings.prompts is not None  # noqa: S101 (the caller has looked)
    return load_prompts(settings.prompts, settings.prompt_column, settings.system_column)


def _made_up(plan: Plan) -> Dataset:
    """Prompts enough to ask none twice, as far as that can be told, within bounds."""
    from workloads.synthetic import synthetic_prompts

    wanted = plan.requests
    if wanted is None:
        expected = (plan.load.rate or MOST_PROMPTS) * (plan.duration_s or 0.0)
        # A Poisson process brings more than expected, now and then.
        wanted = round(min(expected * 1.2 + 50, MOST_PROMPTS))
    return synthetic_prompts(min(wanted + plan.warmup, MOST_PROMPTS), seed=plan.seed)


def _headers(settings: EndpointSettings) -> Mapping[str, str]:
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


async def _tell_of_stopping(stop: Stop, progress: Progress) -> None:
    """Say what is awaited, and how not to await it."""
    await stop.draining.wait()
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
