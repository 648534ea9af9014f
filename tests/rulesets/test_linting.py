"""What a linter says of rulesets that are right."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rulesets.demands import Baseline, DatasetDemand, ValidityDemand
from rulesets.linting import warnings
from rulesets.ruleset import Ruleset, of_expressions

VALID = ValidityDemand(min_samples=100)


@pytest.mark.parametrize(
    ("expression", "needed"),
    [
        ("ttft:p(99)<1s@es99", 459),
        ("ttft:p(99)<1s@es99-estimate", 662),
        ("ttft:p(95)<1s@ucl95", 59),
        ("ttft:p(99)<1s@ucl95", 299),
        ("tps_per_user:p(99)>10@lcl95", 299),
        ("error<1%@ucl95", 268),
        ("good(ttft<1s):fraction>=0.99@lcl95", 268),
    ],
)
def test_a_proof_out_of_reach(expression: str, needed: int) -> None:
    """The warning gives the number of requests without a miss that suffices, unless a valid run has it."""
    rules = of_expressions([expression])
    for samples, message in ((None, "nothing says"), (needed - 1, f"only {needed - 1}"), (needed, "")):
        (*warned,) = warnings(replace(rules, validity=ValidityDemand(min_samples=samples)))
        assert len(warned) == bool(message)
        assert all(
            message in warning and f"set validity.min_samples: {needed}" in warning for warning in warned
        )


@pytest.mark.parametrize(
    ("validity", "count"),
    [
        (ValidityDemand(dataset_multiple=True), 0),
        (ValidityDemand(min_passes=1), 0),
        (ValidityDemand(min_duration_s=600), 1),
    ],
)
def test_whole_passes_are_as_many_requests_as_the_dataset_has(validity: ValidityDemand, count: int) -> None:
    """A proof is in reach when the passes are long enough."""
    rules = replace(of_expressions(["ttft:p(99)<1s@es99"]), dataset=DatasetDemand(perf_samples=459))
    assert len(list(warnings(replace(rules, validity=validity)))) == count


@pytest.mark.parametrize(
    ("expressions", "message"),
    [
        (
            ["ttft:p(99)<1s", "ttft:p(99)<2s"],
            "ttft:p(99)<2s says nothing more than ttft:p(99)<1s",
        ),
        (["completed>=5", "completed>4"], "completed:count>=5 says nothing more than completed:count>4"),
        (["qps>1!warn", "qps>2"], "qps:value>1req/s!warn"),
        (["qps>1", "qps>2!warn"], ""),
        (["ttft:p(99)<1s", "ttft:p(95)<2s"], ""),
        (["ttft{a:b}:p(99)<1s", "ttft:p(99)<2s"], ""),
        (["ttft:p(50)<1s@ucl95", "ttft:p(50)<2s"], ""),
    ],
)
def test_a_target_that_says_nothing(expressions: list[str], message: str) -> None:
    """A target that is met whenever another one of the same severity is met."""
    (*warned,) = warnings(replace(of_expressions(expressions), validity=VALID))
    assert len(warned) == bool(message)
    assert all(message in warning for warning in warned)


@pytest.mark.parametrize(
    ("baseline", "message"),
    [
        (
            Baseline(min_runs=3),
            "with 3 runs a side no change is significant at 0.05 (the least p is 0.1); ask for 4",
        ),
        (Baseline(min_runs=4), ""),
        (Baseline(min_runs=4, alpha=0.01), "ask for 5"),
        (Baseline(min_runs=5, alpha=1e-60), "ask for 103"),
        (Baseline(min_runs=3, test="bootstrap"), ""),
        (None, ""),
    ],
)
def test_a_test_that_can_find_nothing(baseline: Baseline | None, message: str) -> None:
    """The least p of an exact Mann-Whitney test of n against n runs is 2 / C(2n, n)."""
    (*warned,) = warnings(Ruleset("a", "1", (), baseline=baseline))
    assert len(warned) == bool(message)
    assert all(message in warning for warning in warned)
