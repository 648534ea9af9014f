"""Graders may do anything: each ends its own answer, and no other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.cli.terminal.progress_lines import scoring_line
from loadgen.sessions.scoring.grading_work import LONGEST, checked, scored_payload
from loadgen.sessions.scoring.scoring_pass import score_run
from loadgen.sessions.settings.scoring_choices import ScoringChoices
from tests.remembered_logs import query
from workloads.errors import EvalError
from workloads.score import Score, Status, graded, unparsed

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    NewRun = Callable[..., Path]

REASONS = {
    "hangs": "the grader took more than 2 s",
    "dies": "the grader's process ended: killed by SIGKILL",
    "leaves": "SystemExit",
    "eats": "MemoryError",
    "raises": "ValueError: not like this",
    "text": "returned '1.0'",
    "nan": "returned nan",
    "interrupts": "KeyboardInterrupt",
    "disturbs": "the grader disturbed its process",
}


@pytest.mark.slow
def test_a_failing_grader_spoils_only_its_own_answer(
    new_run: NewRun, graders: Path, monkeypatch: Any, capfd: pytest.CaptureFixture[str]
) -> None:
    """One that hangs, dies, eats memory, raises, or returns no number: no value and a reason; never 0."""
    monkeypatch.chdir(graders)
    run = new_run(
        [part for bad in REASONS for part in ("fine", bad, "wrong")] + ["prints"],
        ["fine"] * (3 * len(REASONS) + 1),
    )
    options = ScoringChoices(
        evals=("pool_graders:does",),
        grader_timeout_s=2.0,
        grader_memory=1 << 31,
        processes=2,
    )
    scoring = score_run(run, options)
    assert scoring.graded["infra_error"] == len(REASONS)
    rows = query(
        run,
        "SELECT value, status, reason FROM scores WHERE scorer <> 'official' ORDER BY prompt_id",
    ).rows
    for place, reason in enumerate(REASONS.values()):
        before, bad, after = rows[3 * place : 3 * place + 3]
        assert (before[0], after[0]) == (1.0, 0.0)
        assert bad[:2] == (None, "infra_error")
        assert reason in bad[2]
    out, err = capfd.readouterr()
    assert out == ""
    assert "a grader says something" in err


@pytest.mark.slow
def test_a_process_that_a_grader_forks_returns_no_score(
    new_run: NewRun, graders: Path, monkeypatch: Any
) -> None:
    """Its result is discarded; each answer has exactly one score."""
    monkeypatch.chdir(graders)
    run = new_run(["forks", "fine", "wrong"], ["forks", "fine", "fine"])
    score_run(run, ScoringChoices(evals=("pool_graders:does",), processes=1))
    rows = query(run, "SELECT value FROM scores WHERE scorer <> 'official' ORDER BY prompt_id").rows
    assert rows == [(1.0,), (1.0,), (0.0,)]


def test_an_eval_function_that_cannot_be_loaded_ends_before_scoring(
    new_run: NewRun, graders: Path, monkeypatch: Any
) -> None:
    """An unknown eval function is the user's mistake; the log has no pass of it."""
    monkeypatch.chdir(graders)
    run = new_run(["1"])
    with pytest.raises(EvalError, match="has no function 'dose'; did you mean 'does'"):
        score_run(run, ScoringChoices(evals=("pool_graders:dose",)))
    assert query(run, "SELECT count(*) FROM passes").rows == [(0,)]


@pytest.mark.parametrize(
    ("score", "why"),
    [
        (Score(None), "scored with the value None"),
        (Score(1.0, Status.INFRA_ERROR), "infra_error with the value 1.0"),
        (Score(1.0, "fine"), "where a score should be"),  # type: ignore[arg-type]
        (graded(float("inf")), "value inf"),
        (graded(1.0, kept=float("nan")), "kept nan"),
        (Score("1", Status.SCORED), "value '1'"),  # type: ignore[arg-type]
        (1.0, "returned 1.0"),
    ],
)
def test_an_invalid_score_is_an_error_of_the_grader(score: Any, why: str) -> None:
    """A grader's result is checked before it is stored."""
    score_ = checked(score)
    assert (score_.value, score_.status) == (None, Status.INFRA_ERROR)
    assert why in score_.reason


def test_a_payload_has_no_empty_values() -> None:
    """Of a long text it has the beginning; half a character does not lose a score."""
    assert scored_payload(3, "s", unparsed("no letter")) == {
        "pass": 3,
        "scorer": "s",
        "value": 0.0,
        "status": "unparsed",
        "reason": "no letter",
    }
    payload = scored_payload(1, "s", graded(value=True, extracted="x" * 5000, reason="\ud83d", kept=1))
    assert payload["value"] == 1.0
    assert payload["extracted"] == "x" * LONGEST + "…"
    assert payload["reason"] == "?"
    assert payload["metrics"] == {"kept": 1.0}


def test_the_progress_is_one_line() -> None:
    """How far, the accuracy so far, how fast, and what has no value."""
    shown = scoring_line(200, 50, 40, {"scored": 30, "infra_error": 2}, 0.75, 4.0)
    assert (
        shown
        == f"scoring     {'█' * 6}{'░' * 18}  25 %  50 of 200  mean score 0.750  10/s  2 infra errors  4 s"
    )
