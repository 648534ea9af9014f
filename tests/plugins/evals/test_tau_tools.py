"""tau-bench's tools on small databases: what they change, what they refuse, and the reward."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.environments.tau.airline import airline_tools
from loadgen.plugins.evals.environments.tau.retail import retail_tools
from loadgen.plugins.evals.environments.tau.reward import act, database_hash, reward_of

if TYPE_CHECKING:
    from loadgen.plugins.agents.toolset import State, Toolset

DAY = {"status": "available", "available_seats": {"economy": 1}, "prices": {"economy": 100}}


def flight(number: str, origin: str, destination: str, times: tuple[str, str]) -> dict[str, Any]:
    """A flight with seats on the 20th and 21st."""
    return {
        "flight_number": number,
        "origin": origin,
        "destination": destination,
        "scheduled_departure_time_est": times[0],
        "scheduled_arrival_time_est": times[1],
        "dates": {"2024-05-20": DAY, "2024-05-21": {**DAY, "prices": {"economy": 70}}},
    }


@pytest.fixture
def airline() -> State:
    """Two flights, a user with three ways to pay, no reservation."""
    methods = {
        "gift": {"source": "gift_card", "amount": 120},
        "note": {"source": "certificate", "amount": 10},
        "card": {"source": "credit_card"},
    }
    return {
        "flights": {
            "F1": flight("F1", "JFK", "ORD", ("08:00:00", "09:00:00")),
            "F2": flight("F2", "ORD", "SEA", ("10:00:00", "12:00:00")),
        },
        "reservations": {},
        "users": {"ann": {"payment_methods": methods, "reservations": []}},
    }


BOOKING = {
    "user_id": "ann",
    "origin": "JFK",
    "destination": "ORD",
    "flight_type": "one_way",
    "cabin": "economy",
    "flights": [{"flight_number": "F1", "date": "2024-05-20"}],
    "passengers": [{"first_name": "Ann"}],
    "payment_methods": [{"payment_id": "gift", "amount": 120}, {"payment_id": "note", "amount": 10}],
    "total_baggages": 1,
    "nonfree_baggages": 0,
    "insurance": "yes",
}


def test_a_reservation(airline: State) -> None:
    """Booking pays, changing pays the difference, cancelling books back."""
    tools = airline_tools()
    booked = json.loads(tools.observe(airline, "book_reservation", BOOKING))
    assert booked["reservation_id"] == "HATHAT"
    assert booked["flights"] == [
        {"flight_number": "F1", "date": "2024-05-20", "price": 100, "origin": "JFK", "destination": "ORD"}
    ]
    assert airline["users"]["ann"]["payment_methods"].keys() == {"gift", "card"}
    assert airline["users"]["ann"]["payment_methods"]["gift"]["amount"] == 0
    change = {
        "reservation_id": "HATHAT",
        "cabin": "economy",
        "flights": [{"flight_number": "F1", "date": "2024-05-21"}],
        "payment_id": "gift",
    }
    assert (
        json.loads(tools.observe(airline, "update_reservation_flights", change))["flights"][0]["price"] == 70
    )
    assert airline["users"]["ann"]["payment_methods"]["gift"]["amount"] == 30
    baggage = {"reservation_id": "HATHAT", "total_baggages": 2, "nonfree_baggages": 1, "payment_id": "gift"}
    refused = tools.observe(airline, "update_reservation_baggages", baggage)
    assert refused == "Error: gift card balance is not enough"
    tools.observe(airline, "update_reservation_baggages", {**baggage, "payment_id": "card"})
    tools.observe(airline, "cancel_reservation", {"reservation_id": "HATHAT"})
    history = [payment["amount"] for payment in airline["reservations"]["HATHAT"]["payment_history"]]
    assert history == [120, 10, -30, 50, -120, -10, 30, -50]
    assert BOOKING["payment_methods"] == [
        {"payment_id": "gift", "amount": 120},
        {"payment_id": "note", "amount": 10},
    ]


def test_what_the_airline_says(airline: State) -> None:
    """Refusals, arguments that a tool does not take, and tools that there are not."""
    tools = airline_tools()

    def say(name: str, **arguments: Any) -> str:
        return tools.observe(airline, name, arguments)

    two = {**BOOKING, "passengers": [{}, {}]}
    assert say("book_reservation", **two) == "Error: not enough seats on flight F1"
    assert "total price is 100, but paid 130" in say("book_reservation", **{**BOOKING, "insurance": "no"})
    assert say("get_user_details", user_id="bob") == "Error: user not found"
    assert say("get_reservation_details", reservation_id="X") == "Error: user not found"
    assert say("calculate", expression="(1 + 2) * 1.005") == "3.01"
    assert say("calculate", expression="1/0") == "Error: division by zero"
    assert say("calculate", expression="9**9**9") == "Error: the power is too great"
    assert say("calculate", expression="a") == "Error: invalid characters in expression"
    assert say("fly") == "Unknown action fly"
    missing = "GetUserDetails.invoke() missing 1 required positional argument: 'user_id'"
    assert say("get_user_details") == f"Error: {missing}"
    assert tools.observe(airline, "think", "{").startswith("Error: ")
    assert say("transfer_to_human_agents", summary="x") == "Transfer successful"
    pairs = json.loads(say("search_onestop_flight", origin="JFK", destination="SEA", date="2024-05-20"))
    assert [[leg["flight_number"] for leg in pair] for pair in pairs] == [["F1", "F2"]]
    assert (
        len(json.loads(say("search_direct_flight", origin="JFK", destination="ORD", date="2024-05-20"))) == 1
    )
    assert say("send_certificate", user_id="ann", amount=5).startswith(
        "Certificate certificate_3221322 added"
    )


@pytest.fixture
def shop() -> State:
    """A pending and a delivered order of one product with two variants."""
    variants = {
        "1": {"price": 10.0, "options": {"size": "S"}, "available": True},
        "2": {"price": 12.5, "options": {"size": "L"}, "available": True},
    }

    def order(name: str, status: str) -> dict[str, Any]:
        paid = {"transaction_type": "payment", "amount": 10.0, "payment_method_id": "gift_card_1"}
        return {
            "order_id": name,
            "user_id": "ann",
            "status": status,
            "items": [{"item_id": "1", "product_id": "p", "price": 10.0, "options": {"size": "S"}}],
            "payment_history": [paid],
        }

    return {
        "orders": {"#A": order("#A", "pending"), "#B": order("#B", "delivered")},
        "products": {"p": {"name": "Lamp", "product_id": "p", "variants": variants}},
        "users": {
            "ann": {
                "name": {"first_name": "Ann", "last_name": "Li"},
                "email": "Ann@x.org",
                "address": {"zip": "1"},
                "payment_methods": {
                    "gift_card_1": {"source": "gift_card", "balance": 2.5},
                    "card": {"source": "credit_card"},
                },
            }
        },
    }


ITEMS = {"item_ids": ["1"], "new_item_ids": ["2"]}
ADDRESS = dict.fromkeys(("address1", "address2", "city", "state", "country"), "x") | {"zip": "9"}


def test_orders(shop: State) -> None:
    """Items, payment and address of a pending order; exchange of a delivered one."""
    tools = retail_tools()
    changed = json.loads(
        tools.observe(
            shop,
            "modify_pending_order_items",
            {"order_id": "#A", **ITEMS, "payment_method_id": "gift_card_1"},
        )
    )
    assert (changed["status"], changed["items"][0]["price"]) == ("pending (item modified)", 12.5)
    assert shop["users"]["ann"]["payment_methods"]["gift_card_1"]["balance"] == 0
    again = tools.observe(shop, "modify_pending_order_address", {"order_id": "#A", **ADDRESS})
    assert again == "Error: non-pending order cannot be modified"
    exchange = {"order_id": "#B", **ITEMS, "payment_method_id": "card"}
    assert (
        json.loads(tools.observe(shop, "exchange_delivered_order_items", exchange))[
            "exchange_price_difference"
        ]
        == 2.5
    )
    twice = {"order_id": "#B", "item_ids": ["1", "1"], "payment_method_id": "card"}
    assert tools.observe(shop, "return_delivered_order_items", twice) == (
        "Error: non-delivered order cannot be returned"
    )


def test_refunds_and_searches(shop: State) -> None:
    """A gift card gets its money back; users are found by address and name."""
    tools = retail_tools()
    paid = json.loads(
        tools.observe(shop, "modify_pending_order_payment", {"order_id": "#A", "payment_method_id": "card"})
    )
    assert [entry["transaction_type"] for entry in paid["payment_history"]] == [
        "payment",
        "payment",
        "refund",
    ]
    assert shop["users"]["ann"]["payment_methods"]["gift_card_1"]["balance"] == 12.5
    reason = tools.observe(shop, "cancel_pending_order", {"order_id": "#A", "reason": "bored"})
    assert reason == "Error: invalid reason"
    cancel = {"order_id": "#A", "reason": "no longer needed"}
    assert json.loads(tools.observe(shop, "cancel_pending_order", cancel))["status"] == "cancelled"
    assert tools.observe(shop, "find_user_id_by_email", {"email": "ann@X.org"}) == "ann"
    name = {"first_name": "ann", "last_name": "LI", "zip": "1"}
    assert tools.observe(shop, "find_user_id_by_name_zip", name) == "ann"
    assert tools.observe(shop, "list_all_product_types", {}) == '{"Lamp": "p"}'
    wrong = {"order_id": "#B", "item_ids": ["7"], "payment_method_id": "gift_card_1"}
    assert tools.observe(shop, "return_delivered_order_items", wrong) == "Error: some item not found"


@pytest.mark.parametrize("tools", [airline_tools(), retail_tools()], ids=["airline", "retail"])
def test_every_tool_has_a_function_and_a_schema(tools: Toolset) -> None:
    """Under the same name."""
    names = [schema["function"]["name"] for schema in tools.schemas]
    assert names == list(tools.functions)


def test_reward(airline: State) -> None:
    """The database must match, and each output be said."""
    expected = json.loads(json.dumps(airline))
    act(airline_tools(), expected, [{"name": "book_reservation", "kwargs": BOOKING}])
    assert not reward_of(airline, expected, [], []).database_matches
    act(airline_tools(), airline, [{"name": "book_reservation", "kwargs": BOOKING}])
    assert reward_of(airline, expected, ["It costs $1,300."], ["1300"]).value == 1
    silent = reward_of(airline, expected, ["It costs $1,300."], ["1300", "HAT"])
    assert (silent.value, silent.outputs) == (0, {"1300": True, "HAT": False})
    assert database_hash({"b": [1], "a": {"y": 1, "x": 2}}) == database_hash(
        {"a": {"x": 2, "y": 1}, "b": [1]}
    )
    assert database_hash({"a": 1}) != database_hash({"a": 1.0})
