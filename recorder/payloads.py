"""The table of payload keys: the facts that a load generator must record for a correct report.

    issued = Issued(scheduled_ns=due_ns, phase="performance")
    record_event(EventType.LOADGEN_ISSUE_CALLED, now_ns, uuid, data=issued)

A payload is a plain dictionary when the program runs: its type serves type checkers and editors, and
`EventRecorder.record_event` checks keys and values by it (`recorder.payload_check`). A key that is optional
may be left out or None. Your own keys are stored as well, for SQL.

A row is a key with its type and its meaning. A type with a `KeyColumn` has a column in the reporter's tables.
The reporter's SQL, `reporter/log/_columns.h` and docs/log.md follow from the rows (`make golden`).

Units are in the names: `_ns` is a time in integer nanoseconds of CLOCK_MONOTONIC, `_ms` milliseconds, `_s`
seconds, `_us` microseconds.
"""

from array import array
from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, Required, TypedDict

from recorder.event import JSON, TEXT, EventType, Integer, KeyColumn, Moment, Real, Text, TextMap, Truth
from recorder.tree_payloads import Media, Phase, Results, TreeEnded, TreeTurn

_Early = Literal[
    "interrupted", "worker_lost", "error_budget", "overloaded", "gate_lost", "node_lost", "warmup_failed"
]
EndReason = Literal["completed", _Early]
StopReason = Literal["duration", "requests", _Early]
Histograms = Annotated[Mapping[str, Mapping[str, float]], KeyColumn("MAP(VARCHAR, MAP(VARCHAR, DOUBLE))")]
ScoreStatus = Literal["scored", "unparsed", "missing", "infra_error", "judge_pending"]

_MAX_GAP_US: Final = 2**32 - 1


class PhaseStarted(TypedDict, total=False):
    """PHASE_STARTED."""

    phase: Required[Phase]  #: the phase
    duration_s: float | None  #: planned length
    requests: int | None  #: planned requests
    sessions: int | None  #: planned conversations


class PhaseEnded(TypedDict):
    """PHASE_ENDED."""

    phase: Phase  #: the phase


class Stopped(TypedDict, total=False):
    """STOP_PERFORMANCE_TRACKING."""

    reason: Required[StopReason]  #: why issuing ended
    scheduled: int | None  #: how many requests were due until then


class SessionEnded(TypedDict):
    """TEST_ENDED: a session that was interrupted is reported, and is not a valid measurement."""

    reason: EndReason  #: why the session ended


class Finding(TypedDict, total=False):
    """FINDING."""

    code: Required[str]  #: its [name](findings.md)
    severity: Required[Literal["error", "warning", "info"]]  #: an `error` makes the run invalid
    message: Required[str]  #: what was found
    remedy: str | None  #: what to do


class Telemetry(TypedDict):
    """TELEMETRY."""

    source: str  #: `recorder`, `client` or `parent`; other keys: [readings](#telemetry)


class SensorStarted(TypedDict, total=False):
    """SENSOR_STARTED."""

    source: Required[str]  #: the sensor
    interval_s: float | None  #: null: the sensor reads only before and after the requests
    target: str | None  #: a URL without secrets, or a device name
    about: Mapping[str, Any] | None  #: what the sensor observes


class SensorTexts(TypedDict, total=False):
    """Texts of SENSOR_READING."""

    exposition: str | None  #: a metrics page of Prometheus, as served


class SensorReading(TypedDict, total=False):
    """SENSOR_READING: readings, or the reason for their absence."""

    source: Required[Text]  #: the sensor
    moment: Annotated[Literal["first", "last"], TEXT] | None  #: before or after the requests
    labels: TextMap | None  #: what the readings are about
    readings: Annotated[Mapping[str, float], KeyColumn("MAP(VARCHAR, DOUBLE)")] | None  #: units in names
    histograms: Histograms | None  #: cumulative counts by upper bound, at the `first` and the `last` moment
    took_ms: Real | None  #: how long reading took
    error: Text | None  #: without readings: the name of the failure
    message: Text | None  #: without readings: what failed
    texts: SensorTexts | None


class ToolCalled(TypedDict, total=False):
    """TOOL_CALLED."""

    conversation: Required[Text]  #: the episode
    prompt_id: Required[Integer]  #: its prompt
    phase: Required[Annotated[Phase, TEXT]]  #: its phase
    turn: Required[Integer]  #: the turn that called the tool, from 0
    name: Required[Text]  #: the tool
    started_ns: Required[Moment]  #: when the call began
    duration_ns: Required[Integer]  #: how long the call took
    error: Text | None  #: how the call failed
    texts: Mapping[str, Any] | None  #: `arguments`, `result`


