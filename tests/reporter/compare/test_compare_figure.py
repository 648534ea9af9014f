"""The figure of one run, and its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from reporter.compare import paired_scores
from reporter.compare.compared_figure import ComparedFigure, critical, figure
from reporter.compare.compared_metric import metric
from rulesets.evidence import Accuracy, ScoreInterval
from rulesets.report_evidence import ReportEvidence
from rulesets.statistics import wilson
from rulesets.statistics.long_run import long_run

if TYPE_CHECKING:
    from conftest import Numbers

RATES = [980, 1010, 1005, 995, 1020, 990, 1000, 1015, 985, 1000]
EVEN = [float(number % 50 * 20 + number // 50 * 7 % 20) for number in range(1000)]
"""0 to 999, in an order in which every block has as many of each part."""


def test_a_rate_has_the_interval_of_its_mean_over_time(numbers: type[Numbers]) -> None:
    """Of ten windows that do not resemble each other, no narrower than the textbook's 1000 ± 9.235218."""
    computed = figure(numbers(rates={"output_tps": RATES}), metric("output_tps"), 0.95)
    varies = long_run(RATES)
    assert computed is not None
    assert varies is not None
    assert computed.low is not None
    assert computed.high is not None
    assert 980 < computed.low <= 990.764782
    assert computed.high - 1000 == pytest.approx(1000 - computed.low)
    assert computed.freedom == varies.freedom < 9
    assert computed.below == computed.above == pytest.approx(math.sqrt(varies.of_mean) / 1000)


def test_no_rate_is_below_nothing(numbers: type[Numbers]) -> None:
    """Not even of a server that answers in bursts."""
    computed = figure(numbers(rates={"qps": [0.0, 0.0, 0.0, 90.0] * 3}), metric("qps"), 0.95)
    assert computed is not None
    assert computed.low == 0


def test_a_percentile_has_the_interval_of_order_statistics(numbers: type[Numbers]) -> None:
    """Of requests that scatter no more than independent ones: about the 983rd and the 997th of 1000."""
    computed = figure(numbers({"ttft": EVEN}), metric("ttft:p(99)"), 0.95)
    assert computed is not None
    assert computed.effective is not None
    assert 850 <= computed.effective <= 1000
    assert computed.low is not None
    assert computed.high is not None
    assert 970 <= computed.low <= 982
    assert 996 <= computed.high <= 999
    assert computed.ordered is not None
    assert computed.ordered.n == computed.effective


def test_requests_that_resemble_their_neighbours_widen_it(numbers: type[Numbers]) -> None:
    """The same values in ascending order count for no more than the least that is ever taken."""
    even, sorted_ones = (
        figure(numbers({"ttft": values}), metric("ttft:p(50)"), 0.95) for values in (EVEN, sorted(EVEN))
    )
    assert even is not None
    assert sorted_ones is not None
    assert sorted_ones.value == even.value
    assert (even.effective or 0) > 800
    assert even.low is not None
    assert (sorted_ones.effective or 0) < 30
    assert sorted_ones.low is not None
    assert sorted_ones.low < even.low


def test_of_few_requests_a_p99_has_no_upper_limit(numbers: type[Numbers]) -> None:
    """It would take 368."""
    computed = figure(numbers({"ttft": EVEN[:100]}), metric("ttft:p(99)"), 0.95)
    assert computed is not None
    assert computed.low is not None
    assert computed.high is None
    assert math.isinf(computed.above)


def test_a_run_too_short_has_figures_without_intervals(numbers: type[Numbers]) -> None:
    """One without requests has none."""
    short = numbers({"ttft": EVEN[:7]}, {"output_tps": [1000.0, 1010.0]})
    for name in ("ttft:mean", "ttft:p(50)", "output_tps"):
        computed = figure(short, metric(name), 0.95)
        assert computed is not None
        assert (computed.low, computed.high) == (None, None)
    assert figure(numbers(), metric("ttft:mean"), 0.95) is None
    assert figure(numbers(), metric("ttft:p(50)"), 0.95) is None
    assert figure(numbers(), metric("output_tps"), 0.95) is None
    assert figure(numbers(), metric("error"), 0.95) is None


def moment(completed: int, failed: int, start_s: float = 0.0) -> dict[str, float]:
    """A moment of a run in which requests ended."""
    return {"start_s": start_s, "completed": completed, "failed": failed, "cancelled": 0}


def test_failures_have_wilsons_interval(numbers: type[Numbers]) -> None:
    """The textbook's 81 of 100."""
    computed = figure(numbers({"ttft": EVEN[:19]}, failed=81), metric("error"), 0.95)
    assert computed is not None
    assert computed.low == pytest.approx(0.7222115)
    assert computed.high == pytest.approx(0.8748525)


