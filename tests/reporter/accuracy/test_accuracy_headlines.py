"""The figures that benchmarks are known by, and those of them that are means."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.accuracy import logged_scores as scores
from reporter.accuracy.mean import Mean, mean_in
from reporter.errors import HeadlineError
from reporter.values.scorer_definitions import Definition
from rulesets.statistics import wilson
from workloads.catalog import names, workload
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.accuracy.conftest import Benchmark


@pytest.fixture
def define(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Define the headlines of a scorer: `define(Headline(...), ...)`."""

    def of(*headlines: Headline) -> None:
        monkeypatch.setattr(scores, "defined", lambda *_: Definition(headlines, official=True))

    return of


def test_figures_are_aggregates_over_the_rows_of_a_task(
    graded: Callable[..., Benchmark], define: Callable[..., None]
) -> None:
    """Of values, metrics, tags and status, also over parts of them."""
    define(
        Headline("accuracy"),
        Headline("easy", "avg(value) FILTER (tags['level'] = 'easy')"),
        Headline("kept", "sum(metrics['kept']) / sum(metrics['asked'])"),
        Headline(
            "by_level", "(SELECT avg(v) FROM (SELECT avg(value) AS v FROM scores GROUP BY tags['level']))"
        ),
        Headline("known", "count(*) FILTER (status = 'scored')", unit="number"),
    )
    run = graded(1, 0, 0, tags=lambda n: {"level": "easy" if n < 2 else "hard"})
    run.passes.clear()
    headlines = run.scored(1, 0, 0, metrics=lambda n: {"kept": n, "asked": 2}).score()["headlines"]
    assert {name: headline["value"] for name, headline in headlines.items()} == pytest.approx(
        {"accuracy": 1 / 3, "easy": 0.5, "kept": 0.5, "by_level": 0.25, "known": 3}
    )
    assert (headlines["easy"]["n"], headlines["kept"]["n"]) == (2, None)
    low, high = wilson.interval(1, 2, 0.95)
    assert (headlines["easy"]["interval"]["low"], headlines["easy"]["interval"]["high"]) == (low, high)
    assert headlines["kept"]["interval"] is None


def test_the_first_figure_is_the_score(graded: Callable[..., Benchmark], define: Callable[..., None]) -> None:
    """Whichever it is."""
    define(Headline("wrong", "1 - avg(value)", better="lower"), Headline("right"))
    assert graded(1, 0, 0, 0).score()["value"] == 0.75


@pytest.mark.parametrize(
    ("headline", "best"),
    [
        (Headline("a"), 0.75),
        (Headline("a", "1 - avg(value)", better="lower"), 0.25),
        (Headline("a", "avg(value) FILTER (tags['part'] = 'a')"), 1.0),
        (Headline("a", "avg(coalesce(metrics['x'], 0))"), 0.5),
        (Headline("a", "sum(metrics['x']) / count(*)"), 1.0),
        (Headline("a", "sum(metrics['x']) / count(*)", better="lower"), 0.0),
        (Headline("a", "avg(coalesce(metrics['miss'], 1))", better="lower"), 0.5),
        (Headline("a", "sum(value)", unit="number"), None),
    ],
)
def test_what_a_figure_can_be_at_best(
    graded: Callable[..., Benchmark], define: Callable[..., None], headline: Headline, best: float | None
) -> None:
    """With two of four samples unscored; of more than values, the best that a share can be."""
    define(headline)
    run = graded(1, 0, "judge_pending", "judge_pending", tags=lambda n: {"part": "abab"[n]})
    score = run.score()
    if best == 0.75:
        assert score["value"] == 0.25
    assert score["best"] == best


def test_values_that_are_not_shares_have_no_best(graded: Callable[..., Benchmark]) -> None:
    """The highest possible value is unknown."""
    assert graded(7, "infra_error").score()["best"] is None


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("avg(valeu)", "valeu"),
        ("value", "not an aggregate"),
        ("mode(status)", "not a number: 'scored'"),
        ("avg(value", "syntax error"),
    ],
)
def test_an_invalid_figure_is_a_clear_failure(
    graded: Callable[..., Benchmark], define: Callable[..., None], sql: str, why: str
) -> None:
    """It names the task, the scorer, the figure and its SQL."""
    define(Headline("accuracy"), Headline("broken", sql))
    with pytest.raises(
        HeadlineError, match=f"(?s)gsm8k: the figure broken of its scorer official.*{why}"
    ) as error:
        graded(1, 0).scores()
    assert sql in str(error.value)


def test_an_undefined_figure_has_no_value(
    graded: Callable[..., Benchmark], define: Callable[..., None]
) -> None:
    """0 / 0, and the mean of nothing."""
    define(
        Headline("accuracy"), Headline("a", "sum(0) / sum(0)"), Headline("b", "avg(value) FILTER (value > 1)")
    )
    headlines = graded(1, 0).score()["headlines"]
    assert (headlines["a"]["value"], headlines["b"]["value"]) == (None, None)


@pytest.mark.parametrize(
    ("sql", "mean"),
    [
        ("avg(value)", Mean("value")),
        (" AVG ( (a + b) / 2 ) ", Mean(" (a + b) / 2 ")),
        ("avg(value) FILTER (tags['x'] = ')')", Mean("value", "tags['x'] = ')'")),
        ("avg(value) FILTER (WHERE a IN (1, 2))", Mean("value", "a IN (1, 2)")),
        ("avg(a) + avg(b)", None),
        ("avg(DISTINCT a)", None),
        ("average(a)", None),
        ("avg(a) FILTER (b) / 2", None),
        ("sum(a) / sum(b)", None),
    ],
)
def test_a_mean_is_recognized(sql: str, mean: Mean | None) -> None:
    """One call of avg, over all rows or some of them, and nothing else."""
    assert mean_in(sql) == mean


@settings(max_examples=50, deadline=None)
@given(st.text("avg(value) 'filter\"x", max_size=30))
def test_no_text_confuses_the_search_for_a_mean(sql: str) -> None:
    """Its result is part of the text."""
    mean = mean_in(sql)
    assert mean is None or mean.of in sql


@pytest.mark.parametrize("name", names())
def test_every_figure_of_the_catalog_is_an_aggregate(name: str, asks: Callable[..., Benchmark]) -> None:
    """Also where no sample has any metric or tag, where requests failed, and where no judge was asked."""
    run = asks(name, 4).answers(0, name).answers(1, name).answers(2, name).fails(3, task=name)
    for scorer in workload(name).scorers:
        run.scored(1, "unparsed", "judge_pending", scorer=scorer.name)
    scores = run.scores()
    assert len(scores) == len(workload(name).scorers)
    for score in scores:
        assert score["value"] is None or score["best"] is None or score["value"] <= score["best"]
