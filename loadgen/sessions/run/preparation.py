"""From settings to a session that is ready to start."""

from __future__ import annotations

from bisect import bisect_left
from secrets import randbelow
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client.codec import Codec, Generation
from loadgen.driver.client.endpoint import Endpoint, check_session_header, endpoint
from loadgen.driver.client.protocols import codec_of, protocol_entry
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Closed, Load
from loadgen.driver.plan import ErrorBudget, Plan
from loadgen.driver.requests.order import BALANCES
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.workers.launcher import usable_cpus, workers_for
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import read_rules, require_known
from loadgen.sessions.run.loads import (
    counts_of,
    duration_of,
    has_conversations,
    load_of,
    warmup_of,
    with_dataset,
)
from loadgen.sessions.run.protocol_options import headers_of, options_of, protocol_of
from loadgen.sessions.run.questions import count_of, dataset_of
from loadgen.sessions.settings.concerns import changed
from loadgen.sessions.settings.definition_options import chosen_in, with_definitions
from loadgen.sessions.settings.perf import PerfSettings, changed_options, plain, stored_options
from loadgen.sessions.settings.prompt_options import MOST_TEXT_SEED
from workloads.registry import service
from workloads.sample import examples

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.session_kind import SessionKind
    from loadgen.sessions.settings.endpoint_options import EndpointSettings
    from loadgen.sessions.settings.prompt_options import PromptSettings
    from loadgen.sessions.settings.verdict_options import VerdictSettings
    from rulesets.ruleset import Ruleset
    from workloads.dataset import Dataset


class Requirement(Protocol):
    """Something that machines must have before a session."""

    def require(self) -> None:
        """Raise an error where the machine lacks the requirement."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A session that is ready to start: everything has been read and checked, nothing sent.

    Attributes:
        left: Of a resumed run, the numbers of the measured requests without a result; None for a new run.
        elapsed_s: Of a resumed run, how long it has been measured.
        after_seq: The last event of the log that this is based on; None for a new run.
        logged_questions: Of a resumed run, the numbers of the benchmark questions in its log.
        accuracy: The log's facts on benchmarks and their scoring; None where there are none.
        metrics_pages: The metrics pages that were found, of a run that names none.
        sandboxes: What must be there where episodes are played and programs are graded; None for nothing.
    """

    plan: Plan
    targets: tuple[Endpoint, ...]
    dataset: Dataset
    rules: Ruleset | None
    workers: int
    perf: PerfSettings
    left: Sequence[int] | None = None
    elapsed_s: float = 0.0
    after_seq: int | None = None
    logged_questions: frozenset[int] = frozenset()
    accuracy: Mapping[str, Any] | None = None
    sandboxes: Requirement | None = None
    metrics_pages: tuple[str, ...] = ()

    def request_source(self) -> RequestSource:
        """The samples to send."""
        return RequestSource(
            self.dataset.samples,
            conversations=has_conversations(self.dataset),
            weights=self.dataset.weights,
            offsets_ns=self.dataset.offsets_ns,
            left=self.left,
            elapsed_ns=round(self.elapsed_s * 1e9),
        )

    def settings(self) -> dict[str, Any]:
        """The settings for the log: all that is needed to repeat the run, of headers only the names."""
        return {
            "command": "perf",
            "url": self.targets[0].url,
            "urls": [target.url for target in self.targets],
            **self.plan.settings(),
            "headers": sorted(self.targets[0].headers),
            "verify_tls": self.targets[0].verify,
            "probe": self.perf.endpoint.probe,
            "server_metrics_found": list(self.metrics_pages),
            "gpus": self.perf.endpoint.gpus,
            "workers": self.workers,
            "transport": self.perf.client.transport,
            "connection": "keep" if self.targets[0].keep_alive else "new",
            "connect_ahead": self.perf.client.connect_ahead,
            "options": stored_options(self.perf),
            "changed_options": changed_options(self.perf),
            "dataset": {
                "name": plain(self.dataset.name),
                "sha256": self.dataset.sha256,
                "rows": len(self.dataset.samples),
                "synthetic": self.dataset.synthetic,
                "conversations": has_conversations(self.dataset),
                "path": plain(self.perf.prompts.prompts),
                "prompt_column": self.perf.prompts.prompt_column,
                "system_column": self.perf.prompts.system_column,
                "facts": dict(self.dataset.facts),
            },
            "ruleset": None if self.rules is None else self.rules.to_dict(),
            "skip": list(self.perf.verdict.skip),
            **({} if self.accuracy is None else {"accuracy": self.accuracy}),
        }


