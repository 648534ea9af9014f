"""What the checks for findings look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from reporter.client_health import ClientHealth, RecorderHealth
from reporter.findings.token_checks import TokenChecks
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.findings.client_overhead import ClientOverhead
    from reporter.findings.cold_start import ColdStart
    from reporter.findings.overload import Overload
    from reporter.findings.went_away import WentAway
    from reporter.nodes import Nodes
    from reporter.report import Finding, MetricBounds, RequestCounts, SteadyState, Summary
    from reporter.run_facts import CompleteUntil
    from rulesets.evaluators.client_delay import AffectedFigure


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
        counts: The measured requests.
        latency_ms: Of those that completed.
        own: What of the time to their first tokens is the client's own.
        deciding: The figures that decide whether that is too much; None for the TTFT's p99 and median.
        bounds: Between which ends the figures lie that are in doubt.
        reported: The summaries as they are reported, by the Report's fields.
        held_ms: How long those of them waited for a place that had to.
        token_sources: How many of them have their token count from where; `unknown` for those without one.
        input_unknown: How many of them have no count of input tokens.
        bare: Whether requests have neither phases nor sendings, and all are measured from their issue.
        scheduled_span_ns: From the first to the last intended issue; of conversations, of their first turns.
        issued_span_ns: From the first to the last issue of those.
        seconds: How many seconds had a request that was due in them.
        seconds_behind: In how many of them too few left in time; see reporter/sql/figures/issuing.sql.
        requests_behind: How many were due in those.
        chunks: Chunks with a token, of all completed requests.
        coalesced: Reads that held more than one of them.
        asked_for_stream: Whether responses were asked for as streams; None where that is not known.
        unstreamed: How many came as one JSON text.
        refused: How many had token counts of the server's that cannot be true.
        refused_to_chunks: Of how many of these chunks stand for the output tokens.
        refused_input: How many of these have no count of input tokens.
        refused_example: One of these: its `request`, the `counts` as JSON, and its `bytes`.
        token_checks: The server's token counts, compared with each other and with the text.
        contradicted: How many had fewer output tokens, by the server's count, than chunks.
        unended: How many were complete although their HTTP responses did not end in order.
        finish_reasons: How many had which finish reason; None for none of them.
        deviations: How many responses deviated in which way from their protocol; None for none.
        tagged: How many began with reasoning in tags in the content.
        reasoning_only: How many had reasoning, but neither further content nor tool calls.
        has_questions: Whether the answers are scored.
        asks_times: Whether latencies or rates are asked of the run, as by rules on them.
        unasked: Responses that came although no request had asked for them.
        unencoded: Events whose data the log does not have, because it could not be written as JSON.
        unencoded_example: The type of one of them.
        reusable: How many would have found a free connection if the server kept its connections.
        silent_chunks: Chunks that named the content and had none; see docs/metrics.md.
        silent_as_tokens: In how many of them they count as tokens.
        silent_as_none: In how many of them they do not.
        recorder: The recorder's last reading of itself.
        client: How the load generator's processes were doing.
        usable_cpus: How many CPUs they could use; None where that is not known.
        complete_until: Until when the log of a run that was cut off is complete (`run.complete_until` of the
            report); None where it does not say so.
        prompts: How many different prompts the run could ask; None where that is not known, where a salt made
            each of them different, and where a benchmark asks each several times.
        asked: How many requests asked one of them, warm-up included: of a conversation, its first turn.
        turns: How many requests were later turns of conversations.
        resumable: Whether a number of requests or conversations ends the run, so that it can be resumed.
        steady_state: The part of the run that did not drift, or why there is none.
        steady_required: Whether the run is invalid without one.
        messages: For failures by name, what was said about one of them.
        segments: In how many of them the run was done.
        violations: Laws that were broken.
        definitions: What the figures were computed by.
        tokenizer: What the tokenizer is called that the report was given; None without one or its name.
        one_token: How many answers had no token for TPOT to divide by; 0 where the definitions do not ask.
        first_chunk_unknown: Of how many it is not known how many tokens came after the first chunk; likewise.
        window_s: How long the window is that rates are counted over; None where there is none.
        qps: Completed requests per second in it.
        imported: Whether the run was imported from a harness, which measures no requests.
        figures_only: Whether the run was imported without records of requests.
        logged: What the load generator found itself while it ran.
        timeouts_s: The client's limits in seconds, by the failures of requests that exceed them, such as
            `total_timeout`; those that the log has.
        nodes: The nodes of a run of several machines.
        shard: The node whose log alone this is, and how many nodes the run has.
        cold: The first requests, where the server was not ready for them; None for an ordinary start.
        overload: The spans of an open loop in which the queue grew; None where it did not.
        went_away: The moment from which the endpoint was gone; None where it answered until the end.
        failure_limit: The share of failed requests above which the run is invalid.
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
    return ", ".join(f"{n} {name}" for name, n in numbers.items())
