"""The vocabulary: the events of a run, and the event value.

The names follow the metrics specification of MLPerf endpoints. The codes are what the log stores;
they are part of the file format and never change their meaning. `recorder.payloads` has what events tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, Any, Final, NamedTuple, Self


class EventType(IntEnum):
    """The type of an event. Codes below 20 concern the session, from 20 on one request.

    Attributes:
        meaning: What happened.
    """

    meaning: str

    def __new__(cls, code: int, meaning: str = "") -> Self:
        """A code with its meaning; a code alone is the event that has it."""
        member = int.__new__(cls, code)
        member._value_, member.meaning = code, meaning
        return member

    TEST_STARTED = 1, "the session began, or was resumed"
    PHASE_STARTED = 2, "a phase began"
    PHASE_ENDED = 3, "a phase ended"
    STOP_PERFORMANCE_TRACKING = 4, "issuing ended"
    TEST_ENDED = 5, "the session ended in order; missing after a kill"
    FINDING = 6, "the load generator found something that a reader of the figures should know"
    TELEMETRY = 7, "a process read its own state"
    QUESTION = 8, "a benchmark's question, before the first request"
    SCORING_STARTED = 9, "a scoring pass began, or was resumed"
    SCORING_ENDED = 10, "a scoring pass is over"
    SENSOR_STARTED = 11, "a sensor was set up"
    SENSOR_READING = 12, "a sensor read one thing"
    TOOL_CALLED = 13, "a tool of an episode returned"
    EPISODE_ENDED = 14, "an episode is over"
    TREE_ENDED = 15, "a session tree is over"
    LOADGEN_ISSUE_CALLED = 20, "the load generator issued a request"
    REQUEST_SENT = 21, "the last byte of the request went to the kernel"
    FIRST_CHUNK = 22, "the first content, reasoning or part of a tool call arrived"
    COMPLETE = 23, "the response is complete and a success"
    ERROR = 24, "the request failed"
    CANCELLED = 25, "the client gave the request up"
    RETRY = 26, "an attempt failed, and another follows"
    SCORED = 30, "a grader scored the stored answer"


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
    TREE_ENDED = EventType.TREE_ENDED


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


TERMINAL: Final = frozenset({EventType.COMPLETE, EventType.ERROR, EventType.CANCELLED})
"""Events that end a request; each request has exactly one."""


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


class KeyColumn(NamedTuple):
    """The column that the reporter makes of a payload's key.

    Attributes:
        sql: Its type in SQL.
        kind: Its type in compiled code (`reporter/log/_columns.h`), for events of requests.
    """

    sql: str
    kind: str = ""


JSON: Final = KeyColumn("JSON", "JSON")
TEXT: Final = KeyColumn("VARCHAR", "TEXT")
Text = Annotated[str, TEXT]
Integer = Annotated[int, KeyColumn("BIGINT", "INTEGER")]
Moment = Annotated[int, KeyColumn("BIGINT", "MOMENT")]
"""A time by the clock of the segment that stamped it."""
Real = Annotated[float, KeyColumn("DOUBLE", "REAL")]
Truth = Annotated[bool, KeyColumn("BOOLEAN", "TRUTH")]
TextMap = Annotated[Mapping[str, str], KeyColumn("MAP(VARCHAR, VARCHAR)")]