def prepare(settings: PerfSettings) -> Prepared:
    """Check settings and read the prompts.

    Raises:
        UsageError, PlanError, EndpointError, WorkloadError: What is wrong, and where.
    """
    settings = _with_text_seed(settings)
    if settings.prompts.cache_hit is not None:
        settings = service("primed")(settings)
    if settings.tasks.cache_dir is not None:
        from workloads.fetching import use_cache

        use_cache(settings.tasks.cache_dir)
    targets = targets_of(settings.endpoint, keep_alive=settings.client.connection == "keep")
    settings = with_model(settings, targets[0])
    load = Closed(1) if settings.episodes.sequential else load_of(settings.load)
    duration_s = duration_of(settings.load, settings.tasks.repeats, load)
    warmup, warmup_s = warmup_of(settings.load)
    count = count_of(settings.load, settings.prompts.only_prompt, load, duration_s)
    dataset = dataset_of(settings, count)
    requests, sessions = counts_of(settings.load, settings.tasks.repeats, dataset, duration_s)
    generation = _generation(settings, dataset)
    protocol, protocol_options = protocol_of(settings.endpoint), options_of(settings.endpoint)
    codec = codec_of(protocol, protocol_options)
    episodes = _episodes(settings, dataset, codec, generation, targets[0])
    if episodes is not None:
        requests, sessions = None, requests if sessions is None else sessions
    warmup, warmup_s, limit = _around_trace(dataset, load, warmup, warmup_s)
    plan = Plan(
        load=with_dataset(load, dataset),
        requests=_at_most(requests, limit),
        sessions=_at_most(sessions, limit),
        duration_s=duration_s,
        warmup=warmup,
        warmup_s=warmup_s,
        drain_s=settings.load.drain,
        stop_on_overload=settings.load.stop_on_overload,
        steady=settings.load.steady,
        generation=generation,
        protocol=protocol,
        seed=settings.load.seed,
        schedule_seed=settings.load.schedule_seed,
        timeouts=timeouts_of(settings.endpoint),
        protocol_options=protocol_options,
        retries=settings.failures.retry,
        budget=ErrorBudget(settings.failures.max_errors, settings.failures.max_error_rate),
        max_response_bytes=settings.failures.max_response,
        order=settings.prompts.order,
        history=settings.prompts.history,
        salt=settings.prompts.salt,
        balance=settings.endpoint.balance or BALANCES[0],
        trace_context=_trace_context(targets, is_wanted=settings.client.trace_context),
        session_headers=_session_headers(targets, settings.client.session_header),
        runner_options=_runner_options(settings),
        session_kind=episodes,
    )
    if dataset.session_kind or settings.trees.flags:
        plan = service("tree_plan")(plan, settings, dataset)
    _require_questions(settings.prompts, dataset, codec, generation)
    rules = with_definitions(_rules_of(settings.verdict, plan), chosen_in(settings.definitions))
    require_known(rules, settings.verdict.skip)
    workers = workers_of(settings.workers, plan.load, plan.count)
    prepared = Prepared(plan, targets, dataset, rules, workers, settings)
    return _with_scoring(prepared, episodes) if settings.tasks.task or episodes is not None else prepared


def _episodes(
    settings: PerfSettings, dataset: Dataset, codec: Codec, generation: Generation, target: Endpoint
) -> SessionKind | None:
    """The kind of sessions that plays episodes; None without episodes, whose code is then not loaded."""
    if dataset.session_kind:
        return None
    may_play = any(sample.has_several_turns for sample in examples(dataset.samples))
    if not may_play and not settings.episodes.has_agent:
        return None
    kind: SessionKind | None = service("episode_kind")(
        settings.episodes, settings.tasks, dataset, codec, generation, target
    )
    return kind


def _with_scoring(prepared: Prepared, episodes: SessionKind | None) -> Prepared:
    """The session with the needs of scoring and of episodes, checked on this machine."""
    from loadgen.sessions.run.scoring_at_end import accuracy_settings

    settings, dataset = prepared.perf, prepared.dataset
    accuracy = accuracy_settings(settings.tasks, settings.load.passes, dataset)
    sandboxes = service("sandbox_needs")(settings.tasks, episodes, dataset)
    if settings.cluster.ray is None:  # else the nodes must have them
        sandboxes.require()
    return replace(prepared, accuracy=accuracy, sandboxes=sandboxes)


def _with_text_seed(settings: PerfSettings) -> PerfSettings:
    """Draw the seed of texts that are made up, so that the log has it."""
    made_up = not settings.tasks.task and settings.prompts.prompts is None
    if not made_up or settings.prompts.text_seed is not None:
        return settings
    return changed(settings, text_seed=1 + randbelow(MOST_TEXT_SEED))


def with_model(settings: PerfSettings, target: Endpoint) -> PerfSettings:
    """Name the model: where none is named, the only one that the endpoint lists."""
    if settings.endpoint.model:
        return settings
    if settings.load.models is not None:
        return service("with_first_model")(settings)  # type: ignore[no-any-return]
    from loadgen.sessions.run.served_model import served_model

    protocol, options = protocol_of(settings.endpoint), options_of(settings.endpoint)
    model = served_model(target, timeouts_of(settings.endpoint), protocol, options)
    return changed(settings, model=model)


def _require_questions(
    prompts: PromptSettings, dataset: Dataset, codec: Codec, generation: Generation
) -> None:
    """Refuse questions that cannot be asked, and a tokenizer that cannot be loaded."""
    if generation.ignore_eos or not dataset.synthetic or has_conversations(dataset):
        from loadgen.sessions.run.askable_questions import require_askable

        require_askable(dataset, prompts, codec, generation)
    if prompts.prompts is not None:
        from loadgen.sessions.settings.tokenizer_options import load as load_tokenizer

        load_tokenizer(prompts.tokenizer)


