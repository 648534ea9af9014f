"""How sure a verdict is: limits, both forms of early stopping, and what would settle it."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import pytest

from rulesets.definitions import Definitions
from rulesets.evaluation import evaluate
from rulesets.evidence import Accuracy, Good, ScoreInterval
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.evidence import Evidence
    from rulesets.verdict import VerdictRow

    MakeRun = Callable[..., Evidence]


def row_of(expression: str, run: Evidence) -> VerdictRow:
    """Judge a run by one short form, with the run's own definitions."""
    (row,) = evaluate(Ruleset("r", "1", (parse(expression),), definitions=run.definitions), run).rows
    return row


def with_over(make_run: MakeRun, over: int, n: int) -> Evidence:
    """A run of n requests with a TTFT of 100 ms, but for some of 1,000 ms."""
    return make_run(samples={"ttft": [100.0] * (n - over) + [1000.0] * over})


@pytest.mark.parametrize(
    ("over", "n", "test", "estimate"),
    [
        (0, 458, "INCONCLUSIVE", "INCONCLUSIVE"),
        (0, 459, "PASS", "INCONCLUSIVE"),
        (0, 661, "PASS", "INCONCLUSIVE"),
        (0, 662, "PASS", "PASS"),
        (1, 661, "INCONCLUSIVE", "INCONCLUSIVE"),
        (1, 662, "PASS", "INCONCLUSIVE"),
        (2, 662, "INCONCLUSIVE", "INCONCLUSIVE"),
        (9, 662, "FAIL", "FAIL"),
        (2, 838, "PASS", "INCONCLUSIVE"),
        (2, 1001, "PASS", "PASS"),
    ],
)
def test_both_forms_of_early_stopping(over: int, n: int, test: str, estimate: str, make_run: MakeRun) -> None:
    """Of 662 samples one may be over in the test of a p99, and none in the estimate; LoadGen's own table."""
    run = with_over(make_run, over, n)
    assert row_of("ttft:p(99)<500ms@es99", run).status == test
    assert row_of("ttft:p(99)<500ms@es99-estimate", run).status == estimate


def test_too_few_samples_for_any_limit(make_run: MakeRun) -> None:
    """None is over, and still that is not certain; the row says how many samples it takes."""
    row = row_of("ttft:p(99)<500ms@es99", with_over(make_run, 0, 458))
    assert (row.status, row.limit, row.observed, row.n) == ("INCONCLUSIVE", None, 100.0, 458)
    assert row.reason == (
        "not enough requests to confirm ttft:p(99) at 99 % confidence "
        "(458; early stopping, test, 99 %, independent requests)"
    )
    assert row.method == "p99 (linear interpolation); early stopping, test, 99 %, independent requests"
    assert row.remedy == "about 460 are needed"
    assert row.margin == 0.8


def test_a_limit_beyond_the_bound(make_run: MakeRun) -> None:
    """The figure meets the bound, its limit does not: the row has both."""
    rule = "ttft:p(95)<500ms@ucl95-order_stat"
    row = row_of(rule, with_over(make_run, 40, 1000))
    assert (row.status, row.observed, row.limit) == ("INCONCLUSIVE", 100.0, 1000.0)
    assert row.method == "p95 (linear interpolation); upper 95 % limit (order statistic)"
    assert row.reason == (
        "ttft:p(95) meets < 500 ms, but this is not confirmed: "
        "its upper 95 % limit (order statistic) is 1,000 ms"
    )
    match = re.fullmatch(r"about ([\d,]+) are needed", row.remedy)
    assert match
    enough = int(match[1].replace(",", ""))
    assert row_of(rule, with_over(make_run, math.ceil(0.04 * enough), enough)).status == "PASS"
    half = enough // 2
    assert row_of(rule, with_over(make_run, math.ceil(0.04 * half), half)).status != "PASS"


