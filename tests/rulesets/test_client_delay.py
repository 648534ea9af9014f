"""Verdicts that client overhead can decide."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from statistics import fmean
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from rulesets import of_expressions
from rulesets.evaluators.client_delay import IN_DOUBT, is_in_doubt
from rulesets.evaluators.delay_decides import can_decide, values_of
from rulesets.evidence import Good

if TYPE_CHECKING:
    from rulesets.condition import Condition
    from rulesets.target import Target


@pytest.mark.parametrize(
    ("rule", "expected"), [("ttft:p(99)<1s", True), ("accuracy.gsm8k:value>=0.5", False)]
)
def test_scores_are_not_in_doubt(rule: str, expected: bool) -> None:  # noqa: FBT001 (a column of the table)
    """Under locked rules all other targets are: the run is valid as a whole or not at all."""
    rules = replace(of_expressions([rule]), locked=True)
    report: dict[str, Any] = {"findings": [{"code": IN_DOUBT}]}
    assert is_in_doubt(rules.targets[0], rules, report) is expected


@pytest.mark.parametrize(
    ("rule", "values", "expected"),
    [
        ("ttft:p(99)<100ms", (80.0, 60.0, 80.0), False),  # 80 and 15 are within it
        ("ttft:p(99)<95ms", (80.0, 60.0, 80.0), True),
        ("ttft:p(99)<44ms", (80.0, 60.0, 80.0), False),  # 60 less 16 is still too much
        ("ttft:p(99)<45ms", (80.0, 60.0, 80.0), True),
        ("ttft:p(99)<50ms", (80.0, 60.0, 80.0), True),
        ("ttft:p(99)<70ms", (80.0, 60.0, 80.0), True),  # the stamps are in doubt
        ("ttft:p(99)<100ms", (None, None, None), True),
        ("ttft:p(99)<100ms", (math.inf,), True),
        ("qps>150", (120.0,), False),  # 120 / 0.8 is not more than that
        ("qps>149", (120.0,), True),
        ("qps>95", (120.0,), False),
        ("qps>96", (120.0,), True),
        ("ttft:p(99)<100ms@ucl95", (60.0, 84.0), False),  # the figure and its limit
        ("ttft:p(99)<100ms@ucl95", (60.0, 86.0), True),
        ("ttft:p(99)<100ms@ucl95", (60.0, None), True),
        ("ttft:p(99)<40ms@ucl95", (60.0, 84.0), False),
        ("ttft:p(99)<50ms@ucl95", (60.0, 84.0), True),
        ("ttft:p(99)<100ms@es99", (60.0, 60.0), True),
        ("ttft:mean<100ms@ucl95", (60.0, 60.0), True),
        ("good(ttft<100ms):fraction>0.9", (1.0,), False),
        ("good(ttft<100ms):fraction>0.9", (1.0, 0.8, 1.0), True),  # at conditions of 85 and 115 ms
        ("good(ttft<100ms):rate>0.9", (1.0,), True),
        ("ttft{class:a}:p(99)<76ms", (60.0,), False),  # 60 and 15 are within it
        ("ttft{class:a}:p(99)<74ms", (60.0,), True),
        ("ttft{class:a}:p(99)<46ms", (60.0,), True),
        ("ttft{class:a}:p(99)<44ms", (60.0,), False),
        ("qps{class:a}>300", (120.0,), True),
    ],
)
def test_what_the_delay_can_decide(rule: str, values: tuple[float | None, ...], expected: bool) -> None:  # noqa: FBT001
    """Not a figure that is met by more than the longest delay, or missed by more than the share."""
    effects = {
        "ttft_ms": {"p99": {"of_ms": 78.0, "share": 0.1, "share_high": 0.2}},
        "qps": {"mean": {"share": 0.1, "share_high": 0.2}},
    }
    report = {"own_longest_ms": 15.0, "own_effect": effects}
    (target,) = of_expressions([rule]).targets
    assert can_decide(target, values, report) is expected
    # A report that does not have the longest delay decides nothing.
    assert can_decide(target, values, {})


REQUESTS = st.lists(st.tuples(st.floats(0.0, 150.0), st.floats(0.0, 60.0)), min_size=1, max_size=30)
"""The server's latency and the client overhead of each request, in milliseconds."""


