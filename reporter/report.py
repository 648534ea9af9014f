"""The report of a run: the value that every renderer and every ruleset takes.

`report.json` is this value, key by key; its JSON schema is published in `docs/report.schema.json`.
Times are milliseconds, `*_s` seconds, `*_tps` tok/s. A figure without samples is None, never 0.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import asdict, dataclass, field
from reporter.client_health import OWN_TTFT_LIMIT, ClientHealth, OwnEffect, OwnLimit, RecorderHealth
from reporter.run_facts import RunFacts  # noqa: TC001 (the schema is made of what the annotations name)
from rulesets.verdict import Verdict  # noqa: TC001 (the schema is made of what the annotations name)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.episodes import Episodes
    from reporter.nodes import Nodes
    from reporter.values.cache_hits import CacheHits
    from reporter.values.cost import Cost
    from reporter.values.energy import Energy
    from reporter.values.report_section import ReportSection
    from reporter.values.server_side import ServerSide
    from reporter.values.session_figures import Sessions
    from reporter.values.task_score import TaskScore

SCHEMA_VERSION: Final = 1
"""Of `report.json`; grows when a key changes its meaning or goes away."""


@dataclass(frozen=True, slots=True)
class Summary:
    """The distribution of one metric over the measured requests (over gaps, for ITL).

    Percentiles follow the method named in `Report.run`. `std` is the sample standard deviation, None for a
    single sample. `percentiles` has those of the reader's choice, such as `p75`; `report.json` too.
    """

    count: int
    mean: float
    std: float | None
    min: float
    p50: float
    p90: float
    p95: float
    p99: float
    p999: float
    max: float
    percentiles: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MetricBounds:
    """Between which ends the figures of a metric lie, where stamps are in doubt (docs/log.md).

    Each figure of the truth is at least that of `low`, and at most that of `high`.

    Attributes:
        late: Of how many requests the metric is in doubt; None for times between chunks, which are many each.
        low: The distribution of the least that each value can be.
        high: The distribution of the most.
    """

    late: int | None
    low: Summary
    high: Summary


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a reader of the figures should know.

    Attributes:
        code: A stable name, e.g. `tokens_from_chunks`.
        severity: `error` findings make the run invalid; `warning` and `info` do not.
        acceptable: Whether `--on-invalid warn` accepts an error: see `reporter.findings.acceptance`.
        effects: The codes of findings with the same cause that this one includes.
    """

    code: str
    severity: Literal["error", "warning", "info"]
    message: str
    remedy: str = ""
    acceptable: bool = False
    effects: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Validity:
    """Whether the figures can stand for the server; `reasons` says why not.

    `accepted`: the user accepts them (`--on-invalid warn`). `overloaded`: the queue of an open loop grew.
    `summary`: what the endpoint did; may be empty. `latency_reasons`: why only the scores of a run are valid.
    """

    valid: bool
    reasons: list[str]
    accepted: bool = False
    overloaded: bool = False
    summary: str = ""
    latency_reasons: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """VALID, OVERLOADED or INVALID."""
        return "VALID" if self.valid else "OVERLOADED" if self.overloaded else "INVALID"

    @property
    def stands(self) -> bool:
        """Whether the run is judged and exits as a valid one does."""
        return self.valid or self.accepted


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Requests of the measured phase. `in_flight` is not 0 only when a run is running, or was cut off.

    scheduled = issued + what was planned but never issued;
    issued = completed + failed + cancelled + in_flight + abandoned + left_early (`--abandon`).

    Of the issued ones, `reused` went over a connection that was open already; `retried` were sent again, over
    a new one, because the server had closed the one that they were sent over first. `retries` are attempts
    after the first at a request (`--retry`). `abandoned` ones were open when a segment ended, or ended
    because of the client, and were sent again when the run was resumed.
    """

    scheduled: int
    issued: int
    completed: int
    failed: int
    cancelled: int
    in_flight: int
    by_error: dict[str, int]
    warmup: int
    reused: int = 0
    retried: int = 0
    retries: int = 0
    abandoned: int = 0
    left_early: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """The span that throughput is counted over.

    Attributes:
        kind: `duration` (the time that was asked for), `requests` (first issue to last completion), `cut_off`
            (first issue to the last event of a run that did not end in order), or `running` (that, so far);
            `steady_state`, `last_issued_done` or `tracked` where the definitions say so.
        duration_s: Its length, None when nothing was issued, or where there is no window of that kind. Of a
            run that was resumed, the length of all its segments' windows: shorter than from `start_ns` to
            `end_ns`.
        start_ns: Where it starts, CLOCK_MONOTONIC.
        end_ns: Where it ends.
        issuing_s: For how long requests were issued, in all segments together, whatever the window is.
    """

    kind: Literal[
        "duration",
        "requests",
        "cut_off",
        "running",
        "steady_state",
        "last_issued_done",
        "tracked",
        "first_user_done",
    ]
    duration_s: float | None
    start_ns: int | None
    end_ns: int | None
    issuing_s: float | None = None


@dataclass(frozen=True, slots=True)
class ThroughputFigures:
    """Rates over the window: what completed, and the tokens that arrived, inside it."""

    qps: float | None
    output_tps: float | None
    total_tps: float | None


@dataclass(frozen=True, slots=True)
class Tokens:
    """Token totals of the completed requests, and where the counts come from.

    `reasoning` of the output and `cached` of the input are the server's own counts; None without any.
    `usage_output` and `recounted_output` are the two counts of answers whose output both the server and a
    tokenizer counted; None where there are none. `chunks` are those with a token.
    """

    input: int | None
    output: int | None
    source: Literal["server_usage", "client_tokenizer", "chunks", "mixed"] | None
    reasoning: int | None = None
    cached: int | None = None
    usage_output: int | None = None
    recounted_output: int | None = None
    chunks: int | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean, and the half width of its 95 % confidence interval by batch means."""

    mean: float
    margin: float


