"""A judge is asked about the answers of a run: what is open, what comes of it, and what the log keeps."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.cli.terminal.progress_observer import Terminal
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.judge_client import JudgeCall, JudgeClient, Sampling, Tally
from loadgen.driver.stop import Stop
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.errors import UsageError
from loadgen.sessions.scoring.choice import Chosen, choose
from loadgen.sessions.scoring.judge import Judging, ask_judges
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.scoring_choices import JudgeEndpoint, ScoringChoices
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from recorder.writer import EventRecorder
from reporter import MetricsReporter
from reporter.log.all_events import rows
from reporter.render import console
from reporter.render import json as json_report
from reporter.render.html import run_page as page_of_run
from tests.remembered_logs import remembered_log
from workloads.catalog import workload
from workloads.scorer import Inquiry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

KEY = "sk-judge-secret-0123456789"
TASK = "simpleqa"
REPLIES = {"answer 0": "A", "answer 1": "B", "answer 2": "C", "answer 3": "who knows", "answer 4": None}
"""What the judge says of each answer; None where it fails."""


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MockProcess]:
    """A judge with its own replies, which requires a key."""
    script = tmp_path_factory.mktemp("judge") / "replies.jsonl"
    lines: list[dict[str, Any]] = [
        {"match": f"Predicted answer: {answer}\n", "reply": reply}
        if reply
        else {"match": f"Predicted answer: {answer}\n", "status": 400, "error": f"not with {KEY}"}
        for answer, reply in REPLIES.items()
    ]
    script.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with start_mock(ttft="1ms", itl="0", replies=script, api_key=KEY) as mock:
        yield mock


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run that asked five questions and got five answers."""
    return recorded(tmp_path / "run", TASK, "official")


def recorded(folder: Path, task: str, scorer: str) -> Path:
    """A run that asked five questions of a task."""
    settings = {"accuracy": {"tasks": [{"task": task, "name": task}], "scorers": {task: scorer}}}
    with EventRecorder(path=folder / "events.db", settings=settings) as recorder:
        for event in _events(task):
            recorder.put(event)
    return folder


def _events(task: str) -> Iterator[Event]:
    yield Event(EventType.TEST_STARTED, 1)
    for number in range(len(REPLIES)):
        question = {"prompt_id": number, "task": task, "id": str(number), "tags": {}}
        reference = {"question": f"question {number}?", "answer": f"gold {number}"}
        yield Event(EventType.QUESTION, 2, data={**question, "texts": {"reference": reference}})
    yield Event(EventType.PHASE_STARTED, 3, data={"phase": "performance", "requests": len(REPLIES)})
    for number, answer in enumerate(REPLIES):
        uuid, at_ns = f"{number:032x}", 1000 + 100 * number
        asked = {"scheduled_ns": at_ns, "phase": "performance", "prompt_id": number}
        texts = {"messages": [{"role": "user", "content": f"question {number}?"}]}
        yield Event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, {**asked, "texts": texts})
        yield Event(EventType.REQUEST_SENT, at_ns + 1, uuid, {"reused": True})
        data = {"status": 200, "finish_reason": "stop", "texts": {"output": answer}}
        yield Event(EventType.COMPLETE, at_ns + 2, uuid, data)
    yield Event(EventType.STOP_PERFORMANCE_TRACKING, 5000, data={"scheduled": len(REPLIES)})
    yield Event(EventType.PHASE_ENDED, 5001, data={"phase": "performance"})
    yield Event(EventType.TEST_ENDED, 5002, data={"reason": "completed"})


def options(url: str, model: str = "judge-1", key: str | None = KEY, **more: Any) -> ScoringChoices:
    """Options with a judge."""
    return ScoringChoices(judge=JudgeEndpoint(url, model, 2, 60.0, key), processes=1, **more)


def asked(run: Path) -> list[tuple[str, str, str | None]]:
    """Every request to a judge: the model, how it ended, how it failed."""
    with remembered_log(run, ["judge_calls"]) as connection:
        query = "SELECT model, status, error FROM judge_calls ORDER BY issued_ns, sample_uuid"
        return connection.execute(query).fetchall()


def scores(run: Path, pass_number: int) -> list[tuple[float | None, str, str]]:
    """What a pass says of each answer."""
    with remembered_log(run, ["scores"]) as connection:
        return connection.execute(
            "SELECT value, status, reason FROM scores WHERE pass = ? ORDER BY prompt_id", [pass_number]
        ).fetchall()


def ask(run: Path, url: str, model: str = "judge-1", **more: Any) -> Judging | None:
    """Have the judge asked what is open."""
    return ask_judges(
        run, choose([TASK], ScoringChoices()), options(url, model, **more), Terminal(quiet=True)
    )


