"""tau-bench's shop: sierra-research/tau-bench at 59a200c6, `tau_bench/envs/retail/tools`.

The state has `orders`, `products` and `users`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.toolset import Refusal
from loadgen.plugins.evals.environments.tau.shared_tools import toolset, user_of

if TYPE_CHECKING:
    from loadgen.plugins.agents.toolset import State, Toolset

_REASONS: Final = frozenset({"no longer needed", "ordered by mistake"})


def retail_tools() -> Toolset:
    """All tools of the shop: the functions of this module by the names of the schemas."""
    return toolset("retail", globals())


def cancel_pending_order(state: State, order_id: str, reason: str) -> str:
    """Cancel an order; gift cards are refunded at once."""
    order = _order_of(state, order_id, "pending", "cancelled")
    if reason not in _REASONS:
        raise Refusal("invalid reason")
    refunds = []
    for payment in order["payment_history"]:
        refunds.append(_transaction("refund", payment["amount"], payment["payment_method_id"]))
        if "gift_card" in payment["payment_method_id"]:
            _charge(_methods(state, order)[payment["payment_method_id"]], -payment["amount"])
    order["status"] = "cancelled"
    order["cancel_reason"] = reason
    order["payment_history"].extend(refunds)
    return json.dumps(order)


def exchange_delivered_order_items(
    state: State, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Request exchange items of equal products for a delivered order."""
    order = _order_of(state, order_id, "delivered", "exchanged")
    difference = round(_price_difference(state, order, item_ids, new_item_ids), 2)
    method = _method_of(state, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise Refusal("insufficient gift card balance to pay for the price difference")
    order["status"] = "exchange requested"
    order["exchange_items"] = sorted(item_ids)
    order["exchange_new_items"] = sorted(new_item_ids)
    order["exchange_payment_method_id"] = payment_method_id
    order["exchange_price_difference"] = difference
    return json.dumps(order)


def find_user_id_by_email(state: State, email: str) -> str:
    """The identifier of the user with this address."""
    for user_id, profile in state["users"].items():
        if profile["email"].lower() == email.lower():
            return str(user_id)
    raise Refusal("user not found")


def find_user_id_by_name_zip(state: State, first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 (as in the schema)
    """The identifier of the user with this name and postal code."""
    wanted = (first_name.lower(), last_name.lower(), zip)
    for user_id, profile in state["users"].items():
        name = profile["name"]
        if (name["first_name"].lower(), name["last_name"].lower(), profile["address"]["zip"]) == wanted:
            return str(user_id)
    raise Refusal("user not found")


def get_order_details(state: State, order_id: str) -> str:
    """An order."""
    if order_id not in state["orders"]:
        raise Refusal("order not found")
    return json.dumps(state["orders"][order_id])


def get_product_details(state: State, product_id: str) -> str:
    """A product with all variants."""
    if product_id not in state["products"]:
        raise Refusal("product not found")
    return json.dumps(state["products"][product_id])


def list_all_product_types(state: State) -> str:
    """Identifiers of products by name."""
    named = {product["name"]: product["product_id"] for product in state["products"].values()}
    return json.dumps(dict(sorted(named.items())))


def modify_pending_order_address(
    data: State,
    /,
    order_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 (as in the schema)
) -> str:
    """Change where an order goes."""
    order = _pending_order(data, order_id)
    order["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(order)


def modify_pending_order_items(
    state: State, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
) -> str:
    """Replace items of an order by items of equal products, and pay the difference."""
    order = _pending_order(state, order_id)
    difference = _price_difference(state, order, item_ids, new_item_ids)
    method = _method_of(state, order, payment_method_id)
    if method["source"] == "gift_card" and method["balance"] < difference:
        raise Refusal("insufficient gift card balance to pay for the new item")
    kind = "payment" if difference > 0 else "refund"
    order["payment_history"].append(_transaction(kind, abs(difference), payment_method_id))
    if method["source"] == "gift_card":
        _charge(method, difference)
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variant = state["products"][item["product_id"]]["variants"][new_item_id]
        item |= {"item_id": new_item_id, "price": variant["price"], "options": variant["options"]}
    order["status"] = "pending (item modified)"
    return json.dumps(order)


def modify_pending_order_payment(state: State, order_id: str, payment_method_id: str) -> str:
    """Pay an order by another method."""
    order = _pending_order(state, order_id)
    method = _method_of(state, order, payment_method_id)
    first = order["payment_history"][0]
    if len(order["payment_history"]) > 1 or first["transaction_type"] != "payment":
        raise Refusal("there should be exactly one payment for a pending order")
    if first["payment_method_id"] == payment_method_id:
        raise Refusal("the new payment method should be different from the current one")
    amount = first["amount"]
    if method["source"] == "gift_card" and method["balance"] < amount:
        raise Refusal("insufficient gift card balance to pay for the order")
    order["payment_history"].extend(
        [
            _transaction("payment", amount, payment_method_id),
            _transaction("refund", amount, first["payment_method_id"]),
        ]
    )
    if method["source"] == "gift_card":
        _charge(method, amount)
    if "gift_card" in first["payment_method_id"]:
        _charge(_methods(state, order)[first["payment_method_id"]], -amount)
    return json.dumps(order)


def modify_user_address(
    data: State,
    /,
    user_id: str,
    address1: str,
    address2: str,
    city: str,
    state: str,
    country: str,
    zip: str,  # noqa: A002 (as in the schema)
) -> str:
    """Change the default address of a user."""
    user = user_of(data, user_id)
    user["address"] = _address(address1, address2, city, state, country, zip)
    return json.dumps(user)


def return_delivered_order_items(
    state: State, order_id: str, item_ids: list[str], payment_method_id: str
) -> str:
    """Request the return of items of a delivered order."""
    order = _order_of(state, order_id, "delivered", "returned")
    _method_of(state, order, payment_method_id)
    original = order["payment_history"][0]["payment_method_id"]
    if "gift_card" not in payment_method_id and payment_method_id != original:
        raise Refusal("payment method should be either the original payment method or a gift card")
    if _missing(order, item_ids) is not None:
        raise Refusal("some item not found")
    order["status"] = "return requested"
    order["return_items"] = sorted(item_ids)
    order["return_payment_method_id"] = payment_method_id
    return json.dumps(order)


def _order_of(state: State, order_id: str, status: str, done: str) -> Any:
    if order_id not in state["orders"]:
        raise Refusal("order not found")
    order = state["orders"][order_id]
    if order["status"] != status:
        raise Refusal(f"non-{status} order cannot be {done}")
    return order


def _pending_order(state: State, order_id: str) -> Any:
    return _order_of(state, order_id, "pending", "modified")


def _methods(state: State, order: dict[str, Any]) -> Any:
    return state["users"][order["user_id"]]["payment_methods"]


def _method_of(state: State, order: dict[str, Any], payment_method_id: str) -> Any:
    methods = _methods(state, order)
    if payment_method_id not in methods:
        raise Refusal("payment method not found")
    return methods[payment_method_id]


def _missing(order: dict[str, Any], item_ids: list[str]) -> str | None:
    """The first item that the order has less often than the list."""
    ordered = [item["item_id"] for item in order["items"]]
    return next((name for name in item_ids if item_ids.count(name) > ordered.count(name)), None)


def _price_difference(
    state: State, order: dict[str, Any], item_ids: list[str], new_item_ids: list[str]
) -> float:
    """The price of the new items less that of the old ones, of equal products."""
    missing = _missing(order, item_ids)
    if missing is not None:
        raise Refusal(f"{missing} not found")
    if len(item_ids) != len(new_item_ids):
        raise Refusal("the number of items to be exchanged should match")
    difference: float = 0
    for item_id, new_item_id in zip(item_ids, new_item_ids, strict=True):
        item = _item(order, item_id)
        variants = state["products"][item["product_id"]]["variants"]
        if new_item_id not in variants or not variants[new_item_id]["available"]:
            raise Refusal(f"new item {new_item_id} not found or available")
        difference += variants[new_item_id]["price"] - item["price"]
    return difference


def _item(order: dict[str, Any], item_id: str) -> Any:
    return [item for item in order["items"] if item["item_id"] == item_id][0]  # noqa: RUF015 (its IndexError is the observation)


def _charge(method: dict[str, Any], amount: float) -> None:
    method["balance"] = round(method["balance"] - amount, 2)


def _transaction(kind: str, amount: float, payment_method_id: str) -> dict[str, Any]:
    return {"transaction_type": kind, "amount": amount, "payment_method_id": payment_method_id}


def _address(
    address1: str, address2: str, city: str, state: str, country: str, zip_code: str
) -> dict[str, str]:
    """An address in the format of orders and users."""
    return {
        "address1": address1,
        "address2": address2,
        "city": city,
        "state": state,
        "country": country,
        "zip": zip_code,
    }
