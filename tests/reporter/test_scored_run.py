"""A log that was scored: the run's own figures know nothing of it; `scores` has every answer asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import Event, EventType, schema
from recorder.continued_log import reopen
from recorder.lifecycle import violations
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from reporter.log.all_events import rows
from reporter.log.database import open_log
from reporter.log.query import query
from reporter.log.so_far import so_far
from reporter.replayed_requests import texts_asked
from reporter.stored_answers import NEEDED, stored_answers, texts_of
from tests.reporter.conftest import BASE_NS, WALL_NS, Run, ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Run]

HOUR_MS = 3_600_000


def question(run: Run, prompt_id: int, task: str = "sums", **more: Any) -> Run:
    """Add a question to the log."""
    data = {"prompt_id": prompt_id, "task": task, "id": f"q{prompt_id}", "tags": {"level": "easy"}, **more}
    return run.session(EventType.QUESTION, 0, **data)


def append_segment(
    folder: Path, events: list[Event], *, at_ms: float = 2000, kind: str | None = "scoring", boot: str = "now"
) -> None:
    """Append a segment."""
    environment = {"kind": kind} if kind else {}
    segment = Session("", ns(at_ms), WALL_NS + ns(at_ms) - BASE_NS, {}, environment, boot)
    store = reopen(folder / "events.db", segment)
    store.append([schema.row(event) for event in events])
    store.close()


def a_pass(
    number: int,
    scores: dict[str, Any],
    *,
    at_ms: float = 2000,
    reason: str | None = "completed",
) -> list[Event]:
    """The events of a scoring pass of the task `sums`; a score is a value, or what SCORED says."""
    started = {"pass": number, "scorers": [{"task": "sums", "scorer": "s", "version": 3}]}
    events = [Event(EventType.SCORING_STARTED, ns(at_ms), None, started)]
    for uuid, score in scores.items():
        values = score if isinstance(score, dict) else {"value": score, "status": "scored"}
        events.append(Event(EventType.SCORED, ns(at_ms), uuid, {"pass": number, "scorer": "s", **values}))
    if reason:
        events.append(Event(EventType.SCORING_ENDED, ns(at_ms), None, {"pass": number, "reason": reason}))
    return events


def write(run: Run, boot: str = "now") -> Path:
    """The log of a run whose segments can be on other boots."""
    store = Store.create(
        run.folder / "events.db", Session("s", BASE_NS, WALL_NS, run.settings, run.environment, boot)
    )
    store.append([schema.row(event) for event in run.events])
    store.close()
    return run.folder


def scores(folder: Path, what: str = "sample_uuid, value, status, reason") -> list[tuple[Any, ...]]:
    """What the view has, in order."""
    columns = what.split(", ")
    answer = query(folder, "FROM scores ORDER BY pass, scorer, sample_uuid")
    return [tuple(row[answer.columns.index(column)] for column in columns) for row in answer.rows]


def performance(folder: Path) -> dict[str, Any]:
    """The report without what a run scored."""
    with MetricsReporter(folder) as reporter:
        report = dict(reporter.create_report().to_dict())
    del report["accuracy"]
    return report


@pytest.fixture
def asked(a_run: NewRun) -> Run:
    """Four questions: two answers, a failure, and one that is still in flight."""
    run = a_run()
    for prompt_id in (1, 2, 3, 4):
        question(run, prompt_id)
    run.begins().answers(5, 9, uuid="a", usage=(3, 7), finish_reason="length")
    run.answers(15, 19, at_ms=10, uuid="b", finish_reason="content_filter")
    run.fails("http_500", at_ms=20, failed=30).issues(40, uuid="d")
    return run


def test_every_answer_that_was_asked_for_has_a_row(asked: Run) -> None:
    """A failure of the server is 0 and says why; what the client left open has no value."""
    folder = asked.stops(50).ends(60).write()
    append_segment(
        folder, a_pass(1, {"a": 1.0, "b": {"status": "judge_pending", "reason": "no judge was asked"}})
    )
    assert scores(folder) == [
        ("a", 1.0, "scored", None),
        ("b", None, "judge_pending", "no judge was asked"),
        ("d", None, "infra_error", "in_flight"),
        ("request 3", 0.0, "missing", "http_500"),
    ]


def test_a_score_knows_its_question_and_its_answer(asked: Run) -> None:
    """Tags, tokens, and whether the answer was cut off or refused."""
    folder = asked.stops(50).ends(60).write()
    more = {"value": 0.5, "status": "scored", "extracted": "7", "metrics": {"kept": 2, "asked": 4}}
    append_segment(folder, a_pass(1, {"a": more}))
    columns = (
        "question_id, attempt, extracted, metrics, tags, input_tokens, output_tokens, truncated, refused"
    )
    rows = scores(folder, columns)
    assert rows[0] == ("q1", 1, "7", {"kept": 2.0, "asked": 4.0}, {"level": "easy"}, 3, 7, True, False)
    assert rows[1][-2:] == (False, True)
    assert rows[1][3] == {}


def test_answers_that_a_pass_has_not_reached_are_not_lost(asked: Run) -> None:
    """An answer without a score has no value, whatever the reason is."""
    folder = asked.stops(50).ends(60).write()
    append_segment(folder, a_pass(1, {"a": 1.0}, reason=None))
    assert scores(folder)[1] == ("b", None, "infra_error", "not scored yet")
    assert query(folder, "SELECT pass, ended, version FROM passes").rows == [(1, "cut_off", 3)]


def test_a_run_that_was_not_scored_has_no_rows(asked: Run) -> None:
    """Nor has it passes, only questions."""
    folder = asked.stops(50).ends(60).write()
    assert scores(folder) == []
    assert query(folder, "SELECT count(*) FROM questions").rows == [(4,)]


@pytest.mark.slow
def test_the_figures_are_those_of_before(asked: Run) -> None:
    """Cut off, scored, judged, interrupted and scored again: what the run itself was stays what it was."""
    asked.session(EventType.TELEMETRY, 45, source="parent", cpu_share=0.5)
    folder = asked.write()
    before, state = performance(folder), so_far(folder)
    judged = {"scheduled_ns": ns(3000), "phase": "judge", "judges": "a", "prompt_id": 9}
    reading = Event(EventType.TELEMETRY, ns(9000), None, {"source": "parent", "cpu_share": 1.0})
    append_segment(folder, a_pass(1, {"a": 1.0}, reason="interrupted"))
    append_segment(
        folder, [Event(EventType.LOADGEN_ISSUE_CALLED, ns(3000), "j", judged)], at_ms=3000, kind="judging"
    )
    append_segment(folder, [*a_pass(1, {"b": 0.0}, at_ms=4000), reading], at_ms=4000)
    assert performance(folder) == before
    after = so_far(folder)
    assert (after.ended, after.settled, after.measured_s) == (state.ended, state.settled, state.measured_s)
    assert after.last_seq == sum(1 for _ in rows(folder)) > state.last_seq
    assert [row[1] for row in scores(folder)] == [1.0, 0.0, None, 0.0]


def test_a_scored_log_is_lawful(asked: Run) -> None:
    """What scoring appends may follow what was there."""
    folder = asked.stops(50).ends(60).write()
    append_segment(folder, a_pass(1, {"a": 1.0}))
    append_segment(folder, a_pass(2, {"a": 1.0, "b": 1.0}, at_ms=3000), at_ms=3000)
    events = [Event(EventType[row["type"]], row["at_ns"], row["sample_uuid"] or None) for row in rows(folder)]
    requests = [event for event in events if event.sample_uuid and event.sample_uuid != "d"]
    assert violations(requests) == []


@pytest.mark.slow
def test_a_run_may_be_resumed_after_it_was_scored(asked: Run, a_run: NewRun) -> None:
    """The segments of the run are numbered through, and its figures know of no scoring between them."""
    later, boot = a_run(), "after a restart"
    later.events.clear()
    later.begins(HOUR_MS).answers(
        HOUR_MS + 15, at_ms=HOUR_MS + 10, uuid="d again", issue={"about": {"prompt_id": 4}}
    )
    later.stops(HOUR_MS + 20).ends(HOUR_MS + 30)
    folder = write(asked)
    append_segment(folder, later.events, at_ms=HOUR_MS, kind=None, boot=boot)
    plain = performance(folder)
    (folder / "events.db").unlink()
    write(asked)
    append_segment(folder, a_pass(1, {"a": 1.0, "b": 1.0}))
    append_segment(folder, later.events, at_ms=HOUR_MS, kind=None, boot=boot)
    append_segment(
        folder,
        a_pass(2, {"a": 1.0, "b": 1.0, "d again": 1.0}, at_ms=2 * HOUR_MS),
        at_ms=2 * HOUR_MS,
        boot=boot,
    )
    assert performance(folder) == plain
    assert query(folder, "SELECT segment, ended, issued FROM segments").rows == [
        (1, "cut_off", 4),
        (2, "completed", 1),
    ]
    now = "SELECT sample_uuid, value FROM scores WHERE pass = {} ORDER BY sample_uuid"
    assert query(folder, now.format(2)).rows == [("a", 1.0), ("b", 1.0), ("d again", 1.0), ("request 3", 0.0)]
    # The earlier pass is about what had been asked when it began.
    assert query(folder, now.format(1)).rows == [("a", 1.0), ("b", 1.0), ("d", None), ("request 3", 0.0)]


def test_repeats_are_numbered_and_abandoned_attempts_are_not_samples(a_run: NewRun) -> None:
    """Of three that a segment abandoned, one was issued again: the others have no value, and none is lost."""
    first, later = a_run(), a_run()
    question(first, 1).begins()
    for number, uuid in enumerate(("x", "y", "z")):
        first.issues(10 * number, uuid=uuid, about={"prompt_id": 1})
    later.events.clear()
    later.begins(HOUR_MS).answers(HOUR_MS + 5, at_ms=HOUR_MS, uuid="x2", issue={"about": {"prompt_id": 1}})
    later.ends(HOUR_MS + 30)
    folder = write(first)
    append_segment(folder, later.events, at_ms=HOUR_MS, kind=None)
    append_segment(folder, a_pass(1, {"x2": 1.0}, at_ms=2 * HOUR_MS), at_ms=2 * HOUR_MS)
    assert scores(folder, "sample_uuid, status, attempt") == [
        ("x2", "scored", 3),
        ("y", "infra_error", 1),
        ("z", "infra_error", 2),
    ]


def test_of_a_conversation_its_last_answer_is_judged(a_run: NewRun) -> None:
    """With the answers before it; one that was cut off has no value."""
    run = question(question(a_run(), 1), 2).begins()
    for turn, asks, says in ((0, "two?", "2"), (1, "and three?", "3")):
        about = {"prompt_id": 1, "conversation": "c", "turn": turn, "turns": 2}
        texts = {"output": says, "reasoning": None, "tool_calls": None}
        prompt = {"messages": [{"role": "user", "content": asks}]}
        run.answers(
            *(100 * turn + 5, 100 * turn + 9),
            at_ms=100 * turn,
            uuid=f"c{turn}",
            texts=texts,
            issue={"about": about, "prompt": prompt},
        )
    cut = {"prompt_id": 2, "conversation": "d", "turn": 0, "turns": 2}
    folder = run.answers(305, at_ms=300, uuid="d0", issue={"about": cut}).stops(400).ends(500).write()
    append_segment(folder, a_pass(1, {"c1": 1.0}))
    rows = scores(folder)
    assert rows[0] == ("c1", 1.0, "scored", None)
    assert rows[1][0] == "d0"
    assert rows[1][1:3] == (None, "infra_error")
    with open_log(folder, NEEDED) as connection, texts_of(folder) as read:
        ((stored,),) = stored_answers(connection, 0, read)
    answer = stored.answer()
    assert (answer.text, answer.earlier) == ("3", ("2",))
    assert [(message["role"], message["content"]) for message in answer.messages] == [
        ("user", "two?"),
        ("assistant", "2"),
        ("user", "and three?"),
    ]


TEXTS = ["", "é\u2028\r\nx\u0000y", "🙂" * 3, '"\\', "a" * 100_000]


def test_an_answer_is_stored_whole(a_run: NewRun) -> None:
    """Every character of it, with what was asked, whatever the protocol is."""
    run = a_run()
    reference = {"answer": "é\u0000", "none": None, "big": 2**53}
    calls = [{"function": {"name": "f", "arguments": "{}"}}]
    for number, output in enumerate(TEXTS, start=1):
        question(run, number, texts={"reference": reference})
        texts = {"output": output, "reasoning": "why" if number == 1 else None, "tool_calls": calls}
        prompt = {"prompt": "how?"} if number == 1 else {"messages": [{"role": "user", "content": "how?"}]}
        at_ms = 10 * number
        run.answers(at_ms + 5, at_ms=at_ms, uuid=f"u{number}", texts=texts, issue={"prompt": prompt})
    folder = run.ends().write()
    with open_log(folder, NEEDED) as connection, texts_of(folder) as read:
        stored = [item for batch in stored_answers(connection, 0, read) for item in batch]
    answers = [item.answer() for item in stored]
    assert [answer.text for answer in answers] == TEXTS
    assert [answer.reasoning for answer in answers] == ["why", None, None, None, None]
    assert all(answer.tool_calls == tuple(calls) for answer in answers)
    assert all(answer.messages == ({"role": "user", "content": "how?"},) for answer in answers)
    assert all(item.parsed_reference() == reference for item in stored)


@pytest.mark.slow
def test_the_last_reply_of_the_requested_judge_counts(asked: Run) -> None:
    """Replies to other versions of the prompts, and of other models, do not."""
    folder = asked.stops(50).ends(60).write()
    replies = [
        ("no", {}),
        ("old", {"judge_version": "j@0"}),
        ("yes", {"scorer": "sums/t"}),
        ("big", {"model": "big"}),
    ]
    events = []
    for number, (output, more) in enumerate(replies):
        about = {
            "judges": "a",
            "scorer": "sums/s",
            "inquiry": "verdict",
            "judge_version": "j@1",
            "model": "m",
        }
        at_ns = ns(2000 + number)
        asks = {"phase": "judge", "scheduled_ns": at_ns, **about, **more}
        texts = {"texts": {"output": output}}
        events += [
            Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, f"j{number}", asks),
            Event(EventType.COMPLETE, at_ns + 5, f"j{number}", texts),
        ]
    append_segment(folder, events, kind="judging")
    with open_log(folder, NEEDED) as connection, texts_of(folder) as read:
        (batch,) = stored_answers(connection, 0, read)
    stored = next(item for item in batch if item.sample_uuid == "a")
    assert stored.answer("j@1", "m").judged == {"verdict": "yes"}
    assert stored.answer("j@1").judged == {"verdict": "big"}
    assert stored.answer("j@2").judged == {}
    calls = query(folder, "SELECT judged_uuid, output, status FROM judge_calls ORDER BY issued_ns").rows
    assert calls[0] == ("a", "no", "completed")
    assert query(folder, "SELECT count(*) FROM samples WHERE phase = 'judge'").rows == [(0,)]
    assert texts_asked(folder) == {}
