"""What holds for every target, every confidence and every run."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rulesets.demands import Baseline, GenerationDemand, LoadDemand, SteadyStateDemand, ValidityDemand
from rulesets.evaluation import evaluate
from rulesets.evidence import Good
from rulesets.expression import parse
from rulesets.ruleset import Ruleset

if TYPE_CHECKING:
    from collections.abc import Callable

    from rulesets.evidence import Evidence
    from rulesets.target import Target

    MakeRun = Callable[..., Evidence]

GRAVITY = {"PASS": 0, "INCONCLUSIVE": 1, "FAIL": 2, "INVALID": 3}

ABOVE = [
    *("ttft:p(50)<{}ms", "ttft:p(90)<={}ms@ucl95", "ttft:p(75)<{}ms@es99", "ttft:p(75)<{}ms@es90-estimate"),
    *("ttft:mean<{}ms", "ttft:mean<{}ms@ucl95", "ttft:mean<{}ms@ucl90-bootstrap", "ttft:max<={}ms"),
    "ttft:p(50)<{}ms@ucl90-order_stat",
]
BELOW = [
    *("qps>{}", "qps>={}@lcl95", "tps>{}@lcl90-bootstrap", "tps_per_user:p(90)>{}"),
    *("tps_per_user:p(50)>={}@lcl95", "tps_per_user:mean>{}@lcl95", "good(ttft<1s):rate>={}"),
]
latencies = st.lists(st.floats(min_value=1, max_value=1000), max_size=120)


@st.composite
def targets(draw: st.DrawFn) -> Target:
    """Draw a target whose bound lies where the runs below have their figures."""
    form = draw(st.sampled_from([*ABOVE, *BELOW]))
    return parse(form.format(draw(st.integers(1, 800))))


def run_of(make_run: MakeRun, values: list[float], speed: float = 1.0) -> Evidence:
    """A run whose every figure follows from its latencies, on a server this many times as fast."""
    faster = [value / speed for value in values]
    rate = speed * 1000 * len(values) / sum(values) if values else 0.0
    return make_run(
        samples={"ttft": faster, "tpot": faster},
        rates={"qps": rate, "output_tps": 20 * rate},
        counts={"issued": len(values), "completed": len(values)},
        good=Good(sum(value < 1000 for value in faster), len(values), 100.0),
    )


def gravity(target: Target, run: Evidence) -> int:
    """How bad the verdict of one target is."""
    return GRAVITY[evaluate(Ruleset("r", "1", (target,)), run).rows[0].status]


@given(target=targets(), values=latencies, share=st.floats(min_value=0.01, max_value=1))
def test_tightening_never_betters_a_verdict(
    target: Target, values: list[float], share: float, make_run: MakeRun
) -> None:
    """With any confidence: a stricter bound passes at most what the looser one passed."""
    tighter = target.value * share if target.op in {"<", "<="} else target.value / share
    run = run_of(make_run, values)
    assert gravity(replace(target, value=tighter), run) >= gravity(target, run)


@given(target=targets(), values=latencies, speed=st.sampled_from([1.5, 2.0, 10.0, 1000.0]))
def test_a_faster_server_never_fares_worse(
    target: Target, values: list[float], speed: float, make_run: MakeRun
) -> None:
    """No throughput rule and no latency rule, with any confidence, is lost by being faster throughout."""
    slow, fast = run_of(make_run, values), run_of(make_run, values, speed)
    assert gravity(target, fast) <= gravity(target, slow)


@pytest.mark.slow
@given(target=targets(), values=latencies, faster=st.data())
def test_single_answers_that_are_faster_fail_nothing(
    target: Target, values: list[float], faster: st.DataObject, make_run: MakeRun
) -> None:
    """Uneven progress may cost certainty where a mean is concerned, and never makes a failure."""
    better = [value * faster.draw(st.floats(min_value=0.1, max_value=1)) for value in values]
    if target.metric == "ttft" and gravity(target, run_of(make_run, values)) < GRAVITY["FAIL"]:
        assert gravity(target, run_of(make_run, better)) < GRAVITY["FAIL"]


@given(
    rules=st.lists(targets(), min_size=1, max_size=5, unique_by=lambda target: target.id),
    values=latencies,
    order=st.randoms(use_true_random=False),
)
def test_no_order_of_rules_matters(
    rules: list[Target], values: list[float], order: object, make_run: MakeRun
) -> None:
    """The rows are the same, in the order of the rules."""
    mixed = list(rules)
    order.shuffle(mixed)  # type: ignore[attr-defined]  # a Random
    run = run_of(make_run, values)
    straight, other = (evaluate(Ruleset("r", "1", tuple(order)), run) for order in (rules, mixed))
    assert straight.status == other.status
    assert {row.id: row for row in straight.rows} == {row.id: row for row in other.rows}
    assert [row.id for row in other.rows] == [target.id for target in mixed]


@given(rules=st.lists(targets(), max_size=4, unique_by=lambda target: target.id), values=latencies)
def test_rules_that_a_log_has_kept_say_the_same(
    rules: list[Target], values: list[float], make_run: MakeRun
) -> None:
    """Judged again by what JSON made of them, a run has the same verdict."""
    ruleset = Ruleset(
        "r",
        "1",
        tuple(rules),
        validity=ValidityDemand(max_error_rate=0.1, min_samples=50, streaming="required"),
        load=LoadDemand("concurrency", concurrency={"min": 1, "max": 8}),
        generation=GenerationDemand({"temperature": 0}, locked=True),
        steady_state=SteadyStateDemand(required=True, min_blocks=4),
        baseline=Baseline(metrics={"tps": "higher"}),
    )
    stored = Ruleset.of_dict(json.loads(json.dumps(ruleset.to_dict())))
    run = run_of(make_run, values)
    verdict = evaluate(ruleset, run)
    assert evaluate(stored, run) == verdict
    assert {row.status for row in verdict.rows} <= {*GRAVITY, "SKIP"}