def test_requests_that_are_slow_together_count_for_fewer(make_run: MakeRun) -> None:
    """Slow requests that are apart pass; as many that are neighbors take far more requests."""
    apart, together = [100.0] * 2000, [100.0] * 2000
    apart[17::33] = [1000.0] * len(apart[17::33])
    together[700:760] = [1000.0] * 60
    rule = "ttft:p(95)<500ms@ucl95"
    assert row_of(rule, make_run(samples={"ttft": apart})).status == "PASS"
    row = row_of(rule, make_run(samples={"ttft": together}))
    assert (row.status, row.limit, row.n) == ("INCONCLUSIVE", None, 2000)
    assert re.search(r"2,000; upper 95 % limit \(order statistic, effective n = \d\d\)", row.reason)
    needed = re.fullmatch(r"about ([\d,]+) are needed", row.remedy)
    assert needed
    assert int(needed[1].replace(",", "")) > 10_000
    assert row_of(f"{rule}-order_stat", make_run(samples={"ttft": together})).status == "PASS"


def test_too_few_requests_to_see_how_they_depend(make_run: MakeRun) -> None:
    """Seven have no limit, and the row says what it takes."""
    row = row_of("ttft:p(50)<500ms@ucl95", make_run(samples={"ttft": [100.0] * 7}))
    assert (row.status, row.limit, row.remedy) == ("INCONCLUSIVE", None, "send more requests")
    assert row_of("ttft:p(50)<500ms@ucl95", make_run(samples={"ttft": [100.0] * 8})).status == "PASS"


def test_a_figure_that_misses_its_bound_fails_however_unsure(make_run: MakeRun) -> None:
    """Too few samples do not excuse a miss."""
    assert row_of("ttft:p(99)<50ms@es99", with_over(make_run, 0, 5)).status == "FAIL"


@pytest.mark.parametrize(
    ("expression", "limit", "method"),
    [
        ("error<5%@ucl95", 2.87, "20 of 1,000 failed; upper 95 % limit (Wilson, independent requests)"),
        (
            "good(ttft<1s):fraction>=0.95@lcl95",
            0.9834,
            "990 of 1,000 good; lower 95 % limit (Wilson, independent requests)",
        ),
        (
            "accuracy.gsm8k>=0.9@lcl95",
            0.9385,
            "score, standard error 0.007; lower 95 % limit (normal)",
        ),
        ("qps>9@lcl95", 9.82, "rate over the window: run; lower 95 % limit (batch means, 10 blocks)"),
        (
            "tps_per_user:mean>35@lcl95",
            40.2,
            "1000 / TPOT: mean; lower 95 % limit (batch means, 10 blocks), from the upper one of TPOT",
        ),
        (
            "tps_per_user:p(50)>35@lcl95",
            40.0,
            (
                "1000 / TPOT: p50 (linear interpolation); "
                "lower 95 % limit (order statistic, effective n = 996), from the upper one of TPOT"
            ),
        ),
        (
            "qps>9@lcl95-bootstrap",
            9.82,
            "rate over the window: run; lower 95 % limit (bootstrap, 10 blocks)",
        ),
    ],
)
def test_the_limit_is_in_the_row(expression: str, limit: float, method: str, make_run: MakeRun) -> None:
    """In the rule's own unit, with the method in words."""
    run = make_run(counts={"completed": 980, "failed": 20}, good=Good(990, 1000, 100.0))
    row = row_of(expression, run)
    assert row.status == "PASS"
    assert row.limit == pytest.approx(limit, rel=0.01)
    assert row.method == method


def test_what_has_no_limit_is_inconclusive(make_run: MakeRun) -> None:
    """No blocks, no standard error: nothing is certain, and no number of samples is promised."""
    score = row_of("accuracy.gsm8k>=0.9@lcl95", make_run(scores={"gsm8k": Accuracy(0.95, 1000)}))
    mean = row_of("ttft:mean<1s@ucl95", make_run(samples={"ttft": [1.0] * 9}))
    assert {score.status, mean.status} == {"INCONCLUSIVE"}
    assert score.reason.endswith("(its standard error is not known)")
    assert mean.reason.endswith("(fewer than two blocks of time)")
    assert score.remedy == "give its standard_error too, or use wilson for a share"
    assert mean.remedy == "run for longer: --duration"


