"""The payload types of events: the facts that a load generator must record for a correct report.

    issued = Issued(scheduled_ns=due_ns, phase="performance")
    record_event(EventType.LOADGEN_ISSUE_CALLED, now_ns, uuid, data=issued)

A payload is a plain dictionary when the program runs: its type serves type checkers and editors, and
`EventRecorder.record_event` checks keys and values by it (`recorder.payload_check`). A key that is optional
may be left out or None. Keys of your own are stored as well, for SQL.

Units are in the names: `_ns` is a time in integer nanoseconds of CLOCK_MONOTONIC, `_ms` milliseconds, `_s`
seconds, `_us` microseconds. docs/log.md describes every event.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, Literal, Required, TypedDict

from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Iterable

Phase = Literal["warmup", "performance", "drain", "judge", "user_sim"]
"""The phases. Figures are about requests that are issued in `performance`."""

EndReason = Literal["completed", "interrupted", "worker_lost", "error_budget", "overloaded", "gate_lost"]
StopReason = Literal[
    "duration", "requests", "interrupted", "worker_lost", "error_budget", "overloaded", "gate_lost"
]

_MAX_GAP_US: Final = 2**32 - 1


class PhaseStarted(TypedDict, total=False):
    """PHASE_STARTED: a phase and its planned length."""

    phase: Required[Phase]
    duration_s: float | None
    requests: int | None
    sessions: int | None


class PhaseEnded(TypedDict):
    """PHASE_ENDED."""

    phase: Phase


class Stopped(TypedDict, total=False):
    """STOP_PERFORMANCE_TRACKING: why issuing ended, and how many requests were due until then."""

    reason: Required[StopReason]
    scheduled: int | None


class SessionEnded(TypedDict):
    """TEST_ENDED: a session that was interrupted is reported, and is not a valid measurement."""

    reason: EndReason


class Finding(TypedDict, total=False):
    """FINDING: an `error` makes the run invalid."""

    code: Required[str]
    severity: Required[Literal["error", "warning", "info"]]
    message: Required[str]
    remedy: str | None


class Telemetry(TypedDict):
    """TELEMETRY: further readings, numbers with their units in their names."""

    source: str


class SensorStarted(TypedDict, total=False):
    """SENSOR_STARTED: the source of a sensor: `target` is a URL without secrets, or a device name."""

    source: Required[str]
    interval_s: float | None
    target: str | None
    about: Mapping[str, Any] | None


class SensorTexts(TypedDict, total=False):
    """The text of a Prometheus endpoint, as served."""

    exposition: str | None


class SensorReading(TypedDict, total=False):
    """SENSOR_READING: numbers with units in their names, by labels, or the reason for their absence.

    `moment` is `first` before the first request and `last` after the last one. `histograms` has cumulative
    counts by upper bounds, as Prometheus has them.
    """

    source: Required[str]
    moment: Literal["first", "last"] | None
    labels: Mapping[str, Any] | None
    readings: Mapping[str, Any] | None
    histograms: Mapping[str, Any] | None
    took_ms: float | None
    error: str | None
    message: str | None
    texts: SensorTexts | None


class ToolCalled(TypedDict, total=False):
    """TOOL_CALLED: a tool of an episode returned; the arguments and the result are in `texts`."""

    conversation: Required[str]
    prompt_id: Required[int]
    phase: Required[Phase]
    turn: Required[int]
    name: Required[str]
    started_ns: Required[int]
    duration_ns: Required[int]
    error: str | None
    texts: Mapping[str, Any] | None


class EpisodeEnded(TypedDict, total=False):
    """EPISODE_ENDED: an episode is over; the messages and details are in `texts`.

    It was due at `scheduled_ns`, began at `begun_ns` with its set-up, and its agent at `started_ns`.

    `turns` is only for an episode that another program played: here they are counted by their requests.
    """

    conversation: Required[str]
    prompt_id: Required[int]
    phase: Required[Phase]
    scheduled_ns: int | None
    begun_ns: int | None
    started_ns: int | None
    duration_ns: int | None
    turns: int | None
    ending: Required[str]
    reason: str | None
    reward: float | None
    texts: Mapping[str, Any] | None


class QuestionTexts(TypedDict, total=False):
    """The reference that graders compare answers with."""

    reference: Any


class Question(TypedDict, total=False):
    """QUESTION: the benchmark's question that a prompt asks."""

    prompt_id: Required[int]
    task: Required[str]
    id: Required[str]
    tags: Mapping[str, str] | None
    empty_is_answer: bool | None
    texts: QuestionTexts | None


