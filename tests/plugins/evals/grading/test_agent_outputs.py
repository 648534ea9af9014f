"""Rules over small outputs of agents: speed-ups, carts, and anomalies in logs."""

from __future__ import annotations

from typing import Any

import pytest

from loadgen.plugins.evals.grading.anomaly import anomaly_in, detection
from loadgen.plugins.evals.grading.shopping_cart import Cart, accuracy, judge_cart
from loadgen.plugins.evals.grading.swefficiency import overall, speedup_of


def test_speedups() -> None:
    """A patch counts behind the gate of its tests; a missing one as no speed-up."""
    fast, wrong = speedup_of(4.0, 2.0, passes=True), speedup_of(4.0, 2.0, passes=False)
    missing = speedup_of(None, 2.0, passes=True)
    assert [speedup.ratio for speedup in (fast, wrong, missing)] == [2.0, 0.5, 0.5]
    assert overall([fast, wrong]) == pytest.approx(0.8)
    for of_patch, of_expert in ((0.0, 1.0), (1.0, float("nan")), (1.0, -1.0)):
        with pytest.raises(ValueError, match="positive and finite"):
            speedup_of(of_patch, of_expert, passes=True)
    with pytest.raises(ValueError, match="no instance"):
        overall([])


WANTED = {
    "ground_truth_products": [{"product_id": "a"}, {"product_id": "b"}],
    "ground_truth_coupons": {"ten": 2},
}


@pytest.mark.parametrize(
    ("items", "coupons", "matched"),
    [
        (["a", "b", "b", "extra"], [("ten", 2), ("other", 1)], 3),
        (["a"], [("ten", 2)], 2),
        (["a", "b"], [("ten", 1)], 2),
        ([], [], 0),
    ],
)
def test_a_cart(items: list[str], coupons: list[tuple[str, int]], matched: int) -> None:
    """Extra products do not matter, numbers of coupons do."""
    cart = {
        "items": [{"product_id": item} for item in items],
        "used_coupons": [{"coupon_name": name, "quantity": number} for name, number in coupons],
    }
    judged = judge_cart(cart, WANTED, [{"role": "assistant", "content": "Done."}])
    assert judged == Cart(matched, 3, complete=True)
    assert judged.score == (matched == 3)


@pytest.mark.parametrize(
    ("last", "complete"),
    [
        ({"role": "tool", "content": "x"}, False),
        ({"role": "assistant", "tool_calls": [{}]}, False),
        ({"role": "assistant", "tool_calls": []}, True),
    ],
)
def test_an_episode_is_complete(last: dict[str, Any], *, complete: bool) -> None:
    """With an answer at its end."""
    assert judge_cart({"items": []}, WANTED, [last]).complete is complete


def test_a_shopping_run() -> None:
    """A missing cart has score 0; more than a tenth of incomplete episodes make a run invalid."""
    missing = judge_cart({}, WANTED, [])
    assert (missing.score, missing.complete) == (0, False)
    right = Cart(3, 3, complete=True)
    assert accuracy([right] * 9 + [missing]) == (0.9, 27 / 28, True)
    assert accuracy([right, missing])[2] is False
    with pytest.raises(ValueError, match="no cart"):
        accuracy([])


@pytest.mark.parametrize(
    ("text", "anomaly"),
    [
        ("ANOMALY", True),
        ("It is anomalous.", True),
        ("Normal, no anomaly", False),
        ("abnormal", None),
        ("", None),
    ],
)
def test_an_answer_about_a_log(text: str, *, anomaly: bool | None) -> None:
    """The first of the two words counts."""
    assert anomaly_in(text) is anomaly


def test_detection() -> None:
    """F1 of the anomalous class; an answer that cannot be read is wrong."""
    figures = detection([True, False, None, True, None], [True, True, True, False, False])
    assert (figures.precision, figures.recall) == (1 / 3, 1 / 3)
    assert figures.f1 == pytest.approx(1 / 3)
    assert (figures.accuracy, figures.base_rate, figures.unparsed) == (0.2, 0.6, 0.4)
    always_normal = detection([False] * 4, [False, False, False, True])
    assert (always_normal.f1, always_normal.accuracy) == (0, 0.75)
    with pytest.raises(ValueError, match="as many"):
        detection([True], [])
