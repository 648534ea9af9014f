"""The scores while a run goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.scoring import running_score
from loadgen.sessions.scoring.running_score import RunningScore
from loadgen.sessions.scoring.score_reader import AnswerScorer, plain_scorers
from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store, log_path

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Path]

TASK = {"task": "gsm8k", "name": "gsm8k", "version": 1, "first": 0, "count": 3}


@pytest.mark.slow
def test_answers_are_scored_as_they_come(new_run: NewRun) -> None:
    """Each once, and those that come later in a later look; the log gets nothing of it."""
    run = new_run(["#### 1", "#### 2", "#### 1"], accuracy={"tasks": [TASK]})
    size = len(log_path(run).read_bytes())
    scorer = AnswerScorer(log_path(run))
    assert scorer.look() == {"gsm8k": (3, pytest.approx(2 / 3))}
    assert scorer.look() == {"gsm8k": (3, pytest.approx(2 / 3))}
    scorer.close()
    assert len(log_path(run).read_bytes()) == size


@pytest.mark.slow
def test_an_episode_is_scored_at_its_end(tmp_path: Path) -> None:
    """Not by its turns so far, and not again by a later look."""
    start_ns = time.monotonic_ns() - 1_000_000_000
    settings = {"model": "m", "load": {"kind": "closed", "concurrency": 1}, "accuracy": {"tasks": [TASK]}}
    store = Store.create(log_path(tmp_path), Session("s", start_ns, time.time_ns(), settings))
    reference = {"task": "gsm8k", "tags": {}, "texts": {"reference": {"answer": "1"}}}
    of_episode = {"conversation": "c", "phase": "performance", "prompt_id": 0}
    issued = {**of_episode, "turn": 0, "episode": True, "scheduled_ns": start_ns}
    ended = {**of_episode, "started_ns": start_ns, "duration_ns": 9, "ending": "completed", "reward": None}
    answer = {"messages": [{"role": "assistant", "content": "#### 1"}], "details": {}}
    events = [
        Event(EventType.TEST_STARTED, start_ns),
        *(
            Event(EventType.QUESTION, start_ns, None, {**reference, "prompt_id": number, "id": str(number)})
            for number in range(3)
        ),
        Event(EventType.LOADGEN_ISSUE_CALLED, start_ns, "a", {**issued, "texts": {"messages": []}}),
        Event(EventType.REQUEST_SENT, start_ns, "a"),
        Event(EventType.COMPLETE, start_ns + 1, "a", {"status": 200, "texts": {"output": "Let me see."}}),
    ]
    store.append([schema.row(event) for event in events])
    scorer = AnswerScorer(log_path(tmp_path))
    assert scorer.look() == {"gsm8k": (0, 0.0)}
    store.append([schema.row(Event(EventType.EPISODE_ENDED, start_ns + 9, data={**ended, "texts": answer}))])
    assert scorer.look() == scorer.look() == {"gsm8k": (1, 1.0)}
    scorer.close()
    store.close()


@pytest.mark.slow
def test_a_reader_of_the_scores(new_run: NewRun) -> None:
    """What it shows comes from a process, which ends with it."""
    run = new_run(["#### 1", "#### 2"], accuracy={"tasks": [TASK]})
    with RunningScore(log_path(run)) as score:
        until_s = time.monotonic() + 60
        while not score.text and time.monotonic() < until_s:
            time.sleep(0.05)
        assert score.text == "gsm8k 0.500 of 2"
        assert score.lines(80) == [("accuracy     gsm8k 0.500 of 2 so far",)]
        assert score.lines(20) == [("accuracy     gsm8k ",)]
    with RunningScore(None) as none:
        assert (none.text, none.lines(80)) == ("", [])


def test_a_run_without_a_benchmark_has_no_score(new_run: NewRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is started for it."""
    monkeypatch.setattr(running_score, "_started", lambda log: pytest.fail(f"started for {log}"))
    with RunningScore(log_path(new_run(["#### 1"], accuracy={}))) as none:
        assert none.text == ""


def test_judges_and_programs_are_left_to_the_scoring_pass(new_run: NewRun) -> None:
    """A look must cost little, and do no harm."""
    tasks = [{**TASK, "task": name, "name": name} for name in ("simpleqa", "humaneval", "gsm8k")]
    run = new_run(["#### 1"], accuracy={"tasks": tasks})
    assert [chosen.task for chosen in plain_scorers(log_path(run))] == ["gsm8k"]
