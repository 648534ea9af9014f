"""tau2's shop: sierra-research/tau2-bench at a2c02472, `domains/retail/tools.py`.

Arguments pass through models. Where a tool of tau2 assigns an argument without a model, it stays as it is.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final, Literal

from loadgen.plugins.agents.toolset import Refusal
from loadgen.plugins.evals.environments.tau2.retail_models import (
    GiftCard,
    OrderPayment,
    RetailDB,
    UserAddress,
)
from loadgen.plugins.evals.environments.tau2.world import Kit, World, calculated_text, declared

if TYPE_CHECKING:
    from loadgen.plugins.evals.environments.tau2.retail_models import (
        CreditCard,
        Order,
        OrderItem,
        Paypal,
        Product,
        ProductVariant,
        Shopper,
    )

_REASONS: Final = frozenset({"no longer needed", "ordered by mistake"})


class RetailTools:
    """The tools of the agent."""

    def __init__(self, database: RetailDB) -> None:
        self._db = database

    def calculate(self, expression: str) -> str:
        """The value of an arithmetic expression, rounded to cents."""
        return calculated_text(expression)

    def cancel_pending_order(self, order_id: str, reason: str) -> Order:
        """Cancel an order; gift cards are refunded at once."""
        order = self._order(order_id, "pending", "cancelled")
        if reason not in _REASONS:
            raise Refusal("Invalid reason")
        refunds = []
        for paid in order.payment_history:
            refunds.append(_transaction("refund", paid.amount, paid.payment_method_id))
            _charge(self._method(order, paid.payment_method_id), -paid.amount)
        order.status = "cancelled"
        order.cancel_reason = reason
        order.payment_history += refunds
        return order

    def exchange_delivered_order_items(
        self, order_id: str, item_ids: Any, new_item_ids: Any, payment_method_id: str
    ) -> Order:
        """Request exchange items of equal products for a delivered order."""
        order = self._order(order_id, "delivered", "exchanged")
        missing = _missing(order, item_ids)
        if missing:
            raise Refusal(f"Number of {missing[0]} not found.")
        if len(item_ids) != len(new_item_ids):
            raise Refusal("The number of items to be exchanged should match.")
        variants = [self._variant(order, *pair) for pair in zip(item_ids, new_item_ids, strict=True)]
        difference = round(_difference(order, item_ids, variants), 2)
        method = self._method(order, payment_method_id)
        if isinstance(method, GiftCard) and method.balance < difference:
            raise Refusal("Insufficient gift card balance to pay for the price difference")
        order.status = "exchange requested"
        order.exchange_items = sorted(item_ids)
        order.exchange_new_items = sorted(new_item_ids)
        order.exchange_payment_method_id = payment_method_id
        order.exchange_price_difference = difference
        return order

    def find_user_id_by_name_zip(self, first_name: str, last_name: str, zip: str) -> str:  # noqa: A002 (as in the schema)
        """The identifier of the user with this name and postal code."""
        for user_id, user in self._db.users.items():
            if (
                user.name.first_name.lower() == first_name.lower()
                and user.name.last_name.lower() == last_name.lower()
                and user.address.zip == zip
            ):
                return user_id
        raise Refusal("User not found")

    def find_user_id_by_email(self, email: str) -> str:
        """The identifier of the user with this address."""
        for user_id, user in self._db.users.items():
            if user.email.lower() == email.lower():
                return user_id
        raise Refusal("User not found")

    def get_order_details(self, order_id: str) -> Order:
        """An order."""
        return self._order(order_id)

    def get_product_details(self, product_id: str) -> Product:
        """A product with all variants."""
        return self._product(product_id)

    def get_item_details(self, item_id: str) -> ProductVariant:
        """A variant of any product."""
        for product in self._db.products.values():
            if item_id in product.variants:
                return product.variants[item_id]
        raise Refusal("Item not found")

    def get_user_details(self, user_id: str) -> Shopper:
        """The profile of a user."""
        return self._user(user_id)

    def list_all_product_types(self) -> str:
        """Identifiers of products by name."""
        named = {product.name: product.product_id for product in self._db.products.values()}
        return json.dumps(named, sort_keys=True)

    def modify_pending_order_address(
        self,
        order_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,  # noqa: A002
    ) -> Order:
        """Change where an order goes, also after a modification of items."""
        order = self._pending(order_id)
        order.address = UserAddress(
            address1=address1, address2=address2, city=city, state=state, country=country, zip=zip
        )
        return order

    def modify_pending_order_items(
        self, order_id: str, item_ids: Any, new_item_ids: Any, payment_method_id: str
    ) -> Order:
        """Replace items of an order and pay the difference; each gets price and options of the last."""
        order = self._order(order_id, "pending", "modified")
        missing = _missing(order, item_ids)
        if missing:
            raise Refusal(f"{missing[0]} not found")
        if len(item_ids) != len(new_item_ids):
            raise Refusal("The number of items to be exchanged should match")
        variants = []
        for old, new in zip(item_ids, new_item_ids, strict=True):
            if old == new:
                raise Refusal("The new item id should be different from the old item id")
            variants.append(self._variant(order, old, new))
        difference = _difference(order, item_ids, variants)
        method = self._method(order, payment_method_id)
        if isinstance(method, GiftCard) and method.balance < difference:
            raise Refusal("Insufficient gift card balance to pay for the new item")
        kind: Any = "payment" if difference > 0 else "refund"
        order.payment_history.append(_transaction(kind, abs(difference), payment_method_id))
        _charge(method, difference)
        for old, new in zip(item_ids, new_item_ids, strict=True):
            item = _item(order, old)
            item.item_id = new
            item.price, item.options = variants[-1].price, variants[-1].options
        order.status = "pending (item modified)"
        return order

    def modify_pending_order_payment(self, order_id: str, payment_method_id: str) -> Order:
        """Pay an order by another method, also after a modification of items."""
        order = self._pending(order_id)
        method = self._method(order, payment_method_id)
        first = order.payment_history[0] if len(order.payment_history) == 1 else None
        if first is None or first.transaction_type != "payment":
            raise Refusal("There should be exactly one payment for a pending order")
        if first.payment_method_id == payment_method_id:
            raise Refusal("The new payment method should be different from the current one")
        if isinstance(method, GiftCard) and method.balance < first.amount:
            raise Refusal("Insufficient gift card balance to pay for the order")
        order.payment_history += [
            _transaction("payment", first.amount, payment_method_id),
            _transaction("refund", first.amount, first.payment_method_id),
        ]
        _charge(method, first.amount)
        _charge(self._method(order, first.payment_method_id), -first.amount)
        return order

    def modify_user_address(
        self,
        user_id: str,
        address1: str,
        address2: str,
        city: str,
        state: str,
        country: str,
        zip: str,  # noqa: A002
    ) -> Shopper:
        """Change the default address of a user."""
        user = self._user(user_id)
        user.address = UserAddress(
            address1=address1, address2=address2, city=city, state=state, country=country, zip=zip
        )
        return user

    def return_delivered_order_items(self, order_id: str, item_ids: Any, payment_method_id: str) -> Order:
        """Request the return of items of a delivered order."""
        order = self._order(order_id, "delivered", "returned")
        method = self._method(order, payment_method_id)
        original = order.payment_history[0].payment_method_id
        if not isinstance(method, GiftCard) and payment_method_id != original:
            raise Refusal("Payment method should be the original payment method")
        if _missing(order, item_ids):
            raise Refusal("Some item not found")
        order.status = "return requested"
        order.return_items = sorted(item_ids)
        order.return_payment_method_id = payment_method_id
        return order

    def transfer_to_human_agents(self, summary: str) -> str:  # noqa: ARG002 (as in the schema)
        """Nothing: the user ends the conversation."""
        return "Transfer successful"

    def _order(self, order_id: str, status: str | None = None, done: str = "") -> Order:
        """An order; with a status, only one that has the status."""
        if order_id not in self._db.orders:
            raise Refusal("Order not found")
        order = self._db.orders[order_id]
        if status is not None and order.status != status:
            raise Refusal(f"Non-{status} order cannot be {done}")
        return order

    def _pending(self, order_id: str) -> Order:
        """A pending order, also after a modification of items."""
        order = self._order(order_id)
        if "pending" not in order.status:
            raise Refusal("Non-pending order cannot be modified")
        return order

    def _user(self, user_id: str) -> Shopper:
        if user_id not in self._db.users:
            raise Refusal("User not found")
        return self._db.users[user_id]

    def _product(self, product_id: str) -> Product:
        if product_id not in self._db.products:
            raise Refusal("Product not found")
        return self._db.products[product_id]

    def _method(self, order: Order, payment_method_id: str) -> CreditCard | GiftCard | Paypal:
        methods = self._user(order.user_id).payment_methods
        if payment_method_id not in methods:
            raise Refusal("Payment method not found")
        return methods[payment_method_id]

    def _variant(self, order: Order, item_id: str, new_item_id: str) -> ProductVariant:
        """An available variant of the product of an item."""
        variants = self._product(_item(order, item_id).product_id).variants
        if new_item_id not in variants:
            raise Refusal("Variant not found")
        if not variants[new_item_id].available:
            raise Refusal(f"New item {new_item_id} not found or available")
        return variants[new_item_id]


def open_retail(content: bytes) -> World:
    """The shop with a database in JSON."""
    database = RetailDB.model_validate_json(content)
    return World({"assistant": Kit(RetailTools(database), declared("retail"), database)})


def _transaction(kind: Literal["payment", "refund"], amount: float, method: str) -> OrderPayment:
    return OrderPayment(transaction_type=kind, amount=amount, payment_method_id=method)


def _charge(method: CreditCard | GiftCard | Paypal, amount: float) -> None:
    """Take an amount from a gift card at once."""
    if isinstance(method, GiftCard):
        method.balance = round(method.balance - amount, 2)


def _missing(order: Order, item_ids: Any) -> list[Any]:
    """The items that the order has less often than the list."""
    ordered = [item.item_id for item in order.items]
    return [item_id for item_id in item_ids if item_ids.count(item_id) > ordered.count(item_id)]


def _item(order: Order, item_id: str) -> OrderItem:
    for item in order.items:
        if item.item_id == item_id:
            return item
    raise Refusal(f"Item {item_id} not found")


def _difference(order: Order, item_ids: Any, variants: list[ProductVariant]) -> float:
    """The price of new items less the price of the old ones."""
    difference: float = 0
    for item_id, variant in zip(item_ids, variants, strict=True):
        difference += variant.price - _item(order, item_id).price
    return difference