def _generation(settings: PerfSettings, dataset: Dataset) -> Generation:
    temperature = settings.generation.temperature
    if temperature is None and dataset.tasks:
        from loadgen.sessions.run.benchmark_questions import temperature_of

        temperature = temperature_of(dataset)
    return Generation(
        model=settings.endpoint.model,
        max_tokens=settings.generation.max_tokens,
        temperature=temperature,
        stream=settings.generation.stream and protocol_entry(settings.endpoint.protocol).stream != "never",
        extra_body=extra_body_of(settings.generation.extra_body),
        ignore_eos=settings.prompts.ignore_eos,
        seed=settings.generation.request_seed,
    )


def _runner_options(settings: PerfSettings) -> Mapping[str, str]:
    chosen = {"models": settings.load.models, "abandon": settings.load.abandon}
    options = {name: text for name, text in chosen.items() if text is not None}
    for name, text in options.items():
        service(f"check_{name}")(text)
    return options


def _rules_of(verdict: VerdictSettings, plan: Plan) -> Ruleset | None:
    return read_rules(
        verdict.require,
        verdict.ruleset,
        scenario=verdict.scenario,
        model=plan.generation.model,
        load=plan.load.kind,
        concurrency=plan.load.concurrency if isinstance(plan.load, Closed) else None,
    )


def _trace_context(targets: Sequence[Endpoint], *, is_wanted: bool) -> bool:
    if is_wanted and any(name.lower() == "traceparent" for name in targets[0].headers):
        raise UsageError("--trace-context: every request gets a new traceparent; omit --header")
    return is_wanted


def _session_headers(targets: Sequence[Endpoint], names: Sequence[str]) -> tuple[str, ...]:
    taken = {name.lower() for name in targets[0].headers}
    for name in names:
        check_session_header(name)
        if name.lower() in taken:
            raise UsageError(
                f"--session-header {name}: already sent by --header or given twice; leave one out"
            )
        taken.add(name.lower())
    return tuple(names)


def workers_of(workers: int | None, load: Load, requests: int | None) -> int:
    """The number of worker processes: as given, else by the load."""
    limit = load.limit
    if workers is None:
        workers = workers_for(load, requests, usable_cpus())
        return workers if limit is None else max(1, min(workers, limit))
    if limit is not None and workers > limit:
        raise UsageError(
            f"--workers {workers}: each needs a part of --max-concurrency {limit}: give at most {limit}"
        )
    return workers


def targets_of(settings: EndpointSettings, *, keep_alive: bool = True) -> tuple[Endpoint, ...]:
    """The endpoints that settings name, one at least."""
    entry, headers = protocol_entry(settings.protocol), headers_of(settings)
    urls, verify = map(_url, settings.urls), not settings.insecure
    targets = [
        endpoint(url, headers, entry.scheme, verify=verify, rooted=entry.rooted, keep_alive=keep_alive)
        for url in urls
    ]
    for number, target in enumerate(targets):
        if target in targets[:number]:
            raise UsageError(f"--url {target.url}: given twice; give each endpoint once")
    return tuple(targets)


def _url(named: str) -> str:
    """The URL of an endpoint; of LiteLLM's models the one that stands for its process."""
    if "litellm" not in named:
        return named
    from loadgen.driver.providers.litellm_process import url_of

    return url_of(named)


def _around_trace(
    dataset: Dataset, load: Load, warmup: int, warmup_s: float | None
) -> tuple[int, float | None, int | None]:
    """The extent of a trace's warm-up, which consists of the first requests, and the remaining number."""
    offsets_ns = dataset.offsets_ns
    if offsets_ns is None:
        return warmup, warmup_s, None
    if warmup_s is not None:
        until_ns = offsets_ns[0] + warmup_s * 1e9 * load.speed
        warmup = bisect_left(offsets_ns, until_ns)
    if warmup >= len(offsets_ns):
        raise UsageError(
            f"--warmup: the trace {dataset.name} has {len(offsets_ns)} requests, all of which the warm-up "
            "would use; give a shorter warm-up"
        )
    return warmup, None, len(offsets_ns) - warmup


def timeouts_of(settings: EndpointSettings) -> Timeouts:
    """How long each part of a request may take."""
    limits = settings.timeout, settings.connect_timeout, settings.first_byte_timeout, settings.idle_timeout
    return Timeouts(*limits)


def _at_most(count: int | None, limit: int | None) -> int | None:
    return count if count is None or limit is None else min(count, limit)


def extra_body_of(text: str | None) -> Mapping[str, Any]:
    """Read `--extra-body`.

    Raises:
        UsageError: The text is not a JSON object.
    """
    if text is None:
        return {}
    try:
        members = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise UsageError(f"--extra-body is not JSON: {error}") from error
    if not isinstance(members, dict):
        raise UsageError("--extra-body must be a JSON object, e.g. '{\"ignore_eos\": true}'")
    return members
