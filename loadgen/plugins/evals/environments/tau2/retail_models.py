"""tau2's models of the shop: sierra-research/tau2-bench at a2c02472, `domains/retail/data_model.py`.

Models that tools build have tau2's names, which are part of the refusals.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel


class ProductVariant(BaseModel):
    """A variant of a product."""

    item_id: str
    options: dict[str, str]
    available: bool
    price: float


class Product(BaseModel):
    """A product and the variants."""

    name: str
    product_id: str
    variants: dict[str, ProductVariant]


class UserName(BaseModel):
    """The name of a user."""

    first_name: str
    last_name: str


class UserAddress(BaseModel):
    """An address."""

    address1: str
    address2: str
    city: str
    country: str
    state: str
    zip: str


class CreditCard(BaseModel):
    """A credit card."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class GiftCard(BaseModel):
    """A gift card with the remaining amount."""

    source: Literal["gift_card"]
    id: str
    balance: float


class Paypal(BaseModel):
    """An account at PayPal."""

    source: Literal["paypal"]
    id: str


class Shopper(BaseModel):
    """A user with methods to pay."""

    user_id: str
    name: UserName
    address: UserAddress
    email: str
    payment_methods: dict[str, CreditCard | GiftCard | Paypal]
    orders: list[str]


class OrderFullfilment(BaseModel):
    """A delivery of items."""

    tracking_id: list[str]
    item_ids: list[str]


class OrderItem(BaseModel):
    """An item of an order."""

    name: str
    product_id: str
    item_id: str
    price: float
    options: dict[str, str]


class OrderPayment(BaseModel):
    """A payment or a refund."""

    transaction_type: Literal["payment", "refund"]
    amount: float
    payment_method_id: str


class Order(BaseModel):
    """An order."""

    order_id: str
    user_id: str
    address: UserAddress
    items: list[OrderItem]
    status: str
    fulfillments: list[OrderFullfilment]
    payment_history: list[OrderPayment]
    cancel_reason: str | None = None
    exchange_items: list[str] | None = None
    exchange_new_items: list[str] | None = None
    exchange_payment_method_id: str | None = None
    exchange_price_difference: float | None = None
    return_items: list[str] | None = None
    return_payment_method_id: str | None = None


class RetailDB(BaseModel):
    """The database."""

    products: dict[str, Product]
    users: dict[str, Shopper]
    orders: dict[str, Order]
