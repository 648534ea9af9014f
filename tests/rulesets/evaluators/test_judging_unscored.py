"""Scores of which some samples are not known: never a PASS."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.demands import AuditDemand
from rulesets.evaluation import evaluate
from rulesets.evidence import Accuracy
from rulesets.ruleset import of_expressions
from tests.rulesets.test_score_names import accuracy_item

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.evaluators.rule_row import VerdictRow

JUDGE = "have it judged"


def row_of(expression: str, run: Any) -> VerdictRow:
    """The outcome of one rule."""
    (row,) = evaluate(of_expressions([expression]), run).rows
    return row


@pytest.mark.parametrize(
    ("expression", "value", "best", "status"),
    [
        ("accuracy.hle>=0.5", 0.9, 0.95, "INCONCLUSIVE"),
        ("accuracy.hle>=0.93", 0.9, 0.95, "INCONCLUSIVE"),
        ("accuracy.hle>=0.96", 0.9, 0.95, "FAIL"),
        ("accuracy.hle>=0.5", 0.9, None, "INCONCLUSIVE"),
        ("accuracy.hle>=0.5", None, None, "INCONCLUSIVE"),
        ("accuracy.hle<=0.3", 0.9, 0.2, "INCONCLUSIVE"),
        ("accuracy.hle<=0.1", 0.9, 0.2, "FAIL"),
        ("accuracy.hle<=0.92", 0.9, 0.95, "INCONCLUSIVE"),
        ("accuracy.hle<=0.8", 0.9, 0.95, "FAIL"),
        ("accuracy.hle<=0.5", None, 0.95, "INCONCLUSIVE"),
        ("accuracy.hle>=0.5@lcl95-wilson", 0.9, 0.95, "INCONCLUSIVE"),
    ],
)
def test_what_was_not_judged_is_not_met(
    expression: str, value: float | None, best: float | None, status: str, make_run: Callable[..., Any]
) -> None:
    """It fails where it would whatever these answers are, and is inconclusive otherwise."""
    score = Accuracy(value, 100, 0.01, unscored=5 if value else 100, best=best, remedy=JUDGE)
    row = row_of(expression, make_run(scores={"hle": score}))
    assert row.status == status
    assert row.n == 100
    assert "100 answers ha" in row.reason
    assert row.remedy == (JUDGE if status == "INCONCLUSIVE" else "")


def test_a_score_without_a_value_was_not_measured(make_run: Callable[..., Any]) -> None:
    """0 / 0 meets nothing."""
    row = row_of("accuracy.hle>=0.5", make_run(scores={"hle": Accuracy(None, 100)}))
    assert (row.status, row.observed) == ("FAIL", None)


@pytest.mark.parametrize(
    ("effective", "status"), [(None, "PASS"), (1000, "PASS"), (20, "INCONCLUSIVE"), (0, "INCONCLUSIVE")]
)
def test_repeated_questions_do_not_make_a_score_sure(
    effective: int | None, status: str, make_run: Callable[..., Any]
) -> None:
    """Wilson's limit is of the effective number of samples; no other figure has one."""
    score = Accuracy(0.9, 1000, 0.05, effective)
    row = row_of("accuracy.x>=0.87@lcl95-wilson", make_run(scores={"x": score}))
    assert row.status == status
    assert (row.limit is None) == (effective == 0)


@pytest.mark.parametrize(
    ("least", "unscored", "status"), [(0.4, 0, "PASS"), (0.6, 0, "FAIL"), (0.4, 1, "FAIL")]
)
def test_answers_under_load_are_those_of_the_run_itself(
    least: float, unscored: int, status: str, make_run: Callable[..., Any]
) -> None:
    """The audit of accuracy in performance mode takes its own score, where all answers have one."""
    run = make_run()
    run.report["accuracy"] = [accuracy_item(unscored=unscored)]
    audit = AuditDemand("perf_mode_accuracy", {"metric": "ifeval", "min": least})
    rules = replace(of_expressions(["completed>0"]), targets=(), audits=(audit,))
    (row,) = evaluate(rules, run).rows
    assert row.status == status