class EpisodeEnded(TypedDict, total=False):
    """EPISODE_ENDED."""

    conversation: Required[Text]  #: the episode
    prompt_id: Required[Integer]  #: its prompt
    phase: Required[Annotated[Phase, TEXT]]  #: its phase
    scheduled_ns: Moment | None  #: when the episode was due
    begun_ns: Moment | None  #: when its set-up began
    started_ns: Moment | None  #: when its agent began
    duration_ns: Integer | None  #: how long its agent took
    turns: Integer | None  #: only of an [imported](import.md) episode; others have their requests counted
    ending: Required[Text]  #: how the episode [ended](agents.md)
    reason: Text | None  #: why, in words
    reward: Real | None  #: its score
    texts: Mapping[str, Any] | None  #: `messages`, `details`


class QuestionTexts(TypedDict, total=False):
    """Texts of QUESTION."""

    reference: Any  #: what graders compare answers with


class Question(TypedDict, total=False):
    """QUESTION: the benchmark's question that a prompt asks."""

    prompt_id: Required[Integer]  #: the prompt
    task: Required[Text]  #: the task as given
    id: Required[Text]  #: the benchmark's name of the question
    tags: TextMap | None  #: categories
    empty_is_answer: Truth | None  #: whether an empty answer is valid
    texts: QuestionTexts | None


ScoringStarted = TypedDict(
    "ScoringStarted",
    {
        "pass": Required[int],  #: the number of the scoring pass, from 1
        "scorers": list[Mapping[str, Any]] | None,  #: with `task`, `version`, `definition`, `judge`
        "options": Mapping[str, Any] | None,  #: options of scoring
        "versions": Mapping[str, str] | None,  #: versions of programs that score
        "judging": Mapping[str, Any] | None,  #: the outcome of judge requests
    },
    total=False,
)
"""SCORING_STARTED."""

ScoringEnded = TypedDict(
    "ScoringEnded",
    {
        "pass": int,  #: the number of the scoring pass
        "reason": Literal["completed", "interrupted"],  #: why the pass ended
    },
)
"""SCORING_ENDED."""


class PromptTexts(TypedDict, total=False):
    """Texts of LOADGEN_ISSUE_CALLED: the question in one form, once per prompt, to count input tokens."""

    prompt: Text | None  #: a text
    messages: Annotated[list[Any], JSON] | None  #: messages of a chat
    tools: Annotated[list[Any], JSON] | None  #: tools that the model may call
    token_ids: Annotated[list[int] | list[list[int]], JSON] | None  #: token ids
    inputs: Annotated[list[str], JSON] | None  #: inputs of a request for [vectors or scores](embeddings.md)
    query: Text | None  #: the query of documents
    expected: Annotated[list[Any], JSON] | None  #: with `--expect`: the results of the earlier run


class Issued(TypedDict, total=False):
    """LOADGEN_ISSUE_CALLED."""

    scheduled_ns: Required[Moment]  #: when the request was due: in a closed loop, the time of the event
    free_ns: Moment | None  #: when it got a place under `--max-concurrency`
    phase: Required[Annotated[Phase, TEXT]]  #: its phase; of a judge request `judge`, of a probe `probe`
    prompt_id: Integer | None  #: its prompt, from 0
    conversation: Text | None  #: its conversation
    turn: Integer | None  #: its place in the conversation, from 0
    turns: Integer | None  #: the number of turns of the conversation
    episode: Truth | None  #: whether it is a turn of an [episode](agents.md)
    role: Text | None  #: `user_sim`: it goes to the simulated user of the episode
    endpoint: Integer | None  #: index in `settings.urls`
    max_tokens: Integer | None  #: its limit of output tokens
    tags: Annotated[Mapping[str, str], JSON] | None  #: tags of its prompt
    salt: Any  #: what keeps its prompt out of caches
    tree: TreeTurn | None  #: [its place in a session tree](sessions.md)
    trace_id: Text | None  #: trace id of its `traceparent`
    texts: PromptTexts | None


class Sent(TypedDict, total=False):
    """REQUEST_SENT: the last byte was handed to the kernel, over a new or a reused connection."""

    reused: Truth | None  #: whether the connection had been used before
    connect_ms: Real | None  #: of a new connection: TCP
    tls_ms: Real | None  #: of a new connection: TLS
    dns_ms: Real | None  #: of a new connection: name resolution
    retried: Truth | None  #: whether the request was sent again, since a kept connection had ended
    unasked: Integer | None  #: unsolicited responses since the last request
    sent_high_ns: Moment | None  #: latest possible sending, where it took over 0.1 ms
    span_id: Text | None  #: span id of its `traceparent`
    request_id: str | None  #: `X-Request-Id`: `ID-2` of a second attempt, `ID-resent` of a retried request


class OutputTexts(TypedDict, total=False):
    """Texts of COMPLETE, ERROR and CANCELLED: the answer, for local token counts and for scoring."""

    output: Text | None  #: the content
    reasoning: Text | None  #: the reasoning
    tool_calls: Annotated[Any, JSON]  #: the tool calls
    results: Annotated[list[Any], JSON] | None  #: scores, and with `--save-vectors` vectors, by input