def test_a_score_is_what_the_judge_said(run: Path, judge: MockProcess) -> None:
    """It is pending until a judge is asked, and where it fails; `--reparse` asks no judge."""
    score_run(run, ScoringChoices(processes=1))
    assert scores(run, 1) == [(None, "judge_pending", "no judge has been asked")] * 5
    score_run(run, options(judge.url))
    unread = "the judge said none of A, B and C, which counts as not attempted"
    assert scores(run, 2) == [
        (1.0, "scored", None),
        (0.0, "scored", "incorrect"),
        (0.0, "scored", "not_attempted"),
        (0.0, "unparsed", unread),
        (None, "judge_pending", "the judge failed: http_400"),
    ]
    (score,) = MetricsReporter(run).create_report().accuracy
    assert score.judge_model == "judge-1"
    assert f"judged by judge-1 ({score.judge})" in score.notes
    assert (score.judge_unparsed, score.value, score.value_without_unparsed) == (1, 0.2, 0.25)
    both = (
        "in 1 of 5 samples a reply of the judge could not be parsed: the score is 0.2000 with them and 0.2500"
    )
    assert any(note.startswith(both) for note in score.notes)
    report = MetricsReporter(run).create_report()
    shown = " ".join(console.render(report, width=200).split())
    page = page_of_run.render(report)
    assert both in shown
    assert both in page
    assert orjson.loads(json_report.render(report))["accuracy"][0]["value_without_unparsed"] == 0.25
    before = asked(run)
    score_run(run, options(judge.url, reparse=True))
    assert scores(run, 3) == scores(run, 2)
    assert asked(run) == before
    assert [value for value, *_ in scores(run, 1)] == [None] * 5