@pytest.mark.parametrize("stat", ["p(50)", "p(90)", "p(99)", "mean", "max"])
@given(data=st.data(), requests=REQUESTS, bound=st.integers(1, 150))
def test_no_verdict_stands_that_the_delay_could_change(
    stat: str, data: st.DataObject, requests: list[tuple[float, float]], bound: int
) -> None:
    """A pass holds with any part of the longest overhead on top; a miss holds without the overhead."""
    (target,) = of_expressions([f"ttft:{stat}<{bound}ms"]).targets
    server, longest = [ms for ms, _ in requests], max(own for _, own in requests)
    total = statistic(target, [ms + own for ms, own in requests])
    effect = {"of_ms": total, "share": 1 - statistic(target, server) / total if total else 0.0}
    key = {"p50": "p50", "p90": "p90", "p99": "p99"}.get(target.stat, target.stat)
    report = {"own_longest_ms": longest, "own_effect": {"ttft_ms": {key: effect}}}
    # A TTFT from the send has none of the delay, and one from the schedule has all of it.
    for figure in (statistic(target, server), total):
        if can_decide(target, [figure], report):
            continue
        if figure < bound:
            parts = data.draw(st.lists(st.floats(0, 1), min_size=len(server), max_size=len(server)))
            delayed = [ms + part * longest for ms, part in zip(server, parts, strict=True)]
            assert statistic(target, delayed) < bound
        else:
            assert statistic(target, server) >= bound - 1e-9


@given(requests=REQUESTS, bound=st.integers(1, 150), least=st.integers(1, 99))
def test_no_share_of_good_requests_stands_that_the_delay_could_change(
    requests: list[tuple[float, float]], bound: int, least: int
) -> None:
    """Its conditions are moved by the longest delay, down and up."""
    (target,) = of_expressions([f"good(ttft<{bound}ms):fraction>{least}%"]).targets
    stamped, longest = [ms + own for ms, own in requests], max(own for _, own in requests)
    effect = {"ttft_ms": {"p99": {"of_ms": 1.0, "share": 0.1}}}
    run = SharesOfGood(stamped, {"own_longest_ms": longest, "own_effect": effect})
    values = values_of(target, run)  # type: ignore[arg-type]
    if not can_decide(target, values, run.report):
        without = sum(ms < bound for ms, _ in requests) / len(requests)
        assert (without > least / 100) == (values[0] is not None and values[0] > least / 100)


@dataclass
class SharesOfGood:
    """A run as evidence of its share of good requests alone."""

    ttft_ms: list[float]
    report: dict[str, Any]
    ends: tuple[SharesOfGood, ...] = ()

    def good(self, conditions: tuple[Condition, ...], where: object) -> Good:
        """How many are good, of how many."""
        del where
        good = sum(ms < conditions[0].bound for ms in self.ttft_ms)
        return Good(good, len(self.ttft_ms), 1.0)


def statistic(target: Target, values: list[float]) -> float:
    """The statistic of a target; percentiles by nearest rank."""
    if target.percentile is not None:
        return sorted(values)[math.ceil(len(values) * target.percentile) - 1]
    return {"mean": fmean, "max": max, "min": min}[target.stat](values)


@given(
    server_s=st.floats(0.01, 1.0),
    own_s=st.floats(0.0, 1.0),
    streams=st.integers(1, 8),
    bound=st.integers(1, 99),
)
def test_no_rate_stands_that_the_delay_could_change(
    server_s: float, own_s: float, streams: int, bound: int
) -> None:
    """In a closed loop: without client overhead, its streams take only the server's time."""
    (target,) = of_expressions([f"qps>{bound}"]).targets
    rate, without = streams / (server_s + own_s), streams / server_s
    assume(not math.isclose(rate, bound) and not math.isclose(without, bound))
    report = {"own_effect": {"qps": {"mean": {"share": own_s / (server_s + own_s)}}}}
    if not can_decide(target, [rate], report):
        assert (rate > bound) == (without > bound)