class Arrivals(TypedDict, total=False):
    """When the chunks of a stream arrived: a part of `Complete`, `Failed` and `Cancelled`; see `arrivals`."""

    first_token_ns: Moment | None  #: arrival of the first token of any kind
    last_token_ns: Moment | None  #: arrival of the last token
    chunks: Integer | None  #: chunks with a token
    chunk_gaps_us: bytes | None  #: a [column](#columns) of `events`


class Response(Arrivals, Media, total=False):
    """COMPLETE, ERROR, CANCELLED: the facts of a response, whole or partial.

    Token counts are the server's own. `late_chunks` and the members with `_low_ns` are for stamps in doubt.
    """

    status: Annotated[int, KeyColumn("INTEGER", "SMALL")] | None  #: HTTP status
    stream: Truth | None  #: whether the response was a stream
    first_byte_ns: Moment | None  #: arrival of the first byte
    first_output_ns: Moment | None  #: arrival of the first token that is not reasoning
    first_visible_ns: Moment | None  #: arrival of the first output that is not white space
    first_byte_low_ns: Moment | None  #: earliest possible `first_byte_ns`
    first_token_low_ns: Moment | None  #: earliest possible `first_token_ns`
    first_output_low_ns: Moment | None  #: earliest possible `first_output_ns`
    first_visible_low_ns: Moment | None  #: earliest possible `first_visible_ns`
    last_token_low_ns: Moment | None  #: earliest possible `last_token_ns`
    late_chunks: Annotated[list[int], KeyColumn("BIGINT[]", "INTEGERS")] | None  #: chunks in doubt
    first_chunk: Annotated[Mapping[str, int], JSON] | None  #: characters by kind of text
    silent_chunks: Integer | None  #: chunks with an empty content
    silent_tokens: Truth | None  #: whether [these count as tokens](metrics.md#tokens-without-text)
    reads: Integer | None  #: reads from the socket
    coalesced: Integer | None  #: reads with more than one chunk
    bytes: Integer | None  #: bytes of the response
    finish_reason: Text | None  #: finish reason of the server
    finish_ns: Moment | None  #: arrival of a finish reason after the last token
    choices: Integer | None  #: answers, with `n` above 1
    other_chunks: Integer | None  #: chunks of the further choices
    content_chars: Integer | None  #: characters of the content
    reasoning_chars: Integer | None  #: characters of the reasoning
    call_chars: Integer | None  #: characters of the names and arguments of tool calls
    tagged_chars: Integer | None  #: characters of the content that are in `<think>` tags
    unended: Text | None  #: how the HTTP response failed, where it did not end
    deviations: Text | None  #: deviations from the protocol
    input_tokens: Integer | None  #: tokens of the prompt
    output_tokens: Integer | None  #: tokens of the answer
    reasoning_tokens: Integer | None  #: tokens of the reasoning
    cached_tokens: Integer | None  #: tokens of the prompt that were in a cache
    total_tokens: Integer | None  #: all tokens
    reasoning_added: Truth | None  #: `output_tokens` has reasoning that the server counts apart
    server: Annotated[Mapping[str, Any], JSON] | None  #: [times and counts of the server](server-times.md)
    attempts: int | None  #: attempts, above 1
    retry_after_s: float | None  #: `Retry-After`
    results: Results | None  #: [vectors or scores](embeddings.md)
    texts: OutputTexts | None


class Complete(Response, total=False):
    """COMPLETE: the response is complete and a success."""


class Failed(Response, total=False):
    """ERROR: the request failed."""

    error: Required[Text]  #: of ERROR: the [name](failures.md#names) of the failure
    message: Text | None  #: of ERROR: what failed, in words


class Cancelled(Response, total=False):
    """CANCELLED: the client gave the request up."""

    reason: Text | None  #: of CANCELLED: `drain_over`, or why in words


class Retry(TypedDict, total=False):
    """RETRY."""

    attempt: Required[int]  #: the attempt that failed, from 1
    error: Required[str]  #: the [name](failures.md#names) of the failure
    message: str | None  #: what failed, in words
    status: int | None  #: HTTP status
    retry_after_s: float | None  #: `Retry-After`
    wait_ms: float | None  #: how long the next attempt waits
    sent_ns: int | None  #: when the attempt was sent
    first_byte_ns: int | None  #: arrival of the first byte


Scored = TypedDict(
    "Scored",
    {
        "pass": Required[Integer],  #: the number of the scoring pass
        "scorer": Required[Text],  #: the grader
        "value": Real | None,  #: 0 to 1 for most graders
        "status": Required[Annotated[ScoreStatus, TEXT]],  #: whether there is a score, or why not
        "extracted": Annotated[Any, TEXT],  #: what the grader found in the answer
        "reason": Text | None,  #: why the answer has no score
        "metrics": Annotated[Mapping[str, Any], JSON] | None,  #: further figures
        "details": Annotated[Any, JSON],  #: what the grader adds
    },
    total=False,
)
"""SCORED: a grader scored the answer of a request."""
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
    EventType.TREE_ENDED: TreeEnded,
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
        The first and the last token, the number of chunks, and the gaps as `recorder.schema` defines
        them;
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
