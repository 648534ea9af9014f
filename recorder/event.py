"""The vocabulary: the events of a run, and the event value.

The names follow the metrics specification of MLPerf endpoints. The codes are what the log stores;
they are part of the file format and never change their meaning.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple


class EventType(IntEnum):
    """The type of an event. Codes below 20 concern the session, from 20 on one request."""

    TEST_STARTED = 1
    """The session began, or a further segment of it."""
    PHASE_STARTED = 2
    """A phase (`warmup`, `performance`, `drain`) began; data: `phase`, `duration_s`, `requests`."""
    PHASE_ENDED = 3
    """A phase ended; data: `phase`."""
    STOP_PERFORMANCE_TRACKING = 4
    """Issuing ended; data: `scheduled`: how many were due, `reason` (duration, requests, interrupted,
    worker_lost, error_budget, overloaded, gate_lost)."""
    TEST_ENDED = 5
    """The session ended in order; data: `reason` (`completed`, `interrupted`, `worker_lost`, `error_budget`,
    `overloaded`, `gate_lost`). Missing after a `kill -9`."""
    FINDING = 6
    """Something that a reader of the figures should know; data: `code`, `severity`, `message`, `remedy`."""
    TELEMETRY = 7
    """A sensor reading; data: `source` and the readings, units in their names."""

    QUESTION = 8
    """What a benchmark asks with a prompt, and what answers are compared with; data: `prompt_id`, `task`,
    `id`, `tags`, and `empty_is_answer` where an answer of no words is judged; texts: `reference`."""
    SCORING_STARTED = 9
    """A scoring pass began, or went on; data: `pass` (from 1), `scorers`, `options`, `versions`."""
    SCORING_ENDED = 10
    """A scoring pass is over; data: `pass`, `reason` (completed, interrupted)."""
    SENSOR_STARTED = 11
    """A sensor was set up; data: `source`, `interval_s`, `target`, `about`."""
    SENSOR_READING = 12
    """What a sensor read of one thing; data: `source`, `labels`, `moment`, `readings`, `histograms`,
    `took_ms`, or `error` and `message`; texts: `exposition`. Units are in the names of readings."""

    TOOL_CALLED = 13
    """A tool of an episode returned; data: `conversation`, `prompt_id`, `phase`, `turn`, `name`,
    `started_ns`, `duration_ns`, `error`; texts: `arguments`, `result`."""
    EPISODE_ENDED = 14
    """An episode is over; data: `conversation`, `prompt_id`, `phase`, `started_ns`, `duration_ns`,
    `ending` (completed, max_turns, max_tokens, max_time, max_cost, failed, agent_error, sandbox_error,
    user_failed, cut), `reason`, `reward`; texts: `messages`, `details`."""

    LOADGEN_ISSUE_CALLED = 20
    """The load generator turned to a request; data: `scheduled_ns`, `phase`, `prompt_id`, and where there are
    any `conversation`, `turn`, `turns`, `episode`, `role`, `endpoint`, `tags`, `salt`."""
    REQUEST_SENT = 21
    """The last byte of the request was handed to the kernel; data: connection figures."""
    FIRST_CHUNK = 22
    """The first chunk with a token arrived: non-empty content, reasoning or tool-call delta."""
    COMPLETE = 23
    """The response was complete and is a success."""
    ERROR = 24
    """The request failed; data: `error` (a stable name) and what had arrived."""
    CANCELLED = 25
    """We gave the request up (a second interrupt, the drain was over…); data: `reason`, what had come."""
    RETRY = 26
    """An attempt at the request failed, and another follows; data: `attempt` (from 1), `error`, `wait_ms`."""
    SCORED = 30
    """A grader judged the stored output; data: `pass`, `scorer`, `value`, `status`, `extracted`, `reason`,
    `metrics`."""


class SessionEvent(IntEnum):
    """The events of a session, by the names and codes of `EventType`."""

    TEST_STARTED = EventType.TEST_STARTED
    PHASE_STARTED = EventType.PHASE_STARTED
    PHASE_ENDED = EventType.PHASE_ENDED
    STOP_PERFORMANCE_TRACKING = EventType.STOP_PERFORMANCE_TRACKING
    TEST_ENDED = EventType.TEST_ENDED
    FINDING = EventType.FINDING
    TELEMETRY = EventType.TELEMETRY
    QUESTION = EventType.QUESTION
    SCORING_STARTED = EventType.SCORING_STARTED
    SCORING_ENDED = EventType.SCORING_ENDED
    SENSOR_STARTED = EventType.SENSOR_STARTED
    SENSOR_READING = EventType.SENSOR_READING
    TOOL_CALLED = EventType.TOOL_CALLED
    EPISODE_ENDED = EventType.EPISODE_ENDED


class SampleEvent(IntEnum):
    """The events of one request, by the names and codes of `EventType`."""

    LOADGEN_ISSUE_CALLED = EventType.LOADGEN_ISSUE_CALLED
    REQUEST_SENT = EventType.REQUEST_SENT
    FIRST_CHUNK = EventType.FIRST_CHUNK
    COMPLETE = EventType.COMPLETE
    ERROR = EventType.ERROR
    CANCELLED = EventType.CANCELLED
    RETRY = EventType.RETRY
    SCORED = EventType.SCORED


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        type: What happened.
        at_ns: When, in nanoseconds of CLOCK_MONOTONIC, in the process that saw it.
        sample_uuid: The request that it happened to; None for session events.
        data: What is known about it: anything that orjson encodes. Two keys of a mapping are big and are
            stored apart from the others, so that reading the small ones stays cheap: `texts` (prompt and
            output texts) and `chunk_gaps_us` as bytes (see `recorder.schema`).
    """

    type: EventType
    at_ns: int
    sample_uuid: str | None = None
    data: Any = None
