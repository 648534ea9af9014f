"""tau2's airline: sierra-research/tau2-bench at a2c02472, `domains/airline/tools.py`.

Arguments pass through models. Where a tool of tau2 assigns an argument without a model, it stays as it is.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.toolset import Refusal
from loadgen.plugins.evals.environments.tau.airline import AIRPORTS, NEW_CERTIFICATES, NEW_RESERVATIONS, NOW
from loadgen.plugins.evals.environments.tau2.airline_models import (
    AirlineCreditCard,
    AirlineGiftCard,
    AirportCode,
    Certificate,
    DirectFlight,
    FlightDB,
    FlightInfo,
    Passenger,
    Payment,
    Reservation,
    ReservationFlight,
)
from loadgen.plugins.evals.environments.tau2.world import Kit, World, calculated_text, declared

if TYPE_CHECKING:
    from pydantic import BaseModel

    from loadgen.plugins.evals.environments.tau2.airline_models import Traveler

_INSURANCE: Final = 30
_BAGGAGE: Final = 50


class AirlineTools:
    """The tools of the agent."""

    def __init__(self, database: FlightDB) -> None:
        self._db = database

    def book_reservation(
        self,
        user_id: str,
        origin: str,
        destination: str,
        flight_type: Any,
        cabin: Any,
        flights: Any,
        passengers: Any,
        payment_methods: Any,
        total_baggages: Any,
        nonfree_baggages: Any,
        insurance: Any,
    ) -> Reservation:
        """Book flights at the listed prices; payments must add up to the total."""
        legs = _each(FlightInfo, flights)
        travelers = _each(Passenger, passengers)
        payments = _each(Payment, payment_methods)
        user = self._user(user_id)
        reservation = Reservation(
            reservation_id=self._free_number(),
            user_id=user_id,
            origin=origin,
            destination=destination,
            flight_type=flight_type,
            cabin=cabin,
            flights=[],
            passengers=deepcopy(travelers),
            payment_history=deepcopy(payments),
            created_at=NOW,
            total_baggages=total_baggages,
            nonfree_baggages=nonfree_baggages,
            insurance=insurance,
        )
        reservation.flights = [self._leg(leg, cabin, len(travelers)) for leg in legs]
        total = sum(leg.price * len(travelers) for leg in reservation.flights)
        total += _INSURANCE * len(travelers) if insurance == "yes" else 0
        total += _BAGGAGE * nonfree_baggages
        _pay(user, payments, total)
        for leg in legs:
            self._on_day(leg.flight_number, leg.date)["available_seats"][cabin] -= len(travelers)
        self._db.reservations[reservation.reservation_id] = reservation
        user.reservations.append(reservation.reservation_id)
        return reservation

    def calculate(self, expression: str) -> str:
        """The value of an arithmetic expression, rounded to cents."""
        return calculated_text(expression)

    def cancel_reservation(self, reservation_id: str) -> Reservation:
        """Cancel a reservation and refund the payments."""
        reservation = self._reservation(reservation_id)
        history = reservation.payment_history
        history += [Payment(payment_id=paid.payment_id, amount=-paid.amount) for paid in history]
        reservation.status = "cancelled"
        return reservation

    def get_reservation_details(self, reservation_id: str) -> Reservation:
        """A reservation."""
        return self._reservation(reservation_id)

    def get_user_details(self, user_id: str) -> Traveler:
        """The profile of a user."""
        return self._user(user_id)

    def list_all_airports(self) -> list[AirportCode]:
        """Airports and cities."""
        return [AirportCode(iata=code, city=city) for code, city in AIRPORTS.items()]

    def search_direct_flight(self, origin: str, destination: str, date: str) -> list[DirectFlight]:
        """Available flights from one airport to another on a day."""
        return self._available(date, origin, destination)

    def search_onestop_flight(self, origin: str, destination: str, date: str) -> list[list[DirectFlight]]:
        """Pairs of available flights with one stop; the second may leave on the day after."""
        pairs = []
        for first in self._available(date, origin, None):
            arrival = first.scheduled_arrival_time_est
            next_date = f"2024-05-{int(date[-2:]) + 1}" if "+1" in arrival else date
            for second in self._available(next_date, first.destination, destination):
                if second.scheduled_departure_time_est >= arrival:
                    dated = (first, date), (second, next_date)
                    pairs.append([flight.model_copy(update={"date": day}) for flight, day in dated])
        return pairs

    def send_certificate(self, user_id: str, amount: Any) -> str:
        """Give a user a certificate, at most three."""
        methods = self._user(user_id).payment_methods
        for number in NEW_CERTIFICATES:
            if number not in methods:
                methods[number] = Certificate(source="certificate", id=number, amount=amount)
                return f"Certificate {number} added to user {user_id} with amount {amount}."
        raise Refusal("Too many certificates")

    def transfer_to_human_agents(self, summary: str) -> str:  # noqa: ARG002 (as in the schema)
        """Nothing: the user ends the conversation."""
        return "Transfer successful"

    def update_reservation_baggages(
        self, reservation_id: str, total_baggages: Any, nonfree_baggages: Any, payment_id: str
    ) -> Reservation:
        """Change the baggage of a reservation; more baggage that is not free is paid."""
        reservation = self._reservation(reservation_id)
        price = _BAGGAGE * max(0, nonfree_baggages - reservation.nonfree_baggages)
        self._settle(reservation, payment_id, price)
        reservation.total_baggages = total_baggages
        reservation.nonfree_baggages = nonfree_baggages
        return reservation

    def update_reservation_flights(
        self, reservation_id: str, cabin: Any, flights: Any, payment_id: str
    ) -> Reservation:
        """Put other flights into a reservation; the difference is paid or refunded."""
        wanted = _each(FlightInfo, flights)
        reservation = self._reservation(reservation_id)
        self._user(reservation.user_id)
        seats = len(reservation.passengers)
        booked = {(leg.flight_number, leg.date): leg for leg in reversed(reservation.flights)}
        legs = [
            booked[leg.flight_number, leg.date]
            if cabin == reservation.cabin and (leg.flight_number, leg.date) in booked
            else self._leg(leg, cabin, seats)
            for leg in wanted
        ]
        old, new = (sum(leg.price for leg in some) * seats for some in (reservation.flights, legs))
        self._settle(reservation, payment_id, new - old)
        reservation.flights = legs
        reservation.cabin = cabin
        return reservation

    def update_reservation_passengers(self, reservation_id: str, passengers: Any) -> Reservation:
        """Put other passengers into a reservation, as many as before."""
        travelers = _each(Passenger, passengers)
        reservation = self._reservation(reservation_id)
        if len(travelers) != len(reservation.passengers):
            raise Refusal("Number of passengers does not match")
        reservation.passengers = deepcopy(travelers)
        return reservation

    def get_flight_status(self, flight_number: str, date: str) -> str:
        """The status of a flight on a day."""
        return str(self._on_day(flight_number, date)["status"])

    def _user(self, user_id: str) -> Traveler:
        if user_id not in self._db.users:
            raise Refusal(f"User {user_id} not found")
        return self._db.users[user_id]

    def _reservation(self, reservation_id: str) -> Reservation:
        if reservation_id not in self._db.reservations:
            raise Refusal(f"Reservation {reservation_id} not found")
        return self._db.reservations[reservation_id]

    def _free_number(self) -> str:
        for number in NEW_RESERVATIONS:
            if number not in self._db.reservations:
                return number
        raise Refusal("Too many reservations")

    def _on_day(self, flight_number: str, date: str) -> dict[str, Any]:
        if flight_number not in self._db.flights:
            raise Refusal(f"Flight {flight_number} not found")
        dates = self._db.flights[flight_number].dates
        if date not in dates:
            raise Refusal(f"Flight {flight_number} not found on date {date}")
        return dates[date]

    def _leg(self, leg: FlightInfo, cabin: Any, seats: int) -> ReservationFlight:
        """A new flight of a reservation, which must have the seats."""
        day = self._on_day(leg.flight_number, leg.date)
        if day["status"] != "available":
            raise Refusal(f"Flight {leg.flight_number} not available on date {leg.date}")
        if day["available_seats"][cabin] < seats:
            raise Refusal(f"Not enough seats on flight {leg.flight_number}")
        flight = self._db.flights[leg.flight_number]
        return ReservationFlight(
            flight_number=leg.flight_number,
            origin=flight.origin,
            destination=flight.destination,
            date=leg.date,
            price=day["prices"][cabin],
        )

    def _available(self, date: str, origin: str | None, destination: str | None) -> list[DirectFlight]:
        """The flights that can be booked on a day; None stands for all airports."""
        return [
            DirectFlight(**{**flight.model_dump(exclude={"dates"}), **flight.dates[date]})
            for flight in self._db.flights.values()
            if (origin is None or flight.origin == origin)
            and (destination is None or flight.destination == destination)
            and date in flight.dates
            and flight.dates[date]["status"] == "available"
        ]

    def _settle(self, reservation: Reservation, payment_id: str, price: Any) -> None:
        """Pay the price of a change, or book a negative one back."""
        methods = self._user(reservation.user_id).payment_methods
        if payment_id not in methods:
            raise Refusal("Payment method not found")
        method = methods[payment_id]
        if isinstance(method, Certificate):
            raise Refusal("Certificate cannot be used to update reservation")
        if isinstance(method, AirlineGiftCard):
            if method.amount < price:
                raise Refusal("Gift card balance is not enough")
            method.amount -= price
        if price != 0:
            reservation.payment_history.append(Payment(payment_id=payment_id, amount=price))


def open_airline(content: bytes) -> World:
    """The airline with a database in JSON."""
    database = FlightDB.model_validate_json(content)
    return World({"assistant": Kit(AirlineTools(database), declared("airline"), database)})


def _each(model: type[BaseModel], values: Any) -> Any:
    """Objects as models; a list with anything else is returned unchanged."""
    if all(isinstance(value, dict) for value in values):
        return [model(**value) for value in values]
    return values


def _pay(user: Traveler, payments: Any, total: Any) -> None:
    """Pay a booking, if the payments add up to the total."""
    methods = user.payment_methods
    for payment in payments:
        if payment.payment_id not in methods:
            raise Refusal(f"Payment method {payment.payment_id} not found")
        method = methods[payment.payment_id]
        if not isinstance(method, AirlineCreditCard) and method.amount < payment.amount:
            raise Refusal(f"Not enough balance in payment method {payment.payment_id}")
    paid = sum(payment.amount for payment in payments)
    if paid != total:
        raise Refusal(f"Payment amount does not add up, total price is {total}, but paid {paid}")
    for payment in payments:
        method = methods[payment.payment_id]
        if isinstance(method, AirlineGiftCard):
            method.amount -= payment.amount
        elif isinstance(method, Certificate):
            del methods[payment.payment_id]
