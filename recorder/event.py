"""The vocabulary: what can happen in a run, and the value that says that it did.

The names follow the metrics specification of MLPerf endpoints. The codes are what the log stores;
they are part of the file format and never change their meaning.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping


class EventType(IntEnum):
    """What happened. Codes below 20 concern the session, from 20 on one request."""

    TEST_STARTED = 1
    """The session began, or a further sitting of it."""
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
    """What a benchmark asks with a prompt, and what answers are held against; data: `prompt_id`, `task`,
    `id`, `tags`; texts: `reference`."""
    SCORING_STARTED = 9
    """A scoring pass began, or went on; data: `pass` (from 1), `scorers`, `options`, `versions`."""
    SCORING_ENDED = 10
    """A scoring pass is over; data: `pass`, `reason` (completed, interrupted)."""

    LOADGEN_ISSUE_CALLED = 20
    """The load generator turned to a request; data: `scheduled_ns`, `phase`, `prompt_id`, and where there are
    any `conversation`, `turn`, `turns`, `endpoint`, `tags`, `salt`."""
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


class Event(NamedTuple):
    """One thing that happened.

    Attributes:
        type: What happened.
        at_ns: When, in nanoseconds of CLOCK_MONOTONIC, in the process that saw it.
        sample_uuid: The request that it happened to; None for session events.
        data: What is known about it: anything that orjson encodes. Two keys of a mapping are big and are
            stored apart from the others, so that reading the small ones stays cheap: `texts` (prompt and
            output texts) and `chunk_gaps_us` (see `recorder.schema`).
    """

    type: EventType
    at_ns: int
    sample_uuid: str | None = None
    data: Mapping[str, Any] | None = None
