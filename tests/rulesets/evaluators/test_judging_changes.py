"""Changes from a baseline: significant and large enough, or no failure."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rulesets import baseline_targets as baseline
from rulesets.demands import Baseline
from rulesets.errors import TargetError
from rulesets.evaluation import evaluate
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.evidence import Evidence

    MakeRun = Callable[..., Evidence]

STEADY = (1000.0, 1010.0, 990.0, 1005.0, 995.0)


def compared(
    make_run: MakeRun, before: Sequence[float], after: Sequence[float], rules: Ruleset
) -> VerdictRow:
    """Evaluate runs of these tok/s."""
    first, *others = (make_run(rates={"output_tps": value}) for value in after)
    baseline = [make_run(rates={"output_tps": value}) for value in before]
    (row,) = evaluate(rules, first, others=others, baseline=baseline).rows
    return row


def no_worse(test: str = "mann_whitney") -> Ruleset:
    """A ruleset that accepts at most 3 % fewer tok/s."""
    return Ruleset("r", "1", (), baseline=Baseline(test=test, metrics={"tps": "higher"}))  # type: ignore[arg-type]  # a test


@pytest.mark.parametrize(
    ("test", "factor", "status"),
    [
        ("mann_whitney", 1.0, "PASS"),
        ("mann_whitney", 0.98, "PASS"),
        ("mann_whitney", 0.9, "FAIL"),
        ("mann_whitney", 1.5, "PASS"),
        ("bootstrap", 1.0, "PASS"),
        ("bootstrap", 0.9, "FAIL"),
        ("tost", 1.0, "PASS"),
        ("tost", 0.975, "INCONCLUSIVE"),
        ("tost", 0.9, "FAIL"),
        ("tost", 1.5, "PASS"),
    ],
)
def test_a_change_fails_where_it_is_large_and_no_chance(
    test: str, factor: float, status: str, make_run: MakeRun
) -> None:
    """Faster never fails, 2 % less is within the floor of 3 %, and 10 % less is not."""
    row = compared(make_run, STEADY, [value * factor for value in STEADY], no_worse(test))
    assert row.status == status
    assert row.observed == pytest.approx(factor - 1)
    assert (row.id, row.group, row.n, row.bound) == ("baseline.tps", "baseline", 10, -0.03)


def test_a_change_that_chance_explains_is_not_a_failure(make_run: MakeRun) -> None:
    """Ten percent less in the median, and no significant difference: the method says so."""
    noisy, lower = (1000.0, 700.0, 1300.0, 850.0, 1150.0), (900.0, 1200.0, 650.0, 1050.0, 750.0)
    row = compared(make_run, noisy, lower, no_worse())
    assert (row.status, row.reason) == ("PASS", "")
    assert row.observed is not None
    assert row.observed < -0.03
    assert row.margin is not None
    assert row.margin < 0
    assert row.method.endswith("; no significant difference")
    assert compared(make_run, noisy, lower, no_worse("tost")).status == "FAIL"


@pytest.mark.parametrize(("runs", "status"), [(3, "INCONCLUSIVE"), (4, "FAIL")])
def test_too_few_runs_can_show_nothing(runs: int, status: str, make_run: MakeRun) -> None:
    """With three runs a side no p is below 0.1, whatever they say."""
    ruleset = Ruleset("r", "1", (parse("tps:delta>-3%@mw0.05"),))
    row = compared(make_run, STEADY[:runs], [value / 2 for value in STEADY[:runs]], ruleset)
    assert row.status == status
    if status == "INCONCLUSIVE":
        assert row.reason == "3 runs against 3 are too few: 4 per side are needed"
        assert row.remedy == "measure 4 runs on each side: --also RUN, --baseline RUN"


def test_without_a_confidence_the_change_itself_decides(make_run: MakeRun) -> None:
    """One run against one."""
    ruleset = Ruleset("r", "1", (parse("tps:delta>-3%"),))
    assert compared(make_run, [100.0], [98.0], ruleset).status == "PASS"
    row = compared(make_run, [100.0], [95.0], ruleset)
    assert (row.status, row.observed) == ("FAIL", pytest.approx(-5.0))
    assert row.reason == "the change of output_tps:value = -5.00 %; required: > -3 %"


def test_without_a_baseline_a_change_fails(make_run: MakeRun) -> None:
    """What was not measured is not met, and the row says what to give."""
    (row,) = evaluate(no_worse(), make_run()).rows
    assert (row.status, row.remedy) == (
        "FAIL",
        "give the runs to compare with: --baseline RUN, once for each",
    )


def test_an_invalid_baseline_is_reported(make_run: MakeRun) -> None:
    """A run that was cut off, or that the client limited, is not a figure of the server."""
    runs = [make_run(), make_run(reasons=("cut off",))]
    (row,) = evaluate(no_worse(), make_run(), baseline=runs).rows
    assert row.method.endswith("; 1 of the other runs invalid")


def test_a_change_from_nothing(make_run: MakeRun) -> None:
    """A rate of 0 has no share to grow by: more of it is a miss, and an equal one is not a change."""
    ruleset = Ruleset("r", "1", (parse("error:delta<=5%"),))
    whole, broken = make_run(), make_run(counts={"completed": 900, "failed": 100})
    (same,) = evaluate(ruleset, whole, baseline=[whole]).rows
    (worse,) = evaluate(ruleset, broken, baseline=[whole]).rows
    assert (same.status, same.observed) == ("PASS", 0.0)
    assert (worse.status, worse.observed) == ("FAIL", None)
    assert worse.reason == "error:rate was 0 in the baseline, and no longer is"


def test_metrics_of_a_baseline_are_targets() -> None:
    """`ttft.p99.9: lower` bounds the growth of that percentile; what cannot be better that way is refused."""
    metrics = {"ttft.p99.9": "lower", "tps": "higher"}
    ttft, tps = baseline.targets(Baseline(metrics=metrics))  # type: ignore[arg-type]  # as a file says it
    assert (ttft.metric, ttft.stat, ttft.op, ttft.bound) == ("ttft", "p99.9", "<=", 0.03)
    assert (tps.metric, tps.op, tps.bound) == ("output_tps", ">=", -0.03)
    with pytest.raises(TargetError, match="a faster server must never fail"):
        baseline.targets(Baseline(metrics={"ttft.p99": "higher"}))
