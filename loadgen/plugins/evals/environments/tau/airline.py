"""tau-bench's airline: sierra-research/tau-bench at 59a200c6, `tau_bench/envs/airline/tools`.

The state has `flights`, `reservations` and `users`. Quirks of the benchmark are kept: seats are never taken,
new reservations and certificates have fixed identifiers, and a one-stop search takes the second flight's
prices from the first day.
"""

from __future__ import annotations

import json
from copy import deepcopy
from itertools import product
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.toolset import Refusal
from loadgen.plugins.evals.environments.tau.shared_tools import toolset, user_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.plugins.agents.toolset import State, Toolset

NOW: Final = "2024-05-15T15:00:00"
NEW_RESERVATIONS: Final = ("HATHAT", "HATHAU", "HATHAV")
NEW_CERTIFICATES: Final = ("certificate_3221322", "certificate_3221323", "certificate_3221324")
_INSURANCE: Final = 30
_BAGGAGE: Final = 50
AIRPORTS: Final = {
    "SFO": "San Francisco",
    "JFK": "New York",
    "LAX": "Los Angeles",
    "ORD": "Chicago",
    "DFW": "Dallas",
    "DEN": "Denver",
    "SEA": "Seattle",
    "ATL": "Atlanta",
    "MIA": "Miami",
    "BOS": "Boston",
    "PHX": "Phoenix",
    "IAH": "Houston",
    "LAS": "Las Vegas",
    "MCO": "Orlando",
    "EWR": "Newark",
    "CLT": "Charlotte",
    "MSP": "Minneapolis",
    "DTW": "Detroit",
    "PHL": "Philadelphia",
    "LGA": "LaGuardia",
}


def airline_tools() -> Toolset:
    """All tools of the airline: the functions of this module by the names of the schemas."""
    return toolset("airline", globals())


def book_reservation(
    state: State,
    user_id: str,
    origin: str,
    destination: str,
    flight_type: str,
    cabin: str,
    flights: list[Any],
    passengers: list[Any],
    payment_methods: list[Any],
    total_baggages: int,
    nonfree_baggages: int,
    insurance: str,
) -> str:
    """Book flights at the listed prices; payments must add up to the total."""
    methods = user_of(state, user_id)["payment_methods"]
    identifier = next(
        (name for name in NEW_RESERVATIONS[:-1] if name not in state["reservations"]), NEW_RESERVATIONS[-1]
    )
    priced = deepcopy(flights)
    total = 0
    for flight in priced:
        _price(state, flight, cabin, len(passengers))
        total += flight["price"] * len(passengers)
    total += _INSURANCE * len(passengers) if insurance == "yes" else 0
    total += _BAGGAGE * nonfree_baggages
    _check_payments(methods, payment_methods, total)
    for payment in payment_methods:
        method = methods[payment["payment_id"]]
        if method["source"] == "gift_card":
            method["amount"] -= payment["amount"]
        elif method["source"] == "certificate":
            del methods[payment["payment_id"]]
    reservation = {
        "reservation_id": identifier,
        "user_id": user_id,
        "origin": origin,
        "destination": destination,
        "flight_type": flight_type,
        "cabin": cabin,
        "flights": priced,
        "passengers": passengers,
        "payment_history": payment_methods,
        "created_at": NOW,
        "total_baggages": total_baggages,
        "nonfree_baggages": nonfree_baggages,
        "insurance": insurance,
    }
    state["reservations"][identifier] = reservation
    state["users"][user_id]["reservations"].append(identifier)
    return json.dumps(reservation)


def _price(state: State, flight: dict[str, Any], cabin: str, seats: int) -> None:
    """Set the price and the places of a reservation's flight."""
    number, date = flight["flight_number"], flight["date"]
    if number not in state["flights"]:
        raise Refusal(f"flight {number} not found")
    schedule = state["flights"][number]
    if date not in schedule["dates"]:
        raise Refusal(f"flight {number} not found on date {date}")
    day = schedule["dates"][date]
    if day["status"] != "available":
        raise Refusal(f"flight {number} not available on date {date}")
    if day["available_seats"][cabin] < seats:
        raise Refusal(f"not enough seats on flight {number}")
    flight["price"] = day["prices"][cabin]
    flight["origin"], flight["destination"] = schedule["origin"], schedule["destination"]


def _check_payments(methods: dict[str, Any], payments: list[Any], total: float) -> None:
    for payment in payments:
        identifier, amount = payment["payment_id"], payment["amount"]
        if identifier not in methods:
            raise Refusal(f"payment method {identifier} not found")
        method = methods[identifier]
        if method["source"] in {"gift_card", "certificate"} and method["amount"] < amount:
            raise Refusal(f"not enough balance in payment method {identifier}")
    paid = sum(payment["amount"] for payment in payments)
    if paid != total:
        raise Refusal(f"payment amount does not add up, total price is {total}, but paid {paid}")


def cancel_reservation(state: State, reservation_id: str) -> str:
    """Cancel a reservation and refund the payments."""
    reservation = _reservation_of(state, reservation_id)
    history = reservation["payment_history"]
    refunds = [{"payment_id": paid["payment_id"], "amount": -paid["amount"]} for paid in history]
    history.extend(refunds)
    reservation["status"] = "cancelled"
    return json.dumps(reservation)


def get_reservation_details(state: State, reservation_id: str) -> str:
    """A reservation."""
    if reservation_id not in state["reservations"]:
        raise Refusal("user not found")
    return json.dumps(state["reservations"][reservation_id])


