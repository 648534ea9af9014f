"""Scores of two runs that asked the same questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reporter.accuracy.questions import by_question
from reporter.compare import paired as compared
from reporter.compare.figure import Figure
from reporter.compare.figure import figure as figure_of
from reporter.compare.metric import metric
from reporter.measured import measured
from rulesets.definitions import Definitions
from rulesets.statistics import paired

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.reporter.accuracy.conftest import Benchmark


def score_of(values: Sequence[float], first: int = 0) -> Figure:
    """A score, and the value of each question, which are numbered."""
    questions = {f"q{number}": float(value) for number, value in enumerate(values, start=first)}
    return Figure(sum(values) / len(values), len(values), questions=questions)


def test_right_or_wrong_it_is_mcnemars() -> None:
    """Whatever the order of the questions; the difference is a share of the reference's score."""
    before, after = [1, 1, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1]
    found = compared.difference(score_of(before), score_of(after), level=0.95, level_to_find=0.95)
    assert found is not None
    assert found.by == pytest.approx(-3 / 6)
    assert found.p == paired.mcnemar(4, 1)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.by < found.high
    mirrored = compared.difference(score_of(after), score_of(before), level=0.95, level_to_find=0.95)
    assert mirrored is not None
    assert mirrored.p == found.p


def test_parts_of_answers_are_compared_by_their_mean_difference() -> None:
    """Pairs that all differ alike leave no doubt, and pairs that do not differ no difference."""
    before = [0.5, 0.25, 1.0, 0.75]
    alike = compared.difference(score_of(before), score_of(before), level=0.95, level_to_find=0.95)
    assert alike is not None
    assert (alike.by, alike.p) == (0, 1)
    more = compared.difference(
        score_of(before), score_of([0.625, 0.5, 1.0, 0.75]), level=0.95, level_to_find=0.95
    )
    assert more is not None
    assert more.p is not None
    assert 0.05 < more.p < 0.5


@pytest.mark.parametrize("other", [score_of([1, 0, 1]), score_of([1, 0], first=1), Figure(0.5, 2)])
def test_other_questions_are_no_pairs(other: Figure) -> None:
    """More of them, others, or nobody knows which."""
    assert compared.difference(score_of([1, 0]), other, level=0.95, level_to_find=0.95) is None


def test_a_log_has_its_questions(asks: Callable[..., Benchmark]) -> None:
    """Of the whole score; not of a part, of another figure, or where one was asked more often."""
    run = asks(questions=3).answers(0).answers(1).answers(2).scored(1, 0, 1)
    with measured(run.write(), Definitions()) as (report, evidence):
        assert evidence.by_question("gsm8k") == {"question 0": 1, "question 1": 0, "question 2": 1}
        assert by_question(evidence.connection, report.accuracy, "gsm8k.truncated") is None
        assert by_question(evidence.connection, report.accuracy, "mmlu") is None
        found = figure_of(evidence, metric("accuracy.gsm8k"), 0.95)
        assert found is not None
        assert found.questions == evidence.by_question("gsm8k")