ScoringStarted = TypedDict(
    "ScoringStarted",
    {
        "pass": Required[int],
        "scorers": list[Mapping[str, Any]] | None,
        "options": Mapping[str, Any] | None,
        "versions": Mapping[str, str] | None,
        "judging": Mapping[str, Any] | None,
    },
    total=False,
)
"""SCORING_STARTED: `pass` counts from 1."""

ScoringEnded = TypedDict("ScoringEnded", {"pass": int, "reason": Literal["completed", "interrupted"]})
"""SCORING_ENDED."""


class PromptTexts(TypedDict, total=False):
    """The question, in one of several forms; needed once per prompt, to count input tokens locally."""

    prompt: str | None
    messages: list[Any] | None
    tools: list[Any] | None
    token_ids: list[int] | list[list[int]] | None


class Issued(TypedDict, total=False):
    """LOADGEN_ISSUE_CALLED: the load generator issued a request.

    `scheduled_ns` is when it was due: in a closed loop, the time of the event. `prompt_id` and `turn` count
    from 0; `endpoint` is an index in the `urls` of the settings. `trace_id` is that of its `traceparent`.
    `episode` marks the turns of an episode, of which `role` is `user_sim` for those to the simulated user.
    """

    scheduled_ns: Required[int]
    phase: Required[Phase]
    prompt_id: int | None
    free_ns: int | None
    max_tokens: int | None
    endpoint: int | None
    conversation: str | None
    turn: int | None
    turns: int | None
    episode: bool | None
    role: str | None
    tags: Mapping[str, str] | None
    salt: Any
    trace_id: str | None
    texts: PromptTexts | None


class Sent(TypedDict, total=False):
    """REQUEST_SENT: the last byte was handed to the kernel, over a new or a reused connection."""

    reused: bool | None
    dns_ms: float | None
    connect_ms: float | None
    tls_ms: float | None
    retried: bool | None
    unasked: int | None
    sent_high_ns: int | None
    span_id: str | None
    request_id: str | None


class OutputTexts(TypedDict, total=False):
    """The answer of the server, for local token counts and for scoring."""

    output: str | None
    reasoning: str | None
    tool_calls: Any


class Arrivals(TypedDict, total=False):
    """When the chunks of a stream arrived: a part of `Complete`, `Failed` and `Cancelled`; see `arrivals`."""

    first_token_ns: int | None
    last_token_ns: int | None
    chunks: int | None
    chunk_gaps_us: bytes | None


class Response(Arrivals, total=False):
    """The facts of a response, whole or partial.

    `first_token_ns` is the first token of any kind, `first_output_ns` the first that is not reasoning, and
    `first_visible_ns` the first that is not white space either. `chunks` counts chunks with a token.
    `input_tokens` and the other counts are the server's own; `reasoning_added` says that `output_tokens` is
    its count plus `reasoning_tokens`. `other_chunks` are those of further `choices`; `finish_ns` is when a
    finish reason arrived after the last token. `late_chunks` and the members with `_low_ns` are for stamps in
    doubt.
    """

    status: int | None
    stream: bool | None
    first_byte_ns: int | None
    first_output_ns: int | None
    first_visible_ns: int | None
    first_byte_low_ns: int | None
    first_token_low_ns: int | None
    first_output_low_ns: int | None
    first_visible_low_ns: int | None
    last_token_low_ns: int | None
    late_chunks: list[int] | None
    first_chunk: Mapping[str, int] | None
    silent_chunks: int | None
    silent_tokens: bool | None
    reads: int | None
    coalesced: int | None
    bytes: int | None
    finish_reason: str | None
    finish_ns: int | None
    choices: int | None
    other_chunks: int | None
    content_chars: int | None
    reasoning_chars: int | None
    call_chars: int | None
    tagged_chars: int | None
    unended: str | None
    deviations: str | None
    input_tokens: int | None
    output_tokens: int | None
    reasoning_tokens: int | None
    cached_tokens: int | None
    total_tokens: int | None
    reasoning_added: bool | None
    attempts: int | None
    retry_after_s: float | None
    texts: OutputTexts | None


