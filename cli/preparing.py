"""From what was said on the command line to a session that is ready to start."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from cli.errors import UsageError
from cli.judging import read_rules
from cli.kept_options import kept
from cli.protocol_options import headers_of, options_of
from loadgen.budget import ErrorBudget
from loadgen.client.codec import Generation
from loadgen.client.endpoint import Endpoint, endpoint
from loadgen.client.timeouts import Timeouts
from loadgen.plan import Load, LoadKind, Plan
from loadgen.workers.parts import DESCRIBED
from loadgen.workers.sizing import usable_cpus, workers_for

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.endpoint_settings import EndpointSettings
    from cli.perf_settings import PerfSettings
    from rulesets.ruleset import Ruleset
    from workloads.dataset import Dataset
    from workloads.sample import Sample

DEFAULT_CONCURRENCY: Final = 8
DEFAULT_REQUESTS: Final = 100

MOST_PROMPTS: Final = 10_000
"""So many different prompts are made up at most, in about 0.1 s; a longer run asks them again."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session that is ready to start: everything has been read and checked, nothing sent.

    Attributes:
        left: Of a run that is resumed, what its requests are to ask, warm-up first; None for a new run, whose
            requests go through the dataset.
        after_seq: The last event of the log from which that is known; None for a new run.
    """

    plan: Plan
    target: Endpoint
    dataset: Dataset
    rules: Ruleset | None
    workers: int
    given: PerfSettings
    left: tuple[Sample, ...] | None = None
    after_seq: int | None = None

    @property
    def samples(self) -> tuple[Sample, ...]:
        """What the requests ask, one after the other."""
        return self.dataset.samples if self.left is None else self.left

    def settings(self) -> dict[str, Any]:
        """What the log keeps: all that is needed to repeat the run, of headers the names only."""
        return {
            "command": "perf",
            "url": self.target.url,
            **self.plan.settings(),
            "headers": sorted(self.target.headers),
            "verify_tls": self.target.verify,
            "probe": self.given.probe,
            "workers": self.workers,
            "transport": self.given.transport,
            "connect_ahead": self.given.connect_ahead,
            "options": kept(self.given),
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
            stream=settings.stream and settings.protocol != "json",
            extra_body=_extra_body(settings.extra_body),
        ),
        protocol=settings.protocol,
        seed=settings.seed,
        timeouts=timeouts_of(settings),
        protocol_options=options_of(settings),
        retries=settings.retry,
        budget=ErrorBudget(settings.max_errors, settings.max_error_rate),
        max_response_bytes=settings.max_response,
    )
    rules = read_rules(settings.require, settings.ruleset)
    workers = workers_of(settings, plan.requests)
    return Prepared(plan, target, dataset or _made_up(plan), rules, workers, settings)


def workers_of(settings: PerfSettings, requests: int | None) -> int:
    """How many processes share the load: as many as were asked for, else as it calls for.

    Args:
        settings: What was asked for.
        requests: How many there are to be, as far as that is known; see `Plan.requests`.
    """
    if settings.workers is not None:
        return settings.workers
    return workers_for(_load(settings), requests, usable_cpus())


def target_of(settings: EndpointSettings) -> Endpoint:
    """The endpoint that settings name.

    Raises:
        UsageError, EndpointError: The URL or a header cannot be used.
    """
    rooted = settings.protocol in DESCRIBED
    return endpoint(settings.url, headers_of(settings), verify=not settings.insecure, rooted=rooted)


def timeouts_of(settings: EndpointSettings) -> Timeouts:
    """How long each part of a request may take."""
    return Timeouts(
        total_s=settings.timeout,
        connect_s=settings.connect_timeout,
        first_byte_s=settings.first_byte_timeout,
        idle_s=settings.idle_timeout,
    )


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
