"""The scores while a run goes on."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.scoring import running_score
from loadgen.sessions.scoring.running_score import AnswerScorer, RunningScore, plain_scorers
from recorder.store import log_path

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
