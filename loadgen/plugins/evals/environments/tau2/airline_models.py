"""tau2's models of the airline: sierra-research/tau2-bench at a2c02472, `domains/airline/data_model.py`.

They decide what a tool takes: they drop members that they do not have, make 50 of 50.0, and refuse the rest.
Models that tools build have tau2's names, which are part of the refusals.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

Cabin = Literal["business", "economy", "basic_economy"]


class AirportCode(BaseModel):
    """An airport."""

    iata: str
    city: str


class Name(BaseModel):
    """The name of a user."""

    first_name: str
    last_name: str


class Address(BaseModel):
    """The address of a user."""

    address1: str
    address2: str | None = None
    city: str
    country: str
    state: str
    zip: str


class Payment(BaseModel):
    """A payment by one method, in dollars."""

    payment_id: str
    amount: int


class AirlineCreditCard(BaseModel):
    """A credit card."""

    source: Literal["credit_card"]
    id: str
    brand: str
    last_four: str


class AirlineGiftCard(BaseModel):
    """A gift card with the remaining amount."""

    source: Literal["gift_card"]
    id: str
    amount: float


class Certificate(BaseModel):
    """A certificate, which pays once."""

    source: Literal["certificate"]
    id: str
    amount: float


class Passenger(BaseModel):
    """A passenger."""

    first_name: str
    last_name: str
    dob: str


class Flight(BaseModel):
    """A flight with dates: seats and prices by cabin on days with a booking."""

    flight_number: str
    origin: str
    destination: str
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    dates: dict[str, dict[str, Any]]


class DirectFlight(BaseModel):
    """A flight that can be booked on a day."""

    flight_number: str
    origin: str
    destination: str
    status: Literal["available"]
    scheduled_departure_time_est: str
    scheduled_arrival_time_est: str
    date: str | None = None
    available_seats: dict[Cabin, int]
    prices: dict[Cabin, int]


class ReservationFlight(BaseModel):
    """A flight of a reservation."""

    flight_number: str
    origin: str
    destination: str
    date: str
    price: int


class FlightInfo(BaseModel):
    """A flight in the arguments of an agent."""

    flight_number: str
    date: str


class Traveler(BaseModel):
    """A user with methods to pay."""

    user_id: str
    name: Name
    address: Address
    email: str
    dob: str
    payment_methods: dict[str, AirlineCreditCard | AirlineGiftCard | Certificate]
    saved_passengers: list[Passenger]
    membership: Literal["gold", "silver", "regular"]
    reservations: list[str]


class Reservation(BaseModel):
    """A reservation."""

    reservation_id: str
    user_id: str
    origin: str
    destination: str
    flight_type: Literal["round_trip", "one_way"]
    cabin: Cabin
    flights: list[ReservationFlight]
    passengers: list[Passenger]
    payment_history: list[Payment]
    created_at: str
    total_baggages: int
    nonfree_baggages: int
    insurance: Literal["yes", "no"]
    status: Literal["cancelled"] | None = None


class FlightDB(BaseModel):
    """The database."""

    flights: dict[str, Flight]
    users: dict[str, Traveler]
    reservations: dict[str, Reservation]
