"""The allowed order of events, as tables; the code only interprets the tables.

docs/log.md shows the same tables. Every run of the test suite is compared with them (`violations`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from recorder.event import Event

START = None
"""The state before the first event."""

REQUEST: Mapping[EventType | None, frozenset[EventType]] = {
    START: frozenset({EventType.LOADGEN_ISSUE_CALLED}),
    EventType.LOADGEN_ISSUE_CALLED: frozenset(
        {EventType.REQUEST_SENT, EventType.ERROR, EventType.CANCELLED, EventType.RETRY}
    ),
    # It is sent again when it was sent into a kept connection that the server had closed. A response that is
    # not a stream has no first chunk.
    EventType.REQUEST_SENT: frozenset(
        {
            EventType.REQUEST_SENT,
            EventType.FIRST_CHUNK,
            EventType.COMPLETE,
            EventType.ERROR,
            EventType.CANCELLED,
            EventType.RETRY,
        }
    ),
    EventType.FIRST_CHUNK: frozenset(
        {EventType.COMPLETE, EventType.ERROR, EventType.CANCELLED, EventType.RETRY}
    ),
    # What follows is another attempt, from its beginning.
    EventType.RETRY: frozenset(
        {EventType.REQUEST_SENT, EventType.ERROR, EventType.CANCELLED, EventType.RETRY}
    ),
    EventType.COMPLETE: frozenset({EventType.SCORED}),
    # An empty answer can be valid, and an imported attempt that failed has a score too.
    EventType.ERROR: frozenset({EventType.SCORED}),
    EventType.CANCELLED: frozenset(),
    EventType.SCORED: frozenset({EventType.SCORED}),
}

SESSION: Mapping[EventType | None, frozenset[EventType]] = {
    START: frozenset({EventType.TEST_STARTED}),
    EventType.TEST_STARTED: frozenset({EventType.PHASE_STARTED, EventType.TEST_ENDED}),
    EventType.PHASE_STARTED: frozenset({EventType.PHASE_ENDED, EventType.STOP_PERFORMANCE_TRACKING}),
    EventType.STOP_PERFORMANCE_TRACKING: frozenset({EventType.PHASE_ENDED}),
    EventType.PHASE_ENDED: frozenset({EventType.PHASE_STARTED, EventType.TEST_ENDED}),
    EventType.TEST_ENDED: frozenset(),
}

SEGMENTS: Mapping[EventType | None, frozenset[EventType]] = {
    kind: frozenset({EventType.TEST_STARTED}) for kind in SESSION if kind is not START
}
"""What may follow from one segment to the next: a run is resumed wherever it was left."""

ANYWHERE = frozenset(
    {
        EventType.FINDING,
        EventType.TELEMETRY,
        EventType.QUESTION,
        EventType.SCORING_STARTED,
        EventType.SCORING_ENDED,
        EventType.SENSOR_STARTED,
        EventType.SENSOR_READING,
        EventType.TOOL_CALLED,
        EventType.EPISODE_ENDED,
        EventType.TREE_ENDED,
    }
)
"""Session events that have no place in the order."""


def is_request_event(kind: EventType) -> bool:
    """Tell whether an event concerns one request rather than the session."""
    return kind in REQUEST


def violations(events: Iterable[Event], first_seqs: Collection[int] = ()) -> list[str]:
    """One sentence for each illegal step in the events of a log, in write order; a cut-off log is lawful.

    `first_seqs` has the number of the first event of each segment, from 1, of all events of a resumed run.
    """
    messages: list[str] = []
    states: dict[str | None, EventType] = {}
    resumed = False
    for seq, event in enumerate(events, start=1):
        resumed |= seq in first_seqs
        if event.type in ANYWHERE:
            continue
        state = states.get(event.sample_uuid, START)
        table = REQUEST
        if not is_request_event(event.type):
            table, resumed = SEGMENTS if resumed and state in SEGMENTS else SESSION, False
        if event.type not in table[state]:
            where = "the session" if event.sample_uuid is None else f"request {event.sample_uuid}"
            before = "the start" if state is None else state.name
            messages.append(f"{event.type.name} may not follow {before} in {where}")
        states[event.sample_uuid] = event.type
    return messages