class Complete(Response, total=False):
    """COMPLETE: the response is complete and a success."""


class Failed(Response, total=False):
    """ERROR: the request failed; docs/failures.md has the names in `error`."""

    error: Required[str]
    message: str | None


class Cancelled(Response, total=False):
    """CANCELLED: the client gave the request up."""

    reason: str | None


class Retry(TypedDict, total=False):
    """RETRY: attempt number `attempt`, from 1, failed, and another one follows after `wait_ms`."""

    attempt: Required[int]
    error: Required[str]
    message: str | None
    status: int | None
    retry_after_s: float | None
    wait_ms: float | None
    sent_ns: int | None
    first_byte_ns: int | None


Scored = TypedDict(
    "Scored",
    {
        "pass": Required[int],
        "scorer": Required[str],
        "status": Required[Literal["scored", "unparsed", "missing", "infra_error", "judge_pending"]],
        "value": float | None,
        "extracted": Any,
        "reason": str | None,
        "metrics": Mapping[str, Any] | None,
        "details": Any,
    },
    total=False,
)
"""SCORED: a grader scored the answer of a request; `value` is 0 to 1 for most graders."""

PAYLOADS: Final[Mapping[EventType, type]] = {
    EventType.PHASE_STARTED: PhaseStarted,
    EventType.PHASE_ENDED: PhaseEnded,
    EventType.STOP_PERFORMANCE_TRACKING: Stopped,
    EventType.TEST_ENDED: SessionEnded,
    EventType.FINDING: Finding,
    EventType.TELEMETRY: Telemetry,
    EventType.QUESTION: Question,
    EventType.SCORING_STARTED: ScoringStarted,
    EventType.SCORING_ENDED: ScoringEnded,
    EventType.SENSOR_STARTED: SensorStarted,
    EventType.SENSOR_READING: SensorReading,
    EventType.TOOL_CALLED: ToolCalled,
    EventType.EPISODE_ENDED: EpisodeEnded,
    EventType.LOADGEN_ISSUE_CALLED: Issued,
    EventType.REQUEST_SENT: Sent,
    EventType.COMPLETE: Complete,
    EventType.ERROR: Failed,
    EventType.CANCELLED: Cancelled,
    EventType.RETRY: Retry,
    EventType.SCORED: Scored,
}
"""The payload of each event; TEST_STARTED and FIRST_CHUNK have none."""


def arrivals(sent_ns: int, arrivals_ns: Iterable[int]) -> Arrivals:
    """The part of a payload that says when the chunks of a stream arrived.

    Args:
        sent_ns: The time of REQUEST_SENT.
        arrivals_ns: The arrival of each chunk with a token, in order, in ns of CLOCK_MONOTONIC.

    Returns:
        The first and the last token, the number of chunks, and the gaps as `recorder.schema` defines them;
        only the number where none arrived.

    Raises:
        ValueError: An arrival is earlier than the one before it, or than `sent_ns`.
    """
    stamps_ns = list(arrivals_ns)
    if not stamps_ns:
        return Arrivals(chunks=0)
    for earlier_ns, later_ns in pairwise((sent_ns, *stamps_ns)):
        if later_ns < earlier_ns:
            raise ValueError(f"arrivals: {later_ns} follows {earlier_ns}, and times do not go back")
    offsets_us = [0, *((at_ns - sent_ns + 500) // 1000 for at_ns in stamps_ns)]
    gaps_us = (min(later - earlier, _MAX_GAP_US) for earlier, later in pairwise(offsets_us))
    return Arrivals(
        first_token_ns=stamps_ns[0],
        last_token_ns=stamps_ns[-1],
        chunks=len(stamps_ns),
        chunk_gaps_us=array("I", gaps_us).tobytes(),
    )
