"""tau2's airline and shop: tau-bench's, with the changes that tau2 made.

A booking takes seats, a change of flights keeps its cabin, and results have the members of tau2's models in
their order. Refusals are worded as there.
"""

from __future__ import annotations

import json
from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from workloads.environments.tau.airline import NEW_RESERVATIONS
from workloads.environments.tau.tau2 import tau2_state_tools
from workloads.environments.tau2.world import Observation, declared, digest_of
from workloads.environments.toolset import Refusal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.environments.toolset import State

_LEG: Final = ("flight_number", "origin", "destination", "date", "price")
_PASSENGER: Final = ("first_name", "last_name", "dob")
_RESERVATION: Final = (
    "reservation_id",
    "user_id",
    "origin",
    "destination",
    "flight_type",
    "cabin",
    "flights",
    "passengers",
    "payment_history",
    "created_at",
    "total_baggages",
    "nonfree_baggages",
    "insurance",
    "status",
)
_DIRECT: Final = (
    "flight_number",
    "origin",
    "destination",
    "status",
    "scheduled_departure_time_est",
    "scheduled_arrival_time_est",
    "date",
    "available_seats",
    "prices",
)
_ORDER: Final = (
    "order_id",
    "user_id",
    "address",
    "items",
    "status",
    "fulfillments",
    "payment_history",
    "cancel_reason",
    "exchange_items",
    "exchange_new_items",
    "exchange_payment_method_id",
    "exchange_price_difference",
    "return_items",
    "return_payment_method_id",
)
_ADDRESS: Final = ("address1", "address2", "city", "country", "state", "zip")
_RESERVATION_TOOLS: Final = frozenset(
    {
        "book_reservation",
        "cancel_reservation",
        "get_reservation_details",
        "update_reservation_baggages",
        "update_reservation_flights",
        "update_reservation_passengers",
    }
)
_NO_SUCH_USER: Final = "user not found"