@dataclass(frozen=True, slots=True)
class SteadyState:
    """The part of the window in which the figures did not drift: see `reporter.windows.steady_state`.

    Attributes:
        start_s: Where it begins, counted from the start of the window; what lies before is ramping up.
        blocks: Into how many blocks of equal length it was cut to find out.
        drift: By which share of its mean a figure changed from start to end, where that is the reason.
        qps: Requests that completed in it, a second.
        output_tps: Tokens that arrived in it, a second.
    """

    found: bool
    reason: str | None = None
    start_s: float | None = None
    end_s: float | None = None
    blocks: int = 0
    drift: dict[str, float] = field(default_factory=dict)
    latency_ms: Estimate | None = None
    ttft_ms: Estimate | None = None
    qps: Estimate | None = None
    output_tps: Estimate | None = None
    in_flight: Estimate | None = None


@dataclass(frozen=True, slots=True)
class PartReport:
    """What a part of the measured requests amounts to: those of one endpoint, one turn, one value of a tag.

    Attributes:
        value: What they have in common; None where they have none, and for all the rest.
        values: How many values are in this row: more than one in the last row only, which has all the rest.
        error_rate: Failed among those that ended.
        duration_s: What the rates are counted over: the window, or the part's own time.
        qps: Of them that completed, a second.
        output_tps: Of their tokens that arrived, a second.

    The metrics are of those that completed.
    """

    value: str | None
    values: int
    issued: int
    completed: int
    failed: int
    cancelled: int
    error_rate: float | None
    duration_s: float | None
    qps: float | None
    output_tps: float | None
    # metrics of parts
    ttft_ms: Summary | None
    tpot_ms: Summary | None
    latency_ms: Summary | None
    latency_from_schedule_ms: Summary | None
    # end of metrics of parts
    bounds: dict[str, MetricBounds] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Moment:
    """What happened in a short span of the run, warm-up and drain included.

    Attributes:
        segment: The segment that it belongs to.
        start_s: Where it begins, counted from the start of the segment's window: negative in the warm-up.
        completed, failed, cancelled: Requests that ended so in it, whenever they were issued.
        in_flight: Requests in flight at its end.
        offered_qps, qps: `scheduled` and `completed` per second.
        answered: How many of those issued in it completed, whenever: the rest is about them.
    """

    segment: int
    start_s: float
    duration_s: float
    scheduled: int
    issued: int
    completed: int
    failed: int
    cancelled: int
    in_flight: int
    offered_qps: float
    qps: float
    output_tps: float
    answered: int
    ttft_mean_ms: float | None
    ttft_p50_ms: float | None
    ttft_p99_ms: float | None
    latency_mean_ms: float | None
    latency_p50_ms: float | None
    latency_p99_ms: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """A run in figures. See the module docstring for units and docs/metrics.md for definitions."""

    run: RunFacts
    validity: Validity
    counts: RequestCounts
    window: Window
    throughput: ThroughputFigures
    # metrics
    ttft_ms: Summary | None
    ttfo_ms: Summary | None
    ttfv_ms: Summary | None = field(default=None, kw_only=True)
    ttfb_ms: Summary | None
    tpot_ms: Summary | None
    itl_ms: Summary | None
    latency_ms: Summary | None
    latency_from_schedule_ms: Summary | None
    ttft_from_schedule_ms: Summary | None
    ttfo_from_schedule_ms: Summary | None = field(default=None, kw_only=True)
    ttfv_from_schedule_ms: Summary | None = field(default=None, kw_only=True)
    ttfb_from_schedule_ms: Summary | None = field(default=None, kw_only=True)
    last_token_ms: Summary | None
    last_token_from_schedule_ms: Summary | None = field(default=None, kw_only=True)
    decode_ms: Summary | None = field(default=None, kw_only=True)
    generation_tps: Summary | None = field(default=None, kw_only=True)
    prompt_tps: Summary | None = field(default=None, kw_only=True)
    held_ms: Summary | None = field(default=None, kw_only=True)
    issue_lag_ms: Summary | None
    send_lag_ms: Summary | None
    connect_ms: Summary | None
    tls_ms: Summary | None
    dns_ms: Summary | None
    own_ms: Summary | None
    input_tokens: Summary | None = field(default=None, kw_only=True)
    output_tokens: Summary | None = field(default=None, kw_only=True)
    ttft_after_upload_ms: Summary | None = field(default=None, kw_only=True)
    upload_ms: Summary | None = field(default=None, kw_only=True)
    request_bytes: Summary | None = field(default=None, kw_only=True)
    media_tokens: Summary | None = field(default=None, kw_only=True)
    # end of metrics
    bounds: dict[str, MetricBounds] = field(default_factory=dict, kw_only=True)
    own_ttft_share: float | None = field(default=None, kw_only=True)
    own_ttft_share_low: float | None = field(default=None, kw_only=True)
    own_ttft_share_high: float | None = field(default=None, kw_only=True)
    own_longest_ms: float | None = field(default=None, kw_only=True)
    own_ttft_limit: OwnLimit = field(default=OWN_TTFT_LIMIT, kw_only=True)
    own_effect: dict[str, dict[str, OwnEffect]] = field(default_factory=dict, kw_only=True)
    tokens: Tokens
    recorder: RecorderHealth
    client: ClientHealth
    findings: list[Finding]
    accuracy: list[TaskScore] = field(default_factory=list, kw_only=True)
    cost: Cost | None = field(default=None, kw_only=True)
    server_side: ServerSide | None = field(default=None, kw_only=True)
    cache_hits: CacheHits | None = field(default=None, kw_only=True)
    energy: Energy | None = field(default=None, kw_only=True)
    episodes: Episodes | None = field(default=None, kw_only=True)
    sessions: Sessions | None = field(default=None, kw_only=True)
    nodes: Nodes | None = field(default=None, kw_only=True)
    sections: dict[str, ReportSection] = field(default_factory=dict, kw_only=True)
    verdict: Verdict | None = None
    steady_state: SteadyState | None = None
    breakdown: dict[str, list[PartReport]] = field(default_factory=dict)
    over_time: list[Moment] = field(default_factory=list)
    schema_version: int = field(default=SCHEMA_VERSION)

    def to_dict(self) -> Mapping[str, Any]:
        """The report as plain JSON-able values."""
        plain = {name: _without_choice(value) for name, value in asdict(self).items()}
        for name in ("power", "imported", "as_started"):
            if plain["run"][name] is None:
                del plain["run"][name]
        # The former names, for scripts that read them.
        plain["run"]["sittings"] = plain["run"]["segments"]
        plain["over_time"] = [moment | {"sitting": moment["segment"]} for moment in plain["over_time"]]
        for name in ("server_side", "cache_hits", "energy", "episodes", "sessions", "nodes", "sections"):
            if not plain[name]:
                del plain[name]
        return plain | {
            "recorder": self.recorder.to_dict(),
            "client": self.client.to_dict(),
            "accuracy": [score.to_dict() for score in self.accuracy],
        }


def _without_choice(value: Any) -> Any:
    """The same without `percentiles` where none were chosen."""
    if isinstance(value, dict):
        return {
            key: _without_choice(held)
            for key, held in value.items()
            if not (key == "percentiles" and not held)
        }
    return [_without_choice(held) for held in value] if isinstance(value, list | tuple) else value
