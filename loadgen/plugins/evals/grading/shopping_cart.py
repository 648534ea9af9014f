"""DeepPlanning's shopping: QwenLM/Qwen-Agent at 31a4d368, `evaluation/evaluation_pipeline.py`.

Products count once, coupons with their exact number; what the cart has too much does not matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MOST_INCOMPLETE: Final = 0.1


@dataclass(frozen=True, slots=True)
class Cart:
    """The matched part of a cart.

    Attributes:
        matched: Products and coupons that are right.
        expected: All that were wanted.
        complete: Whether the episode ended with an answer instead of a call.
    """

    matched: int
    expected: int
    complete: bool

    @property
    def score(self) -> float:
        """1 where everything matches, else 0."""
        return float(self.matched == self.expected)


def judge_cart(
    cart: Mapping[str, Any], wanted: Mapping[str, Any], messages: Sequence[Mapping[str, Any]]
) -> Cart:
    """Compare a cart with the expected products and coupons.

    An empty or missing cart has score 0.

    Args:
        cart: `items` with `product_id`, `used_coupons` with `coupon_name` and `quantity`.
        wanted: `ground_truth_products` with `product_id`, `ground_truth_coupons`: numbers by name.
        messages: Of the episode.
    """
    if not cart or not wanted:
        return Cart(0, 1, complete=False)
    products = _products(wanted.get("ground_truth_products", ()))
    coupons = wanted.get("ground_truth_coupons", {})
    used = [
        coupon
        for coupon in cart.get("used_coupons", ())
        if coupons.get(coupon.get("coupon_name", "")) == int(coupon.get("quantity", 0))
    ]
    matched = len(products & _products(cart.get("items", ()))) + len(used)
    return Cart(matched, len(products) + len(coupons), is_complete(messages))


def is_complete(messages: Sequence[Mapping[str, Any]]) -> bool:
    """Whether the last message is neither a tool call nor a tool result."""
    if not messages or messages[-1].get("role") == "tool":
        return False
    return not (messages[-1].get("role") == "assistant" and messages[-1].get("tool_calls"))


def accuracy(carts: Sequence[Cart]) -> tuple[float, float, bool]:
    """The mean score, the share of everything wanted that matches, and whether the run is valid.

    A run is valid where at most a tenth of its episodes is incomplete.

    Raises:
        ValueError: The list is empty.
    """
    if not carts:
        raise ValueError("no cart to judge")
    expected = sum(cart.expected for cart in carts)
    incomplete = sum(not cart.complete for cart in carts) / len(carts)
    matched = sum(cart.matched for cart in carts)
    rate = matched / expected if expected else 0.0
    return sum(cart.score for cart in carts) / len(carts), rate, incomplete <= _MOST_INCOMPLETE


def _products(items: Sequence[Mapping[str, Any]]) -> set[str]:
    return {item["product_id"] for item in items if item.get("product_id")}