def list_all_airports(_state: State) -> str:
    """Airports by city."""
    return json.dumps(AIRPORTS)


def search_direct_flight(state: State, origin: str, destination: str, date: str) -> str:
    """Available flights from one airport to another on a day."""
    return json.dumps(
        [
            _on_day(flight, date)
            for flight in state["flights"].values()
            if flight["origin"] == origin
            and flight["destination"] == destination
            and _available(flight, date)
        ]
    )


def search_onestop_flight(state: State, origin: str, destination: str, date: str) -> str:
    """Pairs of available flights with one stop between."""
    return json.dumps(list(_pairs(state["flights"].values(), origin, destination, date)))


def _pairs(flights: Any, origin: str, destination: str, date: str) -> Iterator[list[dict[str, Any]]]:
    leaving = [flight for flight in flights if flight["origin"] == origin]
    arriving = [flight for flight in flights if flight["destination"] == destination]
    for first, second in product(leaving, arriving):
        if first["destination"] != second["origin"]:
            continue
        over_night = "+1" in first["scheduled_arrival_time_est"]
        next_date = f"2024-05-{int(date[-2:]) + 1}" if over_night else date
        if first["scheduled_arrival_time_est"] > second["scheduled_departure_time_est"]:
            continue
        if _available(first, date) and _available(second, next_date):
            yield [_on_day(first, date) | {"date": date}, _on_day(second, date) | {"date": next_date}]


def _available(flight: dict[str, Any], date: str) -> bool:
    return date in flight["dates"] and flight["dates"][date]["status"] == "available"


def _on_day(flight: dict[str, Any], date: str) -> dict[str, Any]:
    return {**{key: value for key, value in flight.items() if key != "dates"}, **flight["dates"][date]}


def send_certificate(state: State, user_id: str, amount: int) -> str:
    """Give a user a certificate, at most three."""
    methods = user_of(state, user_id)["payment_methods"]
    identifier = next((name for name in NEW_CERTIFICATES if name not in methods), None)
    if identifier is None:
        return "None"
    methods[identifier] = {"source": "certificate", "amount": amount, "id": identifier}
    return f"Certificate {identifier} added to user {user_id} with amount {amount}."


def update_reservation_baggages(
    state: State, reservation_id: str, total_baggages: int, nonfree_baggages: int, payment_id: str
) -> str:
    """Change the baggage of a reservation; more baggage that is not free is paid."""
    reservation = _reservation_of(state, reservation_id)
    price = _BAGGAGE * max(0, nonfree_baggages - reservation["nonfree_baggages"])
    method = _method_for(state, reservation, payment_id, price)
    reservation["total_baggages"] = total_baggages
    reservation["nonfree_baggages"] = nonfree_baggages
    _pay(reservation, method, payment_id, price)
    return json.dumps(reservation)


def update_reservation_flights(
    state: State, reservation_id: str, cabin: str, flights: list[Any], payment_id: str
) -> str:
    """Put other flights into a reservation; the difference is paid or refunded."""
    reservation = _reservation_of(state, reservation_id)
    seats = len(reservation["passengers"])
    total = 0
    for flight in flights:
        unchanged = _unchanged(reservation, flight, cabin)
        if unchanged is None:
            _price(state, flight, cabin, seats)
        else:
            flight |= {key: unchanged[key] for key in ("price", "origin", "destination")}
        total += flight["price"] * seats
    total -= sum(flight["price"] for flight in reservation["flights"]) * seats
    method = _method_for(state, reservation, payment_id, total)
    reservation["flights"] = flights
    _pay(reservation, method, payment_id, total)
    return json.dumps(reservation)


def _unchanged(reservation: dict[str, Any], flight: dict[str, Any], cabin: str) -> dict[str, Any] | None:
    """An unchanged flight of a reservation, if any."""
    return next(
        (
            old
            for old in reservation["flights"]
            if old["flight_number"] == flight["flight_number"]
            and old["date"] == flight["date"]
            and cabin == reservation["cabin"]
        ),
        None,
    )


def update_reservation_passengers(state: State, reservation_id: str, passengers: list[Any]) -> str:
    """Put other passengers into a reservation, as many as before."""
    reservation = _reservation_of(state, reservation_id)
    if len(passengers) != len(reservation["passengers"]):
        raise Refusal("number of passengers does not match")
    reservation["passengers"] = passengers
    return json.dumps(reservation)


def _reservation_of(state: State, reservation_id: str) -> Any:
    if reservation_id not in state["reservations"]:
        raise Refusal("reservation not found")
    return state["reservations"][reservation_id]


def _method_for(state: State, reservation: dict[str, Any], payment_id: str, price: float) -> Any:
    """A payment method that can pay for a change."""
    methods = state["users"][reservation["user_id"]]["payment_methods"]
    if payment_id not in methods:
        raise Refusal("payment method not found")
    method = methods[payment_id]
    if method["source"] == "certificate":
        raise Refusal("certificate cannot be used to update reservation")
    if method["source"] == "gift_card" and method["amount"] < price:
        raise Refusal("gift card balance is not enough")
    return method


def _pay(reservation: dict[str, Any], method: dict[str, Any], payment_id: str, price: float) -> None:
    if method["source"] == "gift_card":
        method["amount"] -= price
    if price != 0:
        reservation["payment_history"].append({"payment_id": payment_id, "amount": price})
