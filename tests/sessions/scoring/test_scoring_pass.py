"""A scoring pass: reproducible, appended, resumed, and refused with a reason."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from recorder.errors import BeingWrittenError, NotALogError, OldLogError
from recorder.lock import Hold
from tests.processes import is_gone
from tests.remembered_logs import query
from workloads.errors import TaskError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Path]

QUIET = ScoringChoices()
ANSWERS = ["#### 1", "#### 2", "one", ""]
SCORES = [(1.0, "scored", "1"), (0.0, "scored", "2"), (0.0, "unparsed", None), (0.0, "unparsed", None)]


def scores(run: Path, number: int = 1) -> list[tuple[Any, ...]]:
    """What a pass has, in the order of the questions."""
    answer = query(run, "SELECT pass, value, status, extracted FROM scores ORDER BY prompt_id")
    return [row[1:] for row in answer.rows if row[0] == number]


def events_by_pass(run: Path) -> list[tuple[int, int]]:
    """How many events each scored request has in each pass."""
    sql = "SELECT sample_uuid, count(*) FROM events WHERE code = 30 GROUP BY sample_uuid, data ->> 'pass'"
    with closing(sqlite3.connect(run / "events.db")) as connection:
        return connection.execute(sql).fetchall()


def test_a_pass_scores_every_answer(new_run: NewRun) -> None:
    """By the official definition, from the log alone; the log says what was done."""
    run = new_run(ANSWERS)
    scoring = score_run(run, QUIET)
    assert (scoring.number, scoring.graded, scoring.graded_before) == (1, {"scored": 2, "unparsed": 2}, 0)
    assert scores(run) == SCORES
    rows = query(run, "SELECT pass, task, scorer, ended FROM passes").rows
    assert rows == [(1, "gsm8k", "official", "completed")]
    assert sorted(path.name for path in run.iterdir()) == ["events.db"]


@pytest.mark.slow
def test_a_further_pass_overwrites_nothing(new_run: NewRun, graders: Path, monkeypatch: Any) -> None:
    """It has the next number, and may have more scorers; the scores do not depend on the pass."""
    monkeypatch.chdir(graders)
    run = new_run(ANSWERS * 10)
    assert score_run(run, QUIET).number == 1
    options = ScoringChoices(processes=1, evals=("pool_graders:does",))
    assert score_run(run, options).number == 2
    answer = query(run, "SELECT pass, scorer, value, status, extracted FROM scores ORDER BY ALL").rows
    assert [row[1:] for row in answer if row[0] == 1] == [
        row[1:] for row in answer if row[:2] == (2, "official")
    ]
    assert sum(row[1] == "pool_graders:does" for row in answer) == 40
    assert len({row[0] for row in answer}) == 2


@pytest.mark.slow
def test_an_unfinished_pass_is_not_resumed_after_a_later_one(new_run: NewRun) -> None:
    """A report would use the later one in any case."""
    run = new_run(ANSWERS)
    assert score_run(run, QUIET).number == 1
    with closing(sqlite3.connect(run / "events.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE code = 10")
    patient = ScoringChoices(grader_timeout_s=99.0)
    assert [score_run(run, options).number for options in (QUIET, patient)] == [1, 2]
    with closing(sqlite3.connect(run / "events.db")) as connection, connection:
        connection.execute("DELETE FROM events WHERE code = 10 AND data ->> 'pass' = 1")
    assert score_run(run, QUIET).number == 3


@pytest.mark.slow
def test_a_scored_run_says_what_it_was_scored_by(new_run: NewRun) -> None:
    """What the run was started with is what it is scored by, until something else is asked for."""
    run = new_run(["1"], accuracy={"scorers": {"gsm8k": "official"}, "evals": []})
    score_run(run, QUIET)
    scorers = "SELECT scorer FROM passes"
    assert query(run, scorers).rows == [("official",)]
    with pytest.raises(TaskError, match="did you mean 'official'"):
        score_run(run, ScoringChoices(scorers=("oficial",)))
    with pytest.raises(TaskError, match="no such task in the run: 'mmlu'"):
        score_run(run, ScoringChoices(scorers=("mmlu=official",)))


def test_a_run_that_is_being_written_is_refused(new_run: NewRun) -> None:
    """The writing process holds the log; nothing is appended."""
    run = new_run(ANSWERS)
    size = (run / "events.db").stat().st_size
    hold = Hold(run)
    try:
        with pytest.raises(BeingWrittenError, match="still running"):
            score_run(run, QUIET)
    finally:
        hold.release()
    assert (run / "events.db").stat().st_size == size


def test_a_log_that_cannot_be_scored_is_refused(new_run: NewRun, tmp_path: Path) -> None:
    """One without questions, of an older format, or none at all; the message says what to do."""
    run = new_run([])
    with pytest.raises(UsageError, match="asked no questions of a benchmark"):
        score_run(run, QUIET)
    with closing(sqlite3.connect(run / "events.db")) as connection:
        connection.execute("PRAGMA user_version = 1")
    with pytest.raises(OldLogError, match="log format 1"):
        score_run(run, QUIET)
    with pytest.raises(NotALogError, match="no run folder has this name"):
        score_run(tmp_path / "nothing", QUIET)


def start_scoring(run: Path, folder: Path) -> subprocess.Popen[bytes]:
    """The program, in a separate process, whose grader waits at one answer."""
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "loadgen",
            "score",
            str(run),
            "--eval",
            "pool_graders:waits",
            "--processes",
            "1",
        ],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )


@pytest.mark.slow
@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_a_pass_that_ended_early_is_resumed(
    new_run: NewRun, graders: Path, monkeypatch: Any, ending: signal.Signals
) -> None:
    """Interrupted or killed at any moment: the same pass continues, and nothing is scored twice."""
    run = new_run(["#### 1"] * 10 + ["waits"] + ["#### 1"] * 10)
    (graders / "go-on").unlink(missing_ok=True)
    program = start_scoring(run, graders)
    while program.poll() is None and sum(count for _, count in events_by_pass(run)) < 20:
        time.sleep(0.02)
    assert program.poll() is None
    program.send_signal(ending)
    _, stderr = program.communicate(timeout=120)
    assert b"Traceback" not in stderr
    interrupted = ending is signal.SIGINT
    assert program.returncode == (130 if interrupted else -ending)
    ended = "interrupted" if interrupted else "cut_off"
    assert query(run, "SELECT DISTINCT ended FROM passes").rows == [(ended,)]
    while not is_gone(int((graders / "pid").read_text())):
        time.sleep(0.02)
    monkeypatch.chdir(graders)
    (graders / "go-on").touch()
    scoring = score_run(run, ScoringChoices(evals=("pool_graders:waits",)))
    assert scoring.number == 1
    assert scoring.graded_before >= 20
    assert sum(scoring.graded.values()) == 42 - scoring.graded_before
    assert query(run, "SELECT count(*), sum(value) FROM scores").rows == [(42, 41.0)]
    assert {count for _, count in events_by_pass(run)} == {2}
    assert query(run, "SELECT DISTINCT ended FROM passes").rows == [("completed",)]