def test_failures_that_come_together_are_worth_less(numbers: type[Numbers]) -> None:
    """Fifty at once tell less than fifty here and there; those of the warm-up do not count."""
    ends = {"ttft": EVEN[:950]}
    here_and_there = [moment(19, 1) for _ in range(50)]
    at_once = [moment(0, 50), *(moment(20, 0) for _ in range(47)), moment(10, 0)]
    before = [moment(0, 99, -1.0)]
    apart, together = (
        figure(numbers(ends, failed=50, moments=[*before, *moments]), metric("error"), 0.95)
        for moments in (here_and_there, at_once)
    )
    assert apart is not None
    assert together is not None
    assert apart.value == together.value == 0.05
    assert apart.effective is not None
    assert apart.effective >= 900
    assert 10 <= (together.effective or 0) <= 30


def test_a_good_fraction_varies_as_its_requests_do(numbers: type[Numbers]) -> None:
    """Half of the requests are good, and here all the first ones."""
    computed = figure(numbers({"ttft": sorted(EVEN)}), metric("good(ttft<=499ms):fraction"), 0.95)
    assert computed is not None
    assert computed.value == 0.5
    assert (computed.effective or 0) < 30


def test_a_score_has_the_interval_of_its_report(numbers: type[Numbers]) -> None:
    """One without, no interval; a run without scores, nothing."""
    exact = Accuracy(0.8, 100, 0.04, interval=ScoreInterval(0.7, 0.9, 0.95, "clustered"))
    scored = numbers(scores={"exact": exact, "bare": Accuracy(0.8, 100)})
    sure, bare, none = (figure(scored, metric(f"accuracy.{name}"), 0.95) for name in ("exact", "bare", "x"))
    assert sure is not None
    assert (sure.low, sure.high, sure.is_share) == (0.7, 0.9, True)
    wider = figure(scored, metric("accuracy.exact"), 0.99)
    assert wider is not None
    assert wider.high == pytest.approx(0.8 + 2.575829 * 0.04)
    assert bare is not None
    assert bare.high is None
    assert none is None


def test_a_score_of_few_questions_has_their_number(numbers: type[Numbers]) -> None:
    """Another level than the report's is by Wilson's formula over the questions, not over their attempts."""
    perfect = Accuracy(1.0, 10, 0.0, 2, interval=ScoreInterval(0.342, 1, 0.95, "wilson"))
    wide = figure(numbers(scores={"perfect": perfect}), metric("accuracy.perfect"), 0.99)
    assert wide is not None
    assert wide.low == pytest.approx(wilson.interval(2, 2, 0.99)[0])


@pytest.mark.parametrize(("questions", "certain"), [(2, False), (5, False), (6, True)])
def test_questions_that_all_differ_alike(questions: int, *, certain: bool) -> None:
    """Five questions that changed by the same amount are a coin that fell on one side five times."""
    sides = [
        ComparedFigure(value, 10, is_share=True, questions=dict.fromkeys(map(str, range(questions)), value))
        for value in (0.8, 0.6)
    ]
    made = paired_scores.difference(*sides, in_points=True, level=0.95, level_to_find=0.95)
    assert made is not None
    assert made.p == pytest.approx(2 * 0.5**questions)
    assert made.by == pytest.approx(-0.2)
    assert (made.low is not None) is certain


def test_of_a_report_alone_there_are_figures_without_intervals() -> None:
    """And none that it does not have."""
    report = {
        "run": {},
        "counts": {"completed": 10, "failed": 0},
        "ttft_ms": {"count": 10, "mean": 5.0, "p50": 4.0},
        "throughput": {"output_tps": 100.0},
    }
    values = {}
    for name in ("ttft:mean", "ttft:p(50)", "output_tps", "ttft:p(42)", "good(ttft<1s):fraction"):
        computed = figure(ReportEvidence(report), metric(name), 0.95)
        assert computed is None or computed.low is None
        values[name] = None if computed is None else computed.value
    assert values == {
        "ttft:mean": 5.0,
        "ttft:p(50)": 4.0,
        "output_tps": 100.0,
        "ttft:p(42)": None,
        "good(ttft<1s):fraction": None,
    }


def test_intervals_are_students_where_blocks_are_few() -> None:
    """And the normal distribution's where they are as if from many."""
    assert critical(0.95, 9) == pytest.approx(2.262157, abs=1e-6)
    assert critical(0.95, None) == pytest.approx(1.959964, abs=1e-6)