@pytest.mark.parametrize(
    ("expression", "score", "status", "limit"),
    [
        ("accuracy.gsm8k>=0.9@lcl95-wilson", Accuracy(0.95, 1000), "PASS", 0.9374),
        ("accuracy.gsm8k>=90@lcl95-wilson", Accuracy(95.0, 1000), "PASS", 93.74),
        ("accuracy.gsm8k>=90@lcl95-wilson", Accuracy(95.0, 20), "INCONCLUSIVE", 80.62),
        ("accuracy.gsm8k>=94@lcl95-wilson", Accuracy(0.5, 20), "FAIL", 0.0),
        ("accuracy.gsm8k>=0.9@lcl95", Accuracy(1.0, 10, 0.0, 2, repeats=5), "INCONCLUSIVE", 0.425),
        ("accuracy.gsm8k>=0.9@lcl95", Accuracy(1.0, 10, 0.0), "INCONCLUSIVE", 0.787),
        (
            "accuracy.gsm8k>=0.95@lcl95",
            Accuracy(0.99, 100, 0.01, 20, repeats=5, interval=ScoreInterval(0.822, 0.999, 0.95, "wilson")),
            "INCONCLUSIVE",
            0.8808,
        ),
        ("accuracy.GEN_LEN>=90@lcl95-wilson", Accuracy(8000.0, 20), "INCONCLUSIVE", None),
    ],
)
def test_a_share_of_right_answers(
    expression: str, score: Accuracy, status: str, limit: float | None, make_run: MakeRun
) -> None:
    """Needs no standard error, and may be given in per cent; no other figure has such a limit."""
    name = expression.removeprefix("accuracy.").partition(">")[0]
    row = row_of(expression, make_run(scores={name: score}))
    assert row.status == status
    assert row.limit == (None if limit is None else pytest.approx(limit, rel=0.01))
    assert bool(row.remedy) == (status == "INCONCLUSIVE")


def test_failed_requests_may_exceed_every_bound(make_run: MakeRun) -> None:
    """Infinite latencies are violations: two of a hundred exceed a p99, one of a hundred and one does not."""
    definitions = Definitions(percentile_method="loadgen_floor", failed_requests="count_as_violation")
    for failed, status in ((2, "FAIL"), (1, "PASS")):
        run = make_run(samples={"ttft": [math.inf] * failed + [1.0] * 102}, definitions=definitions)
        assert row_of("ttft:p(98.5)<1s", run).status == status
    row = row_of("ttft:max<1s", make_run(samples={"ttft": [1.0, math.inf]}, definitions=definitions))
    assert (row.observed, row.margin) == (None, None)
    assert row.reason == "ttft:max falls on failed requests, which exceed every bound; required: < 1 s"


def test_other_definitions_are_another_figure(make_run: MakeRun) -> None:
    """A figure by another method is not compared with the rule; one that does not depend on it is."""
    ruleset = Ruleset(
        "r",
        "1",
        (parse("ttft:p(99)<1s"), parse("ttft:mean<1s"), parse("qps>1")),
        definitions=Definitions(percentile_method="nearest_rank"),
    )
    rows = evaluate(ruleset, make_run()).rows
    assert [row.status for row in rows] == ["INCONCLUSIVE", "PASS", "PASS"]
    assert rows[0].reason == (
        "the report was computed with percentile method linear, and the rules say nearest_rank"
    )


def test_the_origin_is_in_the_method(make_run: MakeRun) -> None:
    """Where latencies count from is said, but of those that have no such origin."""
    run = make_run(definitions=Definitions(latency_origin="scheduled"))
    assert row_of("ttft:mean<1s", run).method == "mean, from the scheduled time"
    assert row_of("tpot:mean<1s", run).method == "mean"
