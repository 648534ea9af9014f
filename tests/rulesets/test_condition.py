"""What a request must meet to be good."""

from __future__ import annotations

import pytest

from rulesets import TargetError
from rulesets.condition import Condition


@pytest.mark.parametrize(
    ("written", "made", "bound"),
    [
        ("ttft<500ms", Condition("ttft", "<", 500.0, "ms"), 500.0),
        (" e2e <= 1.1 m ", Condition("latency", "<=", 1.1, "m"), 66_000.0),
        ("held<=0us", Condition("held", "<=", 0.0, "us"), 0.0),
    ],
)
def test_a_condition_is_a_bound_on_a_latency(written: str, made: Condition, bound: float) -> None:
    """It is read, written and converted without loss."""
    assert Condition.parse(written) == made
    assert Condition.parse(str(made)) == made
    assert made.bound == bound


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("ttft", "'ttft' is not a condition; write one like ttft<500ms"),
        ("", "'' is not a condition"),
        ("ttft:p(99)<1s", "is not a condition"),
        ("itl<5ms", "a request has many gaps between tokens (itl); tpot is their mean"),
        ("tpott<5ms", "'tpott' is not a latency of a request; did you mean 'tpot'?"),
        ("qps<5", "'qps' is not a latency of a request"),
        ("ttft>5ms", "ttft takes < or <=, not '>'"),
        ("ttft<5", "5 of what? ttft needs a unit: us, ms, s or m"),
        ("ttft<5sec", "ttft has no unit 'sec': us, ms, s or m"),
        ("ttft<0ms", "ttft<0ms can never be met: no time is below 0"),
        ("ttft<=-1ms", "can never be met"),
        ("ttft<1e999s", "the bound must be a finite number"),
    ],
)
def test_an_invalid_condition_is_refused(written: str, message: str) -> None:
    """The message says how to write one."""
    with pytest.raises(TargetError) as refused:
        Condition.parse(written)
    assert message in str(refused.value)
    assert refused.value.part == "conditions"