class Counter:
    """The airline or the shop.

    Args:
        domain: `airline` or `retail`.
        state: The database; it changes in place.
    """

    def __init__(self, domain: str, state: State) -> None:
        self._domain = domain
        self._state = state
        self._functions = tau2_state_tools(domain).functions
        self._schemas = declared(domain)
        self._names = {schema["function"]["name"] for schema in self._schemas}

    def tools(self, requestor: str) -> Sequence[Mapping[str, Any]]:
        """The tools of the agent; a user has none."""
        return self._schemas if requestor == "assistant" else ()

    def call(self, requestor: str, name: str, arguments: Mapping[str, Any]) -> Observation:
        """Call a tool."""
        if requestor != "assistant" or name not in self._names:
            return Observation(f"Error: Tool '{name}' not found.", failed=True)
        values = deepcopy(dict(arguments))
        try:
            return Observation(self._result(name, values))
        except Refusal as refusal:
            return Observation(f"Error: {self._worded(name, str(refusal), values)}", failed=True)
        except Exception as error:  # noqa: BLE001 (a model can pass anything; the world says so)
            return Observation(f"Error: {error}", failed=True)

    def act(self, action: Mapping[str, Any]) -> None:
        """Run one of a task's own actions; one that fails changes nothing."""
        self.call(action.get("requestor") or "assistant", action["name"], action["arguments"])

    def digest(self) -> str:
        """SHA-256 of the database."""
        return digest_of(self._state)

    def holds(self, assertion: Mapping[str, Any]) -> bool:
        """Whether an assertion holds: these domains have none."""
        raise Refusal(f"{self._domain} has no assertion {assertion['func_name']}")

    def _result(self, name: str, values: dict[str, Any]) -> str:
        if name == "book_reservation" and values["user_id"] in self._state["users"]:
            self._require_free_number()
        match name:
            case "get_flight_status":
                return str(self._on_day(**values)["status"])
            case "get_item_details":
                return json.dumps(self._item(**values))
            case "search_onestop_flight":
                return json.dumps(list(self._one_stop(**values)))
            case "modify_pending_order_items":
                return json.dumps(_shape_order(self._modify_items(**values)))
        return self._shaped(name, values, self._functions[name](self._state, **values))

    def _shaped(self, name: str, values: dict[str, Any], text: str) -> str:
        """The result of a tau-bench tool in tau2's format, with tau2's further changes."""
        if name == "book_reservation":
            self._take_seats(json.loads(text))
        if name == "update_reservation_flights":
            self._state["reservations"][values["reservation_id"]]["cabin"] = values["cabin"]
        if name in _RESERVATION_TOOLS:
            identifier = json.loads(text)["reservation_id"]
            return json.dumps(_shape_reservation(self._state["reservations"][identifier]))
        if "order_id" in values:
            return json.dumps(_shape_order(self._state["orders"][values["order_id"]]))
        match name:
            case "search_direct_flight":
                return json.dumps([_members(flight, _DIRECT) for flight in json.loads(text)])
            case "list_all_airports":
                return json.dumps([{"iata": code, "city": city} for code, city in json.loads(text).items()])
            case "modify_user_address":
                user = json.loads(text)
                return json.dumps({**user, "address": _members(user["address"], _ADDRESS)})
        return text

    def _on_day(self, flight_number: str, date: str) -> Any:
        if flight_number not in self._state["flights"]:
            raise Refusal(f"Flight {flight_number} not found")
        dates = self._state["flights"][flight_number]["dates"]
        if date not in dates:
            raise Refusal(f"Flight {flight_number} not found on date {date}")
        return dates[date]

    def _item(self, item_id: str) -> Any:
        for product in self._state["products"].values():
            if item_id in product["variants"]:
                return product["variants"][item_id]
        raise Refusal("Item not found")

    def _one_stop(self, origin: str, destination: str, date: str) -> Iterator[Any]:
        """Pairs of available flights with one stop; the second may leave on the day after."""
        for first in self._leaving(date):
            if first["origin"] != origin:
                continue
            arrival = first["scheduled_arrival_time_est"]
            next_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            for second in self._leaving(next_date):
                goes_on = second["origin"] == first["destination"] and second["destination"] == destination
                if goes_on and second["scheduled_departure_time_est"] >= arrival:
                    yield [first, second]

    def _leaving(self, date: str) -> Iterator[dict[str, Any]]:
        """The flights that can be booked on a day."""
        for flight in self._state["flights"].values():
            day = flight["dates"].get(date)
            if day is not None and day["status"] == "available":
                yield _members({**flight, **day, "date": date}, _DIRECT)

    def _modify_items(
        self, order_id: str, item_ids: list[str], new_item_ids: list[str], payment_method_id: str
    ) -> dict[str, Any]:
        """Put other items into an order; all get the price and options of the last one, as in tau2."""
        order = self._state["orders"].get(order_id, {})
        pairs = list(zip(item_ids, new_item_ids, strict=False))
        if (
            order.get("status") == "pending"
            and len(item_ids) == len(new_item_ids)
            and any(old == new for old, new in pairs)
        ):
            raise Refusal("the new item id should be different from the old item id")
        products = {item["item_id"]: item["product_id"] for item in order.get("items", ())}
        self._functions["modify_pending_order_items"](
            self._state, order_id, item_ids, new_item_ids, payment_method_id
        )
        old, new = pairs[-1]
        variant = self._state["products"][products[old]]["variants"][new]
        for item in order["items"]:
            if item["item_id"] in new_item_ids:
                item |= {"price": variant["price"], "options": variant["options"]}
        modified: dict[str, Any] = order
        return modified

    def _require_free_number(self) -> None:
        """Refuse a booking where all numbers of new reservations are taken."""
        if all(number in self._state["reservations"] for number in NEW_RESERVATIONS):
            raise Refusal("too many reservations")

    def _take_seats(self, reservation: Mapping[str, Any]) -> None:
        for leg in reservation["flights"]:
            day = self._on_day(leg["flight_number"], leg["date"])
            day["available_seats"][reservation["cabin"]] -= len(reservation["passengers"])

    def _worded(self, name: str, refusal: str, values: Mapping[str, Any]) -> str:
        """A refusal in tau2's words."""
        if name == "exchange_delivered_order_items" and refusal.endswith("should match"):
            refusal += "."
        if refusal.startswith("new item ") and not self._has_variant(values):
            return "Variant not found"
        if self._domain == "airline":
            if "reservation_id" in values and refusal in {_NO_SUCH_USER, "reservation not found"}:
                return f"Reservation {values['reservation_id']} not found"
            if refusal == _NO_SUCH_USER:
                return f"User {values.get('user_id')} not found"
        if refusal == "payment method should be either the original payment method or a gift card":
            return "Payment method should be the original payment method"
        return refusal[:1].upper() + refusal[1:]

    def _has_variant(self, values: Mapping[str, Any]) -> bool:
        """Whether every new item is a variant of the old item's product."""
        items = {item["item_id"]: item for item in self._state["orders"][values["order_id"]]["items"]}
        return all(
            new in self._state["products"][items[old]["product_id"]]["variants"]
            for old, new in zip(values["item_ids"], values["new_item_ids"], strict=True)
        )


def _members(value: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """The members of a model in declaration order; absent ones are null."""
    return {name: value.get(name) for name in names}


def _shape_reservation(reservation: dict[str, Any]) -> dict[str, Any]:
    """A reservation in the order of tau2's model."""
    shaped = _members(reservation, _RESERVATION)
    shaped["flights"] = [_members(leg, _LEG) for leg in shaped["flights"]]
    shaped["passengers"] = [_members(passenger, _PASSENGER) for passenger in shaped["passengers"]]
    payments = [_members(payment, ("payment_id", "amount")) for payment in shaped["payment_history"]]
    return {**shaped, "payment_history": payments}


def _shape_order(order: dict[str, Any]) -> dict[str, Any]:
    """An order in the order of tau2's model."""
    shaped = _members(order, _ORDER)
    return {**shaped, "address": _members(shaped["address"], _ADDRESS)}
