"""The names that rules call scores by."""

from __future__ import annotations

from typing import Any

import pytest

from rulesets.errors import Unanswerable
from rulesets.evidence import Accuracy
from rulesets.report_evidence import ReportEvidence
from rulesets.scores import Scores, named, score


def figure(value: float | None, **more: Any) -> dict[str, Any]:
    """A figure of a score, as report.json has it."""
    return {"value": value, "best": None, "n": 10, "standard_error": 0.1, "effective": 10, **more}


def accuracy_item(task: str = "ifeval", scorer: str | None = "official", **more: Any) -> dict[str, Any]:
    """An element of `accuracy`, as far as rules look at it."""
    whose = {"task": task, "name": task.partition(":")[0], "scorer": scorer}
    counts = {"issued": 12, "unscored": 0, "judge_pending": 0, "repeats": 1}
    ends = {"tokens_per_sample": 80.5, "truncated": 0.25, "refused": 0.0, "pass_at": {}, "pass_hat": {}}
    headlines = {"strict": figure(0.5), "loose": figure(0.6)}
    return {**whose, "official": scorer == "official", **counts, "headlines": headlines, **ends, **more}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ifeval", 0.5),
        ("ifeval.strict", 0.5),
        ("ifeval.loose", 0.6),
        ("ifeval.official", 0.5),
        ("ifeval.official.loose", 0.6),
        ("ifeval.tokens_per_sample", 80.5),
        ("ifeval.truncated", 0.25),
        ("ifeval.pass_at_3", 0.9),
        ("ifeval.pass_hat_3", 0.1),
    ],
)
def test_a_score_is_called_by_its_task_its_figure_and_its_scorer(name: str, value: float) -> None:
    """A report answers to all of them, and so does the list of all names."""
    report = [accuracy_item(pass_at={"3": 0.9}, pass_hat={"3": 0.1})]
    item = ReportEvidence({"accuracy": report}).accuracy(name)
    assert item is not None
    assert item.value == value
    assert named(report)[name] == item


def test_what_is_not_there_has_no_score() -> None:
    """Neither of the run, nor of a report of old."""
    assert score([accuracy_item()], "ifeval.lose") is None
    assert score([accuracy_item()], "") is None
    assert ReportEvidence({}).accuracy("ifeval") is None


def test_another_scorer_never_answers_for_the_benchmark() -> None:
    """A simpler rule has its own name; own data has no official one, and any scorer does."""
    report = [accuracy_item(scorer="simple"), accuracy_item("mine", "exact", official=None)]
    assert score(report, "ifeval") is None
    assert score(report, "ifeval.strict") is None
    assert score(report, "ifeval.simple") == Accuracy(0.5, 10, 0.1)
    assert score(report, "mine") == Accuracy(0.5, 10, 0.1)


def test_what_may_be_several_has_to_be_named() -> None:
    """A benchmark that was asked in two ways, and own data with two scorers."""
    report = [accuracy_item("mmlu_pro:shots=0"), accuracy_item("mmlu_pro:shots=5"), accuracy_item("ifeval")]
    with pytest.raises(Unanswerable, match="mmlu_pro may be several") as error:
        score(report, "mmlu_pro")
    assert "mmlu_pro-shots-0.official.strict" in error.value.remedy
    assert score(report, "mmlu_pro-shots-0") == Accuracy(0.5, 10, 0.1)
    assert "mmlu_pro" not in named(report)
    with pytest.raises(Unanswerable):
        Scores(report).get("mmlu_pro")
    assert dict(Scores(report)) == named(report)
    assert "mmlu" not in Scores(report)
    assert {"ifeval", "mmlu_pro-shots-5.loose"} <= named(report).keys()


def test_a_figure_of_the_benchmark_goes_before_a_scorer_of_that_name() -> None:
    """`ifeval.loose` is the figure, and not the scorer."""
    report = [accuracy_item(), accuracy_item(scorer="loose", headlines={"accuracy": figure(0.1)})]
    item = score(report, "ifeval.loose")
    assert item is not None
    assert item.value == 0.6


def test_what_a_score_says_of_its_samples() -> None:
    """Repeats count as fewer samples; a figure that is not a mean has none; unscored ones have a remedy."""
    repeated = accuracy_item(repeats=4, headlines={"a": figure(0.5, effective=3), "b": figure(0.5, n=None)})
    plain = score([repeated], "ifeval")
    assert plain == Accuracy(0.5, 10, 0.1, 3, repeats=4)
    assert score([repeated], "ifeval.b") == Accuracy(0.5, 12, 0.1, 0, repeats=4)
    waiting = accuracy_item(unscored=2, judge_pending=2, headlines={"a": figure(0.5, best=0.7)})
    item = score([waiting], "ifeval")
    assert item is not None
    assert (item.unscored, item.best) == (2, 0.7)
    assert "--judge-url" in item.remedy


def test_a_task_that_was_not_scored_has_its_names() -> None:
    """So that a rule on it does not fail with an unknown score."""
    item = score(
        [accuracy_item(scorer=None, official=True, unscored=12, headlines={"a": figure(None)})], "ifeval"
    )
    assert item is not None
    assert (item.value, item.unscored) == (None, 12)
    assert "loadgen score" in item.remedy
