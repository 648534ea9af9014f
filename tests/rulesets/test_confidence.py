"""The proof that a target asks for, as a file tells it key by key."""

from __future__ import annotations

from typing import Any

import pytest

from rulesets import Target, TargetError
from rulesets.demands import Confidence


def proof(metric: str, stat: str | None, op: str, asked: dict[str, Any], *, delta: bool = False) -> Any:
    """The confidence of a target that is written with these keys."""
    unit = "%" if delta else "ms" if metric in {"ttft", "latency"} else None
    return Target.of(
        metric=metric, stat=stat, op=op, value=0.5, unit=unit, confidence=asked, delta=delta
    ).confidence


@pytest.mark.parametrize(
    ("metric", "stat", "op", "asked", "meant"),
    [
        ("ttft", "p99", "<", {}, Confidence("effective", 0.95, None, "upper")),
        ("ttft", "p99", "<", {"method": "early_stopping"}, Confidence("early_stopping", 0.99, "test")),
        (
            "ttft",
            "p99",
            "<",
            {"method": "early_stopping", "form": "estimate", "level": 0.9},
            Confidence("early_stopping", 0.9, "estimate"),
        ),
        ("ttft", "mean", "<=", {"level": 0.99}, Confidence("batch_means", 0.99, None, "upper")),
        ("tps", None, ">=", {"side": "lower"}, Confidence("batch_means", 0.95, None, "lower")),
        ("osl", "mean", ">", {}, Confidence("batch_means", 0.95, None, "lower")),
        ("osl", "p90", "<", {}, Confidence("effective", 0.95, None, "upper")),
        ("interactivity", "p90", ">", {}, Confidence("effective", 0.95, None, "lower")),
        ("error", None, "<", {}, Confidence("wilson", 0.95, None, "upper")),
        ("accuracy.x", None, ">", {}, Confidence("normal", 0.95, None, "lower")),
    ],
)
def test_what_is_left_out_follows_from_the_target(
    metric: str, stat: str | None, op: str, asked: dict[str, Any], meant: Confidence
) -> None:
    """The method from what is bounded, the level from the method, the side from the operator."""
    assert proof(metric, stat, op, asked) == meant


def test_a_change_is_tested() -> None:
    """There is one test, and its level is what its alpha leaves."""
    assert proof("tps", None, ">", {}, delta=True) == Confidence("mann_whitney", 0.95)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"mehtod": "wilson"}, "unknown key 'mehtod' in a confidence; did you mean 'method'"),
        ({"method": "order_stats"}, "unknown method 'order_stats'; did you mean 'order_stat'"),
        ({"level": 95}, "the level is a share from 0.5 to below 1, not 95; 95 % is 0.95"),
        ({"level": 0.05}, "not 0.05"),
        ({"level": True}, "not True"),
        ({"level": "95%"}, "not '95%'"),
        ({"level": float("nan")}, "not nan"),
        ({"side": "both"}, "unknown side 'both'; choose one of upper or lower"),
        ({"side": "lower"}, "a bound of < is compared with the upper limit; write ucl"),
        ({"form": "test"}, "effective has no form 'test'; early_stopping has a test and an estimate"),
        ({"method": "early_stopping", "side": "upper"}, "early_stopping has no side; leave 'upper' out"),
        ({"method": "early_stopping", "form": 1}, "early stopping has no form 1"),
    ],
)
def test_what_does_not_go_together_is_refused(asked: dict[str, Any], message: str) -> None:
    """The message says what does."""
    with pytest.raises(TargetError) as refused:
        proof("ttft", "p99", "<", asked)
    assert message in str(refused.value)
    assert refused.value.part == "confidence"
