"""Comparisons of sides: what is significant, what fails, and what makes them hard to compare."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reporter.compare.compare_sides import compare
from reporter.compare.compared_metric import metric
from reporter.compare.comparison import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Numbers

    from reporter.compare.comparison import Comparison, ComparisonRow
    from reporter.compare.side import Side

    Result = Callable[..., Comparison]
    Run = Callable[..., Numbers]

DECIDING = ("output_tps", "ttft:mean", "ttft:p(50)", "error")
FURTHER = ("output_tokens:mean",)


@pytest.fixture(scope="module")
def a_run(numbers: type[Numbers]) -> Callable[..., Numbers]:
    """A run of 400 requests, slower than others by a share."""

    def make(by: float = 0.0, seed: int = 1, length: float = 100.0, **more: Any) -> Numbers:
        random = Random(seed)  # noqa: S311 (a simulation, not a secret)
        own = 1 + by
        return numbers(
            {
                "ttft": [100 * own * random.uniform(0.8, 1.2) for _ in range(400)],
                "output_tokens": [length * random.uniform(0.9, 1.1) for _ in range(400)],
            },
            {"output_tps": [1000 / own * random.uniform(0.95, 1.05) for _ in range(20)]},
            **more,
        )

    return make


@pytest.fixture(scope="module")
def result(side: Callable[..., Side]) -> Callable[..., Comparison]:
    """Compare runs, or groups of them, with the first."""

    def make(*sides: Numbers | list[Numbers], **rules: Any) -> Comparison:
        by_runs = rules.pop("by_runs", False)
        made = [
            side(name, *(runs if isinstance(runs, list) else [runs]), metrics=(*DECIDING, *FURTHER))
            for name, runs in zip("ABCDEF", sides, strict=False)
        ]
        deciding, further = ([metric(name) for name in names] for names in (DECIDING, FURTHER))
        return compare(made, deciding, further, Rules(**rules), by_runs=by_runs)

    return make


def rows(comparison: Comparison) -> dict[str, ComparisonRow]:
    """By metric."""
    return {row.metric: row for row in comparison.rows}


def findings(comparison: Comparison, side: int = 0) -> dict[str, str]:
    """The findings of a side, by metric."""
    return {row.metric: row.changes[side].finding for row in comparison.rows}


def test_a_run_that_is_slower_fails(result: Result, a_run: Run) -> None:
    """In every metric, with its sign: throughput falls, latencies grow."""
    comparison = result(a_run(), a_run(0.2, seed=2))
    assert comparison.status == "FAIL"
    assert comparison.reasons == tuple(f"{name} of B is worse" for name in DECIDING[:3])
    assert findings(comparison) == {
        **dict.fromkeys(DECIDING[:3], "worse"),
        "error": "no significant difference",
        "output_tokens:mean": "no significant difference",
    }
    assert rows(comparison)["output_tps"].changes[0].by == pytest.approx(-1 / 6, abs=0.02)
    assert rows(comparison)["ttft:mean"].changes[0].by == pytest.approx(0.2, abs=0.02)
    assert comparison.unlike == ()


def test_a_run_that_is_faster_passes(result: Result, a_run: Run) -> None:
    """However much better it is; the finding is "better"."""
    comparison = result(a_run(0.2), a_run(seed=2))
    assert (comparison.status, comparison.reasons) == ("PASS", ())
    assert set(findings(comparison).values()) == {"better", "no significant difference"}


def test_no_significant_difference_is_an_answer(result: Result, a_run: Run) -> None:
    """With the detectable difference, which is larger than the observed one."""
    comparison = result(a_run(), a_run(seed=3))
    assert comparison.status == "PASS"
    assert set(findings(comparison).values()) == {"no significant difference"}
    for row in comparison.rows:
        assert abs(row.changes[0].by or 0.0) < (row.changes[0].detectable or 0.0)
    assert "not how runs vary" in comparison.notes[0]


def test_a_significant_difference_below_the_floor_does_not_fail(result: Result, a_run: Run) -> None:
    """20 % is worse all the same, and fails without a floor."""
    comparison = result(a_run(), a_run(0.2, seed=2), min_effect=0.3)
    assert comparison.status == "PASS"
    assert findings(comparison)["ttft:mean"] == "worse"
    assert not any(change.fails for row in comparison.rows for change in row.changes)


def test_failures_have_a_floor_in_points(result: Result, a_run: Run) -> None:
    """Thirty of 430 are 7 points, from nothing."""
    runs = a_run(), a_run(seed=3, failed=30)
    assert result(*runs).reasons == ("error of B is worse",)
    assert result(*runs, min_points=0.1).status == "PASS"


def test_all_sides_are_compared_with_the_first_and_adjusted_together(result: Result, a_run: Run) -> None:
    """Two sides of three metrics are six tests, and the reasons name the side; no request failed."""
    comparison = result(a_run(), a_run(seed=3), a_run(0.2, seed=2))
    assert comparison.reasons == tuple(f"{name} of C is worse" for name in DECIDING[:3])
    assert set(findings(comparison, 0).values()) == {"no significant difference"}
    assert "adjusted for 6 tests" in comparison.notes[1]
    for row in comparison.rows:
        for change in row.changes:
            assert (change.adjusted_p or 0) >= (change.p or 0)
            assert row.decides or change.adjusted_p == change.p


def test_three_runs_a_side_are_too_few_and_five_are_not(result: Result, a_run: Run) -> None:
    """However far apart; and it is said how many it takes."""
    slow, fast = ([a_run(by, seed=10 * seed + bool(by)) for seed in range(5)] for by in (0.5, 0.0))
    few = result(fast[:3], slow[:3])
    assert few.status == "INCONCLUSIVE"
    assert "3 and 3 runs are too few: the smallest possible p is 0.1, times 3" in few.reasons[0]
    assert "give 5 runs per side, or 4 with one --metric" in few.reasons[0]
    assert set(findings(few).values()) == {"too few runs"}
    enough = result(fast, slow)
    assert (enough.status, enough.test) == ("FAIL", "mann_whitney")
    assert rows(enough)["ttft:mean"].changes[0].p == pytest.approx(2 / 252)
    assert rows(enough)["ttft:mean"].changes[0].adjusted_p == pytest.approx(3 * 2 / 252)
    cell = rows(enough)["ttft:mean"].figures[0]
    assert cell is not None
    assert cell.value == sorted(cell.runs)[2]


def test_a_test_that_was_demanded_of_single_runs_is_inconclusive(result: Result, a_run: Run) -> None:
    """Its p can only be 1."""
    comparison = result(a_run(), a_run(0.5, seed=2), by_runs=True)
    assert comparison.status == "INCONCLUSIVE"
    assert "the smallest possible p is 1," in comparison.reasons[0]


def test_a_run_too_short_for_any_test_is_inconclusive(
    result: Result, a_run: Run, numbers: type[Numbers]
) -> None:
    """It has figures, and nothing more."""
    short = numbers({"ttft": [100.0] * 7}, {"output_tps": [1000.0]})
    comparison = result(a_run(), short)
    assert comparison.status == "INCONCLUSIVE"
    assert "no rate, latency or score could be tested" in comparison.reasons[0]
    assert findings(comparison)["ttft:mean"] == "not tested"


def test_a_comparison_that_could_have_seen_nothing_is_inconclusive(
    result: Result, a_run: Run, numbers: type[Numbers]
) -> None:
    """A run passes only where a change for the worse far above the smallest one that may fail is excluded."""
    random = Random(1)  # noqa: S311 (a simulation, not a secret)

    def wild() -> Numbers:
        return numbers(
            {"ttft": [10 * random.paretovariate(1.1) for _ in range(60)], "output_tokens": [9.0] * 60},
            {"output_tps": [1000 * random.uniform(0.1, 3) for _ in range(20)]},
        )

    runs = wild(), wild()
    comparison = result(*runs, min_effect=0.01)
    assert comparison.status == "INCONCLUSIVE"
    assert re.search(
        r"^output_tps of B: a change of -\d+ % is not excluded; take about [\d,]+ requests a side, ",
        comparison.reasons[0],
    )
    assert result(*runs, min_effect=1.0).status == "PASS"
    assert result(a_run(), a_run(seed=3), min_effect=0.01).status == "PASS"


def test_a_large_change_that_is_not_significant_does_not_pass(result: Result, numbers: type[Numbers]) -> None:
    """Means of 40 requests with a long tail: 80 % more, and it may be several times as much."""
    values = [3000.0 if number % 10 == number // 10 else 100.0 + number for number in range(40)]
    runs = [
        numbers(
            {"ttft": [by * value for value in values], "output_tokens": [9.0] * 40},
            {"output_tps": [1e3] * 20},
        )
        for by in (1.0, 1.8)
    ]
    comparison = result(*runs)
    change = rows(comparison)["ttft:mean"].changes[0]
    assert (change.finding, change.by) == ("no significant difference", pytest.approx(0.8))
    assert comparison.status == "INCONCLUSIVE"
    assert any(reason.startswith("ttft:mean of B: a change of +") for reason in comparison.reasons)


def test_a_primary_metric_without_a_test_is_inconclusive(a_run: Run, side: Callable[..., Side]) -> None:
    """400 requests tell a mean, and no p99.9; the mean alone is an answer."""
    names = ("ttft:mean", "ttft:p(99.9)")
    sides = [side(name, a_run(seed=seed), metrics=names) for name, seed in (("A", 1), ("B", 3))]
    both = compare(sides, [metric(name) for name in names], [], Rules())
    assert both.status == "INCONCLUSIVE"
    needed = rows(both)["ttft:p(99.9)"].changes[0].needed
    assert both.reasons == (
        f"ttft:p(99.9) of B cannot be tested: send {needed:,} requests a side, or leave it out (--metric)",
    )
    assert compare(sides, [metric("ttft:mean")], [metric("ttft:p(99.9)")], Rules()).status == "PASS"


def test_a_metric_that_a_side_lacks_is_inconclusive(
    result: Result, a_run: Run, numbers: type[Numbers]
) -> None:
    """A server that stops reporting tokens is not one without a difference."""
    mute = numbers({"ttft": a_run(seed=3).samples["ttft"]})
    comparison = result(a_run(), mute)
    assert (comparison.status, comparison.reasons) == ("INCONCLUSIVE", ("B has no output_tps",))
    assert rows(comparison)["output_tps"].figures[1] is None


def test_a_mismatch_is_named_with_both_values(result: Result, a_run: Run) -> None:
    """Settings, versions, an invalid run; with --strict there is no verdict on such runs."""
    there = {"ended": "completed", "model": "m", "load": {"concurrency": 4}, "versions": {"python": "3.11"}}
    here = {**there, "load": {"concurrency": 8}, "versions": {"python": "3.12"}, "url": "another"}
    runs = a_run(run=there), a_run(0.2, seed=2, run=here, valid=False)
    comparison = result(*runs)
    mismatches = {(mismatch.what, mismatch.value, mismatch.reference_value) for mismatch in comparison.unlike}
    assert mismatches == {
        ("invalid", "the client was the limit", None),
        ("load.concurrency", 8, 4),
        ("python", "3.12", "3.11"),
    }
    assert comparison.status == "FAIL"
    assert result(*runs, strict=True).status == "INVALID"


def test_replicates_with_the_same_mismatch_are_named_once(result: Result, a_run: Run) -> None:
    """And those of the reference side that differ from its first run, as well."""
    m, x = ({"ended": "completed", "model": name} for name in "mx")
    comparison = result([a_run(run=m), a_run(seed=2, run=x)], [a_run(seed=seed, run=x) for seed in (3, 4)])
    assert [(mismatch.run, mismatch.what, mismatch.value) for mismatch in comparison.unlike] == [
        ("A2", "model", "x"),
        ("B1", "model", "x"),
    ]


def test_answers_of_another_length_are_a_mismatch(result: Result, a_run: Run) -> None:
    """A server that says less is not faster."""
    comparison = result(a_run(), a_run(seed=2, length=80))
    [mismatch] = comparison.unlike
    assert (mismatch.about, mismatch.what, mismatch.reference_value) == (
        "lengths",
        "output_tokens:mean",
        pytest.approx(100, abs=1),
    )
    assert findings(comparison)["output_tokens:mean"] == "different"


def test_a_deciding_metric_is_shown_even_where_no_side_has_it(
    result: Result, a_run: Run, numbers: type[Numbers]
) -> None:
    """As not tested, which is not a reason to fail: answers that are not streamed have no TTFT."""
    mute = [numbers(rates=a_run(seed=seed).rates) for seed in (1, 3)]
    comparison = result(*mute)
    assert comparison.status == "PASS"
    assert rows(comparison)["ttft:mean"].figures == (None, None)
    assert findings(comparison)["ttft:mean"] == "not tested"
    assert "output_tokens:mean" not in findings(comparison)


def test_the_comparison_is_plain_values(result: Result, a_run: Run) -> None:
    """JSON has words for all of it."""
    plain = result(a_run(), a_run(seed=2)).to_dict()
    assert plain["rows"][0]["figures"][0]["runs"]
    assert plain["rules"]["alpha"] == 0.05
    assert plain["schema_version"] == 1


@pytest.mark.slow
@settings(max_examples=15)
@given(st.floats(0.5, 1.0), st.integers(0, 5))
def test_a_faster_server_never_fails(result: Result, a_run: Run, factor: float, seed: int) -> None:
    """A server that is faster than one that passes, request by request, passes as well."""
    other = a_run(seed=seed)
    faster = a_run(seed=seed)
    faster.samples["ttft"] = [factor * value for value in faster.samples["ttft"]]
    faster.rates["output_tps"] = [value / factor for value in faster.rates["output_tps"]]
    if result(a_run(), other).status == "PASS":
        assert result(a_run(), faster).status == "PASS"
