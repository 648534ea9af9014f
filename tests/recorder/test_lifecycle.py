"""The tables of what may follow what."""

from collections.abc import Mapping

from recorder.event import TERMINAL, Event, EventType
from recorder.lifecycle import ANYWHERE, REQUEST, SEGMENTS, SESSION, violations
from tests import golden


def events(*kinds: EventType, uuid: str | None = "r") -> list[Event]:
    """Events of one request (or of the session), in this order."""
    return [Event(kind, at_ns, uuid) for at_ns, kind in enumerate(kinds)]


def test_an_orderly_request_is_lawful() -> None:
    """The usual way, and the ways that end early."""
    start = (EventType.LOADGEN_ISSUE_CALLED, EventType.REQUEST_SENT)
    for end in (
        (EventType.FIRST_CHUNK, EventType.COMPLETE),
        (EventType.COMPLETE, EventType.SCORED),
        (EventType.ERROR,),
        (EventType.FIRST_CHUNK, EventType.CANCELLED),
        (),
    ):
        assert violations(events(*start, *end)) == []


def test_what_was_given_up_is_not_scored() -> None:
    """A failure can have a score, as an empty answer has; of what was cancelled nothing is known."""
    start = (EventType.LOADGEN_ISSUE_CALLED, EventType.REQUEST_SENT)
    assert not violations(events(*start, EventType.ERROR, EventType.SCORED))
    assert violations(events(*start, EventType.CANCELLED, EventType.SCORED)) == [
        "SCORED may not follow CANCELLED in request r"
    ]
    assert violations(events(*start, EventType.COMPLETE, EventType.SCORED, EventType.SCORED)) == []


def test_a_second_ending_names_event_request_and_state() -> None:
    """A request ends once."""
    steps = events(
        EventType.LOADGEN_ISSUE_CALLED,
        EventType.REQUEST_SENT,
        EventType.COMPLETE,
        EventType.ERROR,
    )
    assert violations(steps) == ["ERROR may not follow COMPLETE in request r"]


def test_a_request_does_not_begin_in_the_middle() -> None:
    """The first event of a request is its issue."""
    assert violations(events(EventType.REQUEST_SENT)) == [
        "REQUEST_SENT may not follow the start in request r"
    ]


def test_a_session_has_its_order_too() -> None:
    """Phases lie between start and end; findings and telemetry may stand anywhere."""
    steps = events(
        EventType.TEST_STARTED,
        EventType.TELEMETRY,
        EventType.PHASE_STARTED,
        EventType.STOP_PERFORMANCE_TRACKING,
        EventType.FINDING,
        EventType.PHASE_ENDED,
        EventType.TEST_ENDED,
        uuid=None,
    )
    assert violations(steps) == []
    backwards = violations(list(reversed(steps)))
    assert backwards[0] == "TEST_ENDED may not follow the start in the session"


def test_interleaved_requests_do_not_disturb_each_other() -> None:
    """Each request has its own state."""
    kinds = (EventType.LOADGEN_ISSUE_CALLED, EventType.REQUEST_SENT, EventType.COMPLETE)
    both = [event for kind in kinds for event in (*events(kind, uuid="a"), *events(kind, uuid="b"))]
    assert violations(both) == []


def test_the_tables_know_every_event() -> None:
    """No event is forgotten, and only what is terminal ends a request."""
    assert set(EventType) == ({*REQUEST, *SESSION} - {None}) | ANYWHERE
    assert {kind for kind, after in REQUEST.items() if after <= {EventType.SCORED} and kind} == TERMINAL | {
        EventType.SCORED,
    }


def after(table: Mapping[EventType | None, frozenset[EventType]]) -> str:
    """A table as docs/log.md has it: a row for each state, in Markdown."""
    rows = (
        f"| {'the start' if state is None else f'`{state.name}`'} "
        f"| {', '.join(f'`{kind.name}`' for kind in sorted(successors)) or 'none'} |"
        for state, successors in table.items()
    )
    return "\n".join(("| after | may follow |", "|---|---|", *rows))


def test_the_page_of_the_log_has_the_tables() -> None:
    """docs/log.md says what may follow what, as the tables do; `make golden` writes it."""
    tables = {"A request": REQUEST, "A session": SESSION, "A resumed run": SEGMENTS}
    golden.check_part(
        golden.ROOT / "docs" / "log.md",
        "<!-- lifecycle -->\n",
        "<!-- /lifecycle -->",
        "".join(f"\n{title}:\n\n{after(table)}\n" for title, table in tables.items()) + "\n",
    )
