"""A travel plan in the form of the official conversion: days with activities, and a budget."""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.travel.travel_database import city_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Day = dict[str, Any]
Activity = dict[str, Any]

MINUTES_OF_A_DAY: Final = 24 * 60
_HOUR: Final = 60
_JOURNEY: Final = re.compile(r"from\s+(.+?)\s+to\s+([^,]+)(?=[,\s]|$)")
_SLOT: Final = re.compile(r"\s*(\d{1,2}:\d{2})\s*-\s*(\d{1,2}:\d{2})\s*")
_INTERCITY: Final = "travel_intercity_public"


@dataclass(frozen=True, slots=True)
class Visit:
    """An activity with a name."""

    activity: Activity
    details: Mapping[str, Any]
    name: str


def days_of(plan: Mapping[str, Any]) -> list[Day]:
    """The days of a plan; empty without any."""
    return plan.get("daily_plans", []) or []


def activities(day: Day, kind: str | None = None) -> list[Activity]:
    """The activities of a day, of one kind or all."""
    return [act for act in day.get("activities", []) or [] if kind is None or act.get("type") == kind]


def visits(days: Sequence[Day], kind: str) -> Iterator[Visit]:
    """The activities of a kind in all days."""
    for day in days:
        for act in activities(day, kind):
            details = act.get("details") or {}
            yield Visit(act, details, (details.get("name") or "").strip())


def journeys(day: Day) -> list[Activity]:
    """The flights and trains of a day."""
    return activities(day, _INTERCITY)


def leg(day: Day) -> tuple[str, str] | None:
    """Where a day leads from and to; None for a day in one city."""
    city = day.get("current_city", "")
    match = _JOURNEY.search(city) if isinstance(city, str) else None
    if match is None or not match[1].strip() or not match[2].strip():
        return None
    return city_name(match[1].strip()), city_name(match[2].strip())


def minutes_of(clock: Any) -> int | None:
    """A time `H:MM` in minutes since midnight; 24:00 is one minute earlier. None for anything else."""
    if not isinstance(clock, str):
        return None
    if clock.strip() == "24:00":
        return MINUTES_OF_A_DAY - 1
    try:
        moment = datetime.strptime(clock.strip(), "%H:%M")  # noqa: DTZ007 (a time of day)
    except ValueError:
        return None
    return moment.hour * _HOUR + moment.minute


def clock_slot(act: Activity) -> tuple[int, int] | None:
    """Begin and end of an activity's `time_slot`, each within a day; None if absent."""
    slot = act.get("time_slot")
    match = _SLOT.match(slot) if slot and isinstance(slot, str) else None
    begin, end = (minutes_of(match[1]), minutes_of(match[2])) if match else (None, None)
    return None if begin is None or end is None else (begin, end)


def slot(act: Activity) -> tuple[int, int] | None:
    """As `clock_slot`, with an end after midnight later than 24 hours."""
    clocks = clock_slot(act)
    if clocks is None:
        return None
    begin, end = clocks
    return begin, end + MINUTES_OF_A_DAY * (end < begin)


def bounds(act: Activity) -> tuple[str, str]:
    """Begin and end as texts: `start_time` and `end_time`, else from the time slot; empty where missing."""
    start, end = act.get("start_time"), act.get("end_time")
    parts = (act.get("time_slot") or "").split("-")
    if len(parts) > 1:
        start, end = start or parts[0], end or parts[1]
    return start or "", end or ""


def whole_minutes(text: Any) -> int | None:
    """A time `H:M` in minutes; None for anything else. Officially any two whole numbers are a time."""
    parts = _two_numbers(text)
    return None if parts is None else parts[0] * _HOUR + parts[1]


def hours_of(text: Any) -> float | None:
    """As `minutes_of`, in hours."""
    parts = _two_numbers(text)
    return None if parts is None else parts[0] + parts[1] / 60.0


def _two_numbers(text: Any) -> tuple[int, int] | None:
    try:
        hour, minute = map(int, text.split(":"))
    except (AttributeError, TypeError, ValueError):
        return None
    return hour, minute


def departure(day: Day) -> float | None:
    """When the first flight or train with a readable time leaves, in hours."""
    return next((hours for act in journeys(day) if (hours := hours_of(bounds(act)[0])) is not None), None)


def arrival(day: Day) -> float | None:
    """When the first flight or train with a readable time arrives, in hours."""
    return next((hours for act in journeys(day) if (hours := hours_of(bounds(act)[1])) is not None), None)


def total_cost(days: Sequence[Day], people: int, rooms: int) -> float:
    """The total cost of a plan, without the plan's own sums.

    Of the flights and trains of a day the first alone counts, because each has the price of all; taxis take
    four people.
    """
    taxis = max(1, (people + 3) // 4)
    total = sum(_first_fare(day) for day in days) * people
    for day in days[:-1]:
        hotel = day.get("accommodation")
        if isinstance(hotel, dict):
            price = hotel.get("price") or hotel.get("price_per_night") or hotel.get("cost")
            total += _number(price) * rooms
    for kind, count in (("meal", people), ("attraction", people), ("travel_city", taxis)):
        for day in days:
            for act in activities(day, kind):
                total += _number((act.get("details") or {}).get("cost")) * count
    return total


def _first_fare(day: Day) -> float:
    """The first numeric fare of a flight or train; a negative fare counts as none."""
    for act in journeys(day):
        try:
            return max(0.0, float((act.get("details") or {}).get("cost", 0)))
        except (TypeError, ValueError):
            continue
    return 0.0


def _number(value: Any) -> float:
    try:
        return float(value) if value else 0.0
    except (TypeError, ValueError):
        return 0.0
