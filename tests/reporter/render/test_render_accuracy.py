"""Scores as a person reads them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from reporter.render import markdown
from reporter.render.breakdown_tables import names
from reporter.render.console import render
from reporter.render.named_verdict import NamedVerdict
from reporter.render.score_tables import group_tables, score_table
from reporter.values.task_score import (
    ConfidenceInterval,
    GroupScore,
    HeadlineFigure,
    RepeatStatistics,
    SampleStatistics,
    TaskScore,
)
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report
    from tests.reporter.conftest import Run

WILSON = ConfidenceInterval(0.7345, 0.8054, 0.95, "wilson")


def figure(value: float | None, **more: Any) -> HeadlineFigure:
    """A share of right answers."""
    fields = {"best": None, "unit": "share", "better": "higher", "n": 541, "standard_error": 0.018}
    return HeadlineFigure(**{"value": value, **fields, "interval": WILSON, "effective": 541, **more})


def score(**more: Any) -> TaskScore:
    """A score with every field set that a reader may see."""
    return TaskScore(
        **{
            "task": "ifeval",
            "name": "ifeval",
            "scorer": "official",
            "version": 1,
            "definition": "a paper",
            "judge": "",
            "judge_model": None,
            "official": True,
            "pass_": 1,
            "issued": 541,
            "scored": 540,
            "missing": 1,
            "value": 0.7708,
            "interval": WILSON,
            "headlines": {
                "prompt_strict": figure(0.7708),
                "length": figure(1234.5, unit="number", interval=None),
            },
            "groups": {"tier": {"easy": GroupScore(41, 0, 0.8, 0.02, WILSON)}},
            "tokens_per_sample": 312.4,
            "notes": ["12 of 541 answers were cut at the limit of tokens"],
            **more,
        }
    )


def report_of(a_run: Callable[..., Run], *scores: TaskScore) -> Report:
    """A report with these scores."""
    return replace(a_run().answers(5, 7).ends().report(), accuracy=list(scores))


def test_a_run_without_scores_has_no_table(a_run: Callable[..., Run]) -> None:
    """The page does not mention accuracy."""
    assert "accuracy" not in render(report_of(a_run)).lower()


def test_scores_are_in_the_report(a_run: Callable[..., Run], golden: Callable[[str, str], None]) -> None:
    """Each with its interval, what is missing, its other figures, and what there is to know."""
    unscored = {"infra_error": 2, "judge_pending": 3, "unscored": 5, "missing": 0, "notes": ["wait\x1b[31m"]}
    bound = {"value": 0.5, "best": 0.6, "interval": None}
    report = report_of(
        a_run,
        score(),
        score(task="hle", **unscored, headlines={"accuracy": figure(**bound), "rest": figure(None)}),
        score(
            task="math500", scorer="math_verify", official=False, refused=0.25, headlines={"a": figure(0.5)}
        ),
        score(
            task="frames", scorer=None, unscored=541, headlines={"a": figure(None, interval=None)}, pass_=None
        ),
        score(
            task="aime",
            repeats=4,
            questions=30,
            pass_at={"1": 0.5, "4": 0.9},
            pass_hat={"1": 0.5, "4": 0.1},
            headlines={f"h{n}": figure(0.5) for n in range(14)},
        ),
    )
    golden("accuracy.txt", render(report, by=["tier"]))
    assert "tier" in names(report)
    summary = render(report, summary_only=True)
    assert "77.08 %" in summary
    assert "length" not in summary


def test_parts_that_are_main_figures_are_in_one_table(a_run: Callable[..., Run]) -> None:
    """Categories have their samples; a breakdown with other parts has a separate table."""
    parts = {"stem": GroupScore(41, 0, 0.8, 0.02, WILSON), "law": GroupScore(9, 0, 0.5, 0.02, WILSON)}
    headlines = {"accuracy": figure(0.7), "stem": figure(0.8), "law": figure(0.4)}
    groups = {"category": parts, "subject": {**parts, "botany": parts["law"]}}
    report = report_of(a_run, score(headlines=headlines, groups=groups))
    table = score_table(report.accuracy)
    assert [(row[0], row[3]) for row in table.rows] == [("ifeval", "541"), ("  stem", "41"), ("  law", "")]
    assert [of.columns[0].title for of in group_tables(report)] == ["subject"]
    assert [of.columns[0].title for of in group_tables(report, "category")] == ["category"]


def test_a_narrow_page_keeps_the_scores(a_run: Callable[..., Run]) -> None:
    """The interval goes first."""
    page = render(report_of(a_run, score()), width=40)
    assert "77.08 %" in page
    assert "73.45" not in page
    assert max(map(len, page.splitlines())) <= 40


def test_scores_are_shown_with_the_verdict_in_markdown(a_run: Callable[..., Run]) -> None:
    """As a table, in which foreign text is not markup."""
    report = replace(report_of(a_run, score(task="a|b", scorer="x")), verdict=Verdict("PASS", "", ""))
    page = markdown.render([NamedVerdict.of(report)])
    assert "| a&#124;b: prompt&#95;strict | 77.08 % | &#91;73.45, 80.54&#93; | 541 | 1 |" in page
    assert "**Accuracy**" not in markdown.render([NamedVerdict(Verdict("PASS", "", ""))])


def test_attempts_are_a_lower_bound_while_some_have_no_score(a_run: Callable[..., Run]) -> None:
    """As the score is."""
    fields = {"repeats": 2, "pass_at": {"2": 0.5}, "pass_hat": {"2": 0.25}}
    page = render(report_of(a_run, score(unscored=1, **fields)))
    assert "pass@2 >= 50.00 %" in page
    assert "pass^2 >= 25.00 %" in page
    assert ">=" not in render(report_of(a_run, score(**fields)))


def test_the_spread_of_values_that_are_not_right_or_wrong(a_run: Callable[..., Run]) -> None:
    """Graded values show their spread; of right and wrong the score says everything."""
    graded = {"n": 4, "mean": 0.4375, "median": 0.375, "std": 0.3698, "min": 0.0, "max": 1.0}
    page = render(report_of(a_run, score(statistics=SampleStatistics(**graded))), width=140)
    assert "values mean 0.4375, median 0.375, std 0.3698, min 0, max 1" in " ".join(page.split())
    binary = SampleStatistics(n=4, mean=0.5, median=0.5, std=0.5, min=0.0, max=1.0)
    assert "median" not in render(report_of(a_run, score(statistics=binary)), width=140)


def test_the_spread_over_repeats(a_run: Callable[..., Run]) -> None:
    """The least and the greatest score of a repeat, and their standard deviation."""
    repeats = RepeatStatistics(values=[0.5, 0.7], mean=0.6, median=0.6, std=0.1, min=0.5, max=0.7)
    fields = {"repeats": 2, "pass_at": {"2": 0.9}, "pass_hat": {"2": 0.3}, "over_repeats": repeats}
    page = render(report_of(a_run, score(**fields)), width=140)
    assert "mean of a repeat 50.00 % to 70.00 %, std 10.00 %" in " ".join(page.split())