@pytest.mark.slow
def test_a_pass_without_a_judge_is_not_resumed_after_one_with_answers(run: Path, judge: MockProcess) -> None:
    """What was pending in the half of it that is there would stay so."""
    score_run(run, options(judge.url, key="sk-wrong-key-987654"))
    with closing(sqlite3.connect(run / "events.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE code = 10")
    assert score_run(run, options(judge.url)).number == 2
    assert [status for _, status, _ in scores(run, 2)].count("judge_pending") == 1
    with closing(sqlite3.connect(run / "events.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE code = 10 AND data ->> 'pass' = 2")
    assert score_run(run, options(judge.url, reparse=True)).number == 2


@pytest.mark.slow
def test_only_what_is_open_is_asked(run: Path, judge: MockProcess) -> None:
    """The same judge is asked again about what it failed at, and another one about everything."""
    assert ask(run, judge.url) == Judging(judge.url, "judge-1", 5, 4, {"http_400": 1})
    assert ask(run, judge.url) == Judging(judge.url, "judge-1", 1, 0, {"http_400": 1})
    completed, failed = ("judge-1", "completed", None), ("judge-1", "failed", "http_400")
    assert sorted(asked(run), key=str) == [completed] * 4 + [failed] * 2
    assert ask(run, judge.url, "judge-2") == Judging(judge.url, "judge-2", 5, 4, {"http_400": 1})
    assert [model for model, *_ in asked(run)].count("judge-2") == 5


def sampled(run: Path) -> list[tuple[str, float | None, int | None]]:
    """How each request to a judge was sampled."""
    with remembered_log(run, ["judge_calls"]) as connection:
        query = "SELECT sampling, temperature, max_tokens FROM judge_calls ORDER BY issued_ns, sample_uuid"
        return connection.execute(query).fetchall()


@pytest.mark.slow
def test_the_judge_is_sampled_as_its_options_say(run: Path, judge: MockProcess) -> None:
    """In place of what the prompts say; the log has both, and a judge with other options is asked again."""
    score_run(run, options(judge.url))
    assert sampled(run) == [("", 0.0, 2048)] * 5
    warm = JudgeEndpoint(judge.url, "judge-1", 2, 60.0, KEY, temperature=0.7, max_tokens=64)
    asking = ScoringChoices(judge=warm, processes=1)
    score_run(run, asking)
    assert sampled(run)[5:] == [("temperature=0.7,max_tokens=64", 0.7, 64)] * 5
    score_run(run, asking)
    assert len(asked(run)) == 11, "only the call that failed is made again"
    with remembered_log(run, ["passes"]) as connection:
        rows = connection.execute("SELECT options ->> '$.judge' FROM passes ORDER BY pass").fetchall()
    asked_as = {"url": judge.url, "model": "judge-1"}
    assert [orjson.loads(stored) for (stored,) in rows[:2]] == [
        asked_as,
        {**asked_as, "temperature": 0.7, "max_tokens": 64},
    ]


def test_the_limit_of_a_reasoning_judge_is_replaced_where_its_prompts_set_it() -> None:
    """Those take no `max_tokens`."""
    inquiry = Inquiry("verdict", (), extra_body={"max_completion_tokens": 4096})
    plain = Sampling().generation("judge", inquiry)
    assert (plain.max_tokens, dict(plain.extra_body)) == (None, {"max_completion_tokens": 4096})
    changed = Sampling(1.0, 9000).generation("judge", inquiry)
    assert (changed.max_tokens, dict(changed.extra_body)) == (None, {"max_completion_tokens": 9000})
    assert changed.temperature == 1.0


@pytest.mark.slow
def test_a_judges_reply_is_stored_with_the_score(tmp_path: Path) -> None:
    """The whole reply where it cannot be parsed; what it extracted and why where it can."""
    run = recorded(tmp_path / "run", "gaia", "judge_fallback")
    reply = {"extracted_final_answer": "0", "reasoning": "as asked", "correct": "yes"}
    script = tmp_path / "replies.jsonl"
    lines = [{"match": "answer 0", "reply": orjson.dumps(reply).decode()}, {"reply": "perhaps"}]
    script.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with start_mock(ttft="1ms", itl="0", replies=script) as judge:
        score_run(run, options(judge.url))
    with remembered_log(run, ["scores"]) as connection:
        query = "SELECT status, map_entries(details) FROM scores ORDER BY prompt_id LIMIT 2"
        first, second = connection.execute(query).fetchall()
    assert (first[0], {item["key"]: item["value"] for item in first[1]}) == ("scored", reply)
    assert (second[0], second[1]) == ("infra_error", [{"key": "judge_reply", "value": "perhaps"}])


@pytest.mark.slow
def test_an_unreadable_verdict_is_asked_again(run: Path, tmp_path: Path) -> None:
    """A judge of FRAMES that does not decide is asked again in each pass that has it, until it does."""
    chosen = [Chosen(TASK, workload("frames").scorers[0], official=True)]
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b'{"match": "answer 0", "reply": "Decision: TRUE"}\n{"reply": "Decision: perhaps"}')
    with start_mock(ttft="1ms", itl="0", replies=script) as unsure:
        first = ask_judges(run, chosen, options(unsure.url))
        again = ask_judges(run, chosen, options(unsure.url))
    assert first == Judging(unsure.url, "judge-1", 5, 5)
    assert again == Judging(unsure.url, "judge-1", 4, 4)


def test_calls_are_not_part_of_the_measurement(run: Path, judge: MockProcess) -> None:
    """They are requests of a separate segment: the run has as many requests and segments as it had."""
    ask(run, judge.url)
    with remembered_log(run, ["events"]) as connection:
        (measured,) = connection.execute("SELECT count(*) FROM samples").fetchone() or (None,)
        (segments,) = connection.execute("SELECT count(*) FROM segments").fetchone() or (None,)
        phases = connection.execute(
            "SELECT DISTINCT data ->> '$.phase' FROM events WHERE type = 'LOADGEN_ISSUE_CALLED' ORDER BY ALL"
        ).fetchall()
    assert (measured, segments, phases) == (5, 1, [("judge",), ("performance",)])
    kinds = {name: EventType[name] for name in EventType.__members__}
    events = [Event(kinds[row["type"]], row["at_ns"], row["sample_uuid"] or None) for row in rows(run)]
    assert violations(events) == []


def test_a_call_says_what_it_is_about_and_keeps_the_prompt(run: Path, judge: MockProcess) -> None:
    """Its issue names the answer, the scorer, the inquiry, the prompts' version and the model."""
    ask(run, judge.url)
    issued = [row for row in rows(run) if row["type"] == "LOADGEN_ISSUE_CALLED" and '"judge"' in row["data"]]
    data = orjson.loads(issued[0]["data"])
    assert data["judges"] == "0" * 32
    assert (data["scorer"], data["inquiry"], data["model"]) == ("simpleqa/official", "verdict", "judge-1")
    assert data["judge_version"].startswith("simpleqa@1")
    system, user = orjson.loads(issued[0]["texts"])["messages"]
    assert (system["role"], user["role"]) == ("system", "user")
    assert "Question: question 0?\nGold target: gold 0\nPredicted answer: answer 0\n" in user["content"]


def test_the_key_of_the_judge_is_nowhere_in_the_run(run: Path, judge: MockProcess) -> None:
    """Not even where the judge itself repeats it."""
    ask(run, judge.url)
    stored = b"".join(path.read_bytes() for path in run.iterdir())
    assert KEY.encode() not in stored
    assert b"not with ***" in stored


def test_a_judge_that_is_not_there_is_asked_once(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No process listens: one call shows it, the others are not made, and the user sees a message."""
    ask(run, "http://127.0.0.1:9")
    assert asked(run) == [("judge-1", "failed", "refused")]
    reply = capsys.readouterr().err
    assert "5 of 5 inquiries to the judge judge-1 are not answered (refused 1)" in reply
    assert "the judge was given up (http://127.0.0.1:9/v1: refused)" in reply


def test_a_judge_that_turns_the_key_down_is_asked_once(run: Path, judge: MockProcess) -> None:
    """A wrong key is wrong for all calls."""
    ask(run, judge.url, key="sk-wrong-key-987654")
    assert asked(run) == [("judge-1", "failed", "http_401")]


@pytest.mark.parametrize(
    ("url", "key", "reply"),
    [
        ("http://me:pw@judge", None, "--judge-url: leave user and password out"),
        ("ftp://judge", None, "--judge-url ftp://judge: the scheme is 'ftp'"),
        ("http://judge", "smörgåsbord", "--judge-api-key: the value has a character"),
    ],
)
def test_unusable_judge_options_are_the_users_mistake(
    run: Path, url: str, key: str | None, reply: str
) -> None:
    """The message names the judge's own options, and no secret."""
    with pytest.raises(UsageError, match=reply) as error:
        ask(run, url, key=key)
    assert "pw" not in str(error.value)


def test_who_asks_to_stop_keeps_what_was_answered(judge: MockProcess) -> None:
    """No further call is made."""
    stop, events = Stop(), list[Event]()
    tally = asyncio.run(_asked(judge, events, stop, lambda _: stop.ask()))
    assert (tally.answered, tally.gave_up) == (1, "")
    assert [event.type for event in events].count(EventType.LOADGEN_ISSUE_CALLED) == 1


def test_a_second_interrupt_abandons_calls_in_flight(tmp_path: Path) -> None:
    """A judge that does not answer is not waited for."""
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b'{"match": "first", "reply": "A"}\n{"reply": "A", "ttft": "60s"}')
    events: list[Event] = []
    with start_mock(ttft="1ms", itl="0", replies=script) as slow:
        stop = Stop()

        def emit_until_sent(event: Event) -> None:
            events.append(event)
            if [emitted.type for emitted in events].count(EventType.REQUEST_SENT) == 3:
                stop.ask()
                stop.ask()

        tally = asyncio.run(_asked(slow, events, stop, lambda _: None, emit=emit_until_sent))
    assert (tally.answered, tally.failed.total()) == (1, 0)
    assert [event.type for event in events].count(EventType.CANCELLED) == 2


def test_no_more_calls_are_in_flight_than_the_judge_allows(judge: MockProcess) -> None:
    """Five calls of two at a time: between issue and end there are never more than two."""
    events: list[Event] = []
    tally = asyncio.run(_asked(judge, events, Stop(), lambda _: None))
    in_flight, highest = 0, 0
    for event in events:
        in_flight += (event.type is EventType.LOADGEN_ISSUE_CALLED) - (event.type is EventType.COMPLETE)
        highest = max(highest, in_flight)
    assert (tally.answered, highest) == (5, 2)


def test_a_judge_that_keeps_failing_is_given_up(tmp_path: Path) -> None:
    """Twenty failures in a row are enough; the calls after them are not made."""
    script = tmp_path / "replies.jsonl"
    script.write_bytes(b'{"match": "first", "reply": "A"}\n{"status": 422, "error": "no"}')
    events: list[Event] = []
    with start_mock(ttft="1ms", itl="0", replies=script) as broken:
        tally = asyncio.run(_asked(broken, events, Stop(), lambda _: None, number=100))
    assert (tally.answered, tally.gave_up) == (1, f"{broken.url}: http_422")
    assert 20 <= tally.failed["http_422"] <= 21


async def _asked(
    server: MockProcess,
    events: list[Event],
    stop: Stop,
    on_done: Any,
    *,
    emit: Any = None,
    number: int = 5,
) -> Tally:
    transport = HttpTransport(
        endpoint(server.url, {"Authorization": f"Bearer {KEY}"}), Timeouts(timeout_s=60)
    )
    client = JudgeClient(transport, "judge", emit or events.append, timeout_s=60, concurrency=2)
    words = ["the first", *["another"] * (number - 1)]
    calls = (
        JudgeCall(
            f"{place:032x}",
            "task/scorer",
            "judge@1",
            Inquiry("verdict", ({"role": "user", "content": f"{word}\nPredicted answer: answer 0\n"},)),
        )
        for place, word in enumerate(words)
    )
    try:
        return await client.ask(calls, stop, on_done)
    finally:
        await transport.close()
