"""Scores of two runs that asked the same questions."""

from __future__ import annotations

import json
from random import Random
from typing import TYPE_CHECKING

import pytest
from typer.testing import CliRunner

from loadgen.cli.typer_application import application
from reporter.accuracy.question_scores import by_question
from reporter.compare import paired_scores as by_pairs
from reporter.compare.comparable import facts, unlike
from reporter.compare.compared_figure import ComparedFigure
from reporter.compare.compared_figure import figure as figure_of
from reporter.compare.compared_metric import metric
from reporter.measured_run import measured
from rulesets.definitions import Definitions
from rulesets.statistics import paired

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from reporter.compare.compared_figure import FigureDifference
    from tests.reporter.accuracy.conftest import Benchmark


def score_of(values: Sequence[float], first: int = 0) -> ComparedFigure:
    """A score, and the value of each question, which are numbered."""
    questions = {f"q{number}": float(value) for number, value in enumerate(values, start=first)}
    return ComparedFigure(sum(values) / len(values), len(values), is_share=True, questions=questions)


def compared(before: ComparedFigure, after: ComparedFigure) -> FigureDifference | None:
    """The difference of two scores that are shares."""
    return by_pairs.difference(before, after, in_points=True, level=0.95, level_to_find=0.95)


def test_right_or_wrong_it_is_mcnemars() -> None:
    """Whatever the order of the questions; the difference is in points."""
    before, after = [1, 1, 1, 1, 0, 0, 1, 1], [0, 0, 0, 0, 0, 1, 1, 1]
    change = compared(score_of(before), score_of(after))
    assert change is not None
    assert change.by == pytest.approx(-3 / 8)
    assert change.p == paired.mcnemar(4, 1)
    assert change.low is not None
    assert change.high is not None
    assert change.low < change.by < change.high
    mirrored = compared(score_of(after), score_of(before))
    assert mirrored is not None
    assert mirrored.p == change.p


def test_parts_of_answers_are_compared_by_their_mean_difference() -> None:
    """Pairs that all differ alike leave no doubt, and pairs that do not differ no difference."""
    before = [0.5, 0.25, 1.0, 0.75]
    alike = compared(score_of(before), score_of(before))
    assert alike is not None
    assert (alike.by, alike.p) == (0, 1)
    more = compared(score_of(before), score_of([0.625, 0.5, 1.0, 0.75]))
    assert more is not None
    assert more.p is not None
    assert 0.05 < more.p < 0.5


@pytest.mark.parametrize(
    "other", [score_of([1, 0], first=2), score_of([1, 0], first=1), ComparedFigure(0.5, 2)]
)
def test_other_questions_are_not_pairs(other: ComparedFigure) -> None:
    """Other questions, only one in common, or unknown ones."""
    assert compared(score_of([1, 0]), other) is None


def test_questions_that_both_were_asked_are_pairs() -> None:
    """However many more one of the runs asked; the change has the number of pairs."""
    change = compared(score_of([1, 1, 0, 1]), score_of([0, 1, 0, 0, 1, 1, 1]))
    assert change is not None
    assert (change.paired, change.by) == (4, pytest.approx(-0.5))


def test_nothing_right_differs_from_two_thirds() -> None:
    """A score of 0 is a score; and where all pairs differ alike the interval keeps a width."""
    change = compared(score_of([0] * 60), score_of([1, 1, 0] * 20))
    assert change is not None
    assert change.by == pytest.approx(2 / 3)
    assert (change.p or 1) < 1e-9
    assert change.low is not None
    assert 0.5 < change.low < 2 / 3
    all_of_them = compared(score_of([0] * 10), score_of([1] * 10))
    assert all_of_them is not None
    assert all_of_them.low is not None
    assert 0.4 < all_of_them.low < 1


def test_the_interval_of_pairs_covers_what_it_says() -> None:
    """In 95 of 100 samples of 40 questions, give or take: R. G. Newcombe, 1998."""
    random = Random(11)  # noqa: S311 (a simulation, not a secret)
    chances = {(1, 1): 0.5, (1, 0): 0.2, (0, 1): 0.1, (0, 0): 0.2}
    inside = 0
    for _ in range(400):
        drawn = random.choices(list(chances), list(chances.values()), k=40)
        counts = [drawn.count(pair) for pair in chances]
        low, high = paired.newcombe(*counts, 0.95)
        inside += low <= 0.1 <= high
    assert 0.92 <= inside / 400 <= 0.98


@pytest.mark.slow
def test_scores_are_compared_without_being_named(asks: Callable[..., Benchmark], tmp_path: Path) -> None:
    """They decide where both runs have them, with the intervals of the reports and the number of pairs."""
    runs = []
    for name, values in (("old", [1, 1, 0] * 20), ("new", [0] * 60)):
        run = asks(questions=60)
        for number in range(60):
            run.answers(number)
        runs.append(tmp_path / name)
        run.scored(*values).write().rename(runs[-1])
    printed = CliRunner().invoke(application("compare"), ["compare", *map(str, runs), "--json"])
    assert printed.exit_code == 1, printed.output
    comparison = json.loads(printed.stdout)
    row = comparison["rows"][0]
    assert (row["metric"], row["decides"], row["in_points"]) == ("accuracy.gsm8k", True, True)
    change = row["changes"][0]
    assert (change["finding"], change["paired"], change["fails"]) == ("worse", 60, True)
    assert change["by"] == pytest.approx(-2 / 3)
    for cell, run in zip(row["figures"], runs, strict=True):
        with measured(run, Definitions()) as (report, _):
            interval = report.accuracy[0].interval
        assert interval is not None
        assert (cell["low"], cell["high"]) == (interval.low, interval.high)
        assert cell["n"] == 60
    page = CliRunner().invoke(application("compare"), ["compare", *map(str, runs)]).stdout
    assert "accuracy.gsm8k" in page
    assert "66.7 % [54.1, 77.3]" in page
    assert "samples (60 paired)" in page
    assert "-66.7 pt" in page or "-67 pt" in page


def test_another_scorer_or_judge_is_a_configuration_difference() -> None:
    """The scores are then not of the same measure."""
    reports = [
        {"run": {}, "accuracy": [{"name": "mt", "scorer": "judge", "version": 1, "judge_model": model}]}
        for model in ("large", "small")
    ]
    first, second = (facts(report, {}, {}) for report in reports)
    assert [
        (mismatch.about, mismatch.what, mismatch.value, mismatch.reference_value)
        for mismatch in unlike("B", second, "A", first)
    ] == [("scoring", "mt.judge_model", "small", "large")]


def test_a_log_has_its_questions(asks: Callable[..., Benchmark]) -> None:
    """Of the whole score; not of a part, of another figure, or where one was asked more often."""
    run = asks(questions=3).answers(0).answers(1).answers(2).scored(1, 0, 1)
    with measured(run.write(), Definitions()) as (report, evidence):
        assert evidence.by_question("gsm8k") == {"question 0": 1, "question 1": 0, "question 2": 1}
        assert by_question(evidence.log, report.accuracy, "gsm8k.truncated") is None
        assert by_question(evidence.log, report.accuracy, "mmlu") is None
        computed = figure_of(evidence, metric("accuracy.gsm8k"), 0.95)
        assert computed is not None
        assert computed.questions == evidence.by_question("gsm8k")
