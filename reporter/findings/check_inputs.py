"""What the checks for findings look at."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from reporter.client_health import ClientHealth, RecorderHealth
from reporter.findings.token_checks import TokenChecks
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.findings.client_overhead import ClientOverhead
    from reporter.findings.cold_start import ColdStart
    from reporter.findings.overload import Overload
    from reporter.findings.token_checks import WentAway
    from reporter.nodes import Nodes
    from reporter.report import Finding, MetricBounds, RequestCounts, SteadyState, Summary
    from reporter.run_facts import CompleteUntil
    from rulesets.evaluators.client_delay import AffectedFigure
    from rulesets.ruleset import Ruleset


MANY_FAILURES: Final = 0.05
"""The share of failed requests above which a run is invalid; --max-error-rate or a rule replaces it."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A law of the log that requests broke: see the view `violations`."""

    name: str
    requests: int
    example: str


@dataclass(frozen=True, slots=True)
class CheckInputs:
    """What the checks look at.

    Attributes:
        ended: `completed`, `running`, `cut_off`, or what else ended it, such as `interrupted`.
        load: The settings' load: `kind`, `rate`, `concurrency` and more.
        own: What of the time to their first tokens is the client's own.
        deciding: The figures that decide whether that is too much; None for the TTFT's p99 and median.
        token_sources: How many of them have their token count from where; `unknown` for those without one.
        bare: Whether requests have neither phases nor sendings, and all are measured from their issue.
        scheduled_span_ns: From the first to the last intended issue; of conversations, of their first turns.
        seconds: How many seconds had a request that was due in them.
        seconds_behind: In how many of them too few left in time; see reporter/sql/figures/issuing.sql.
        requests_behind: How many were due in those.
        refused: How many had token counts of the server's that cannot be true.
        refused_to_chunks: Of how many of these chunks stand for the output tokens.
        refused_example: One of these: its `request`, the `counts` as JSON, and its `bytes`.
        unended: How many were complete although their HTTP responses did not end in order.
        tagged: How many began with reasoning in tags in the content.
        asks_times: Whether latencies or rates are asked of the run, as by rules on them.
        reusable: How many would have found a free connection if the server kept its connections.
        silent_chunks: Chunks that named the content and had none; see docs/metrics.md.
        silent_as_tokens: In how many of them they count as tokens.
        complete_until: Until when the log of a run that was cut off is complete (`run.complete_until` of the
            report); None where it does not say so.
        prompts: How many different prompts the run could ask; None where that is not known, where a salt made
            each of them different, and where a benchmark asks each several times.
        asked: How many requests asked one of them, warm-up included: of a conversation, its first turn.
        resumable: Whether a number of requests or conversations ends the run, so that it can be resumed.
        messages: For failures by name, what was said about one of them.
        tokenizer: What the tokenizer is called that the report was given; None without one or its name.
        first_chunk_unknown: Of how many it is not known how many tokens came after the first chunk; as above.
        timeouts_s: The client's limits in seconds, by the failures of requests that exceed them, such as
            `total_timeout`; those that the log has.
        shard: The node whose log alone this is, and how many nodes the run has.
    """

    ended: str
    load: Mapping[str, Any]
    counts: RequestCounts
    latency_ms: Summary | None = None
    own: ClientOverhead | None = None
    deciding: tuple[AffectedFigure, ...] | None = None
    bounds: Mapping[str, MetricBounds] = field(default_factory=dict)
    reported: Mapping[str, Summary | None] = field(default_factory=dict)
    held_ms: Summary | None = None
    token_sources: Mapping[str, int] = field(default_factory=dict)
    input_unknown: int = 0
    bare: bool = False
    scheduled_span_ns: int | None = None
    issued_span_ns: int | None = None
    seconds: int = 0
    seconds_behind: int = 0
    requests_behind: int = 0
    chunks: int | None = None
    coalesced: int | None = None
    asked_for_stream: bool | None = None
    unstreamed: int = 0
    refused: int = 0
    refused_to_chunks: int = 0
    refused_input: int = 0
    refused_example: Mapping[str, Any] | None = None
    token_checks: TokenChecks = field(default_factory=TokenChecks)
    contradicted: int = 0
    unended: int = 0
    finish_reasons: Mapping[str, int] | None = None
    deviations: Mapping[str, int] | None = None
    tagged: int = 0
    reasoning_only: int = 0
    has_questions: bool = False
    asks_times: bool = False
    unasked: int = 0
    unencoded: int = 0
    reusable: int = 0
    unencoded_example: str | None = None
    silent_chunks: int = 0
    silent_as_tokens: int = 0
    silent_as_none: int = 0
    recorder: RecorderHealth = field(default_factory=RecorderHealth)
    client: ClientHealth = field(default_factory=ClientHealth)
    usable_cpus: int | None = None
    complete_until: CompleteUntil | None = None
    prompts: int | None = None
    asked: int = 0
    turns: int = 0
    resumable: bool = True
    steady_state: SteadyState | None = None
    steady_required: bool = False
    messages: Mapping[str, str] = field(default_factory=dict)
    segments: int = 1
    violations: tuple[Violation, ...] = ()
    definitions: Definitions = field(default_factory=Definitions)
    tokenizer: str | None = None
    one_token: int = 0
    first_chunk_unknown: int = 0
    window_s: float | None = None
    qps: float | None = None
    imported: bool = False
    figures_only: bool = False
    logged: tuple[Finding, ...] = ()
    timeouts_s: Mapping[str, float] = field(default_factory=dict)
    nodes: Nodes | None = None
    shard: tuple[str, int] | None = None
    cold: ColdStart | None = None
    overload: Overload | None = None
    went_away: WentAway | None = None
    failure_limit: float = 0.05


Check = Callable[[CheckInputs], "Finding | None"]
"""Looks at the evidence, and says what it found."""


def listed(numbers: Mapping[str, int]) -> str:
    """Numbers with their names, as a sentence has them."""
    return ", ".join(f"{n:,} {name}" for name, n in numbers.items())


def failure_limit(rules: Ruleset | None, chosen: float | None) -> float:
    """The share of failed requests above which a run is invalid; 1 where rules decide about failures."""
    if chosen is not None:
        return chosen
    if rules is None:
        return MANY_FAILURES
    bounded = rules.validity.max_error_rate is not None or any(
        target.metric in {"error", "failed"} for target in rules.targets
    )
    return 1.0 if bounded else MANY_FAILURES
