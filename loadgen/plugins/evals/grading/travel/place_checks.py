"""The places of a plan compared with the database: names, prices, hours, ways, and the sum."""

from __future__ import annotations

import math
import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.travel.travel_plan import (
    MINUTES_OF_A_DAY,
    activities,
    clock_slot,
    days_of,
    journeys,
    minutes_of,
    slot,
    total_cost,
    visits,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.evals.grading.travel.travel_database import Row, TravelDatabase
    from loadgen.plugins.evals.grading.travel.travel_plan import Activity, Day, Visit

_ALL_DAY: Final = frozenset({"全天开放", "Open 24 Hours"})
_WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_DAYS_OF_A_WEEK: Final = 7
_CHINESE_WEEKDAYS: Final = "一二三四五六日"
_MEAL_MINUTES: Final = (30, 150)
_MARGIN: Final = 0.10
_TOLERANCE: Final = 5
_STEP: Final = 10
_NEXT_DAY: Final = 12 * 60
_COORDINATES: Final = re.compile(r"\s*([\-0-9.]+)\s*,\s*([\-0-9.]+)\s*$")
_ANCHORS: Final = frozenset({"hotel", "attraction", "meal", "travel_intercity_public"})
_NO_HOTEL: Final = "-"


def hotels(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Every hotel is in the database, at the right price per night."""
    if not database.hotels:
        yield "the database has no hotels"
        return
    for number, day in enumerate(days, 1):
        hotel = day.get("accommodation")
        if not isinstance(hotel, dict):
            continue
        name = (hotel.get("name") or "").strip()
        if not name or (number == len(days) and name == _NO_HOTEL):
            continue
        price = hotel.get("price") or hotel.get("cost") or hotel.get("price_per_night")
        yield from _priced(name, price, database.hotels, "price")
    for visit in visits(days[:-1], "hotel"):
        if visit.name and visit.name not in database.hotels:
            yield f"{visit.name} is not in the database"


def sold(days: Sequence[Day], kind: str, rows: Mapping[str, Row], column: str) -> Iterator[str]:
    """Every attraction or restaurant is in the database, at the right price per person."""
    if not rows:
        yield f"the database has no {kind}s"
    for visit in visits(days, kind):
        yield from _priced(visit.name, visit.details.get("cost"), rows, column)


def _priced(name: str, cost: Any, rows: Mapping[str, Row], column: str) -> Iterator[str]:
    if not name or name not in rows:
        yield f"{name or 'a place without a name'} is not in the database"
        return
    price = _rounded(rows[name][column])
    is_number = isinstance(cost, int | float)
    stated = _rounded(cost)
    if price is not None and (not is_number or stated not in (None, price)):
        yield f"{name} costs {price}, not {cost}"


def _rounded(price: Any) -> int | None:
    try:
        return round(float(price))
    except (OverflowError, TypeError, ValueError):
        return None


def journeys_sold(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Every flight and train is in the database, at one of the listed prices."""
    for day in days:
        for act in journeys(day):
            details = act.get("details") or {}
            missing = [name for name in ("number", "from", "to", "cost") if details.get(name) in (None, "")]
            if missing:
                yield f"a flight or train without {', '.join(missing)}"
                continue
            number = str(details.get("number")).strip()
            if number not in database.prices:
                yield f"{number} is not in the database"
                continue
            cost = _rounded(details.get("cost"))
            prices = [price for price in map(_rounded, database.prices[number]) if price is not None]
            if cost is not None and prices and cost not in prices:
                yield f"{number} costs {prices}, not {cost}"


def no_overlaps(days: Sequence[Day]) -> Iterator[str]:
    """No activity of a day begins before the one before has ended."""
    for number, day in enumerate(days, 1):
        spans = [span for act in activities(day) if (span := slot(act)) is not None]
        spans.sort(key=lambda span: span[0])
        for (_, end), (begin, _) in pairwise(spans):
            if begin < end:
                yield f"activities of day {number} overlap"


def transfers(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Between two places there is the time that a taxi takes, buffers aside, and not much more.

    Ways that the database does not have are not looked at.
    """
    for number, day in enumerate(days, 1):
        anchors = [
            (times, act)
            for act in activities(day)
            if act.get("type") in _ANCHORS and (times := slot(act)) is not None
        ]
        for ((_, end), act), ((begin, _), following) in pairwise(anchors):
            gap = begin - end
            if end - begin > _NEXT_DAY:
                gap += MINUTES_OF_A_DAY
            if gap < 0:
                continue
            gap -= _buffers(day, end, begin)
            names = _place(act, "to"), _place(following, "from")
            taxi = _taxi(*names, database)
            if taxi is None or names[0] == names[1]:
                continue
            low = min(max(0.0, taxi - _TOLERANCE), taxi // _STEP * _STEP)
            high = max(taxi + _TOLERANCE, math.ceil(taxi / _STEP) * _STEP)
            if not low <= gap <= high:
                way = f"from {names[0]} to {names[1]}"
                yield f"day {number}: {gap} minutes {way}, where a taxi takes {taxi:g}"


def _buffers(day: Day, end: int, begin: int) -> int:
    """The minutes of a day's buffers between two times; earlier times belong to the next day."""
    total = 0
    for act in activities(day):
        times = slot(act) if (act.get("type") or "").strip() == "buffer" else None
        if times is None:
            continue
        start, finish = times
        if start < end:
            start, finish = start + MINUTES_OF_A_DAY, finish + MINUTES_OF_A_DAY
        elif finish < end:
            finish += MINUTES_OF_A_DAY
        if begin < end:
            begin += MINUTES_OF_A_DAY
        if end <= start and finish <= begin:
            total += finish - start
    return total


def _place(act: Activity, end: str) -> str:
    details = act.get("details") or {}
    name = details.get(end if act.get("type") == "travel_intercity_public" else "name")
    return (name or act.get("type") or "").strip()


def _taxi(origin: str, destination: str, database: TravelDatabase) -> float | None:
    ends = [_coordinates(name, database) for name in (origin, destination)]
    if ends[0] is None or ends[1] is None:
        return None
    try:
        return float(database.minutes[ends[0], ends[1]])
    except (KeyError, ValueError):
        return None


def _coordinates(name: str, database: TravelDatabase) -> str | None:
    latitude, longitude = database.places.get(name, ("", ""))
    if _is_number(latitude) and _is_number(longitude):
        return f"{latitude},{longitude}"
    match = _COORDINATES.match(name)
    if match is None or not _is_number(match[1]) or not _is_number(match[2]):
        return None
    return f"{float(match[1])},{float(match[2])}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def attraction_hours(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Attractions are open during the visit; unknown hours count as closed."""
    if not database.attractions:
        yield "the database has no attractions"
    for visit in _of(days, "attraction", database.attractions):
        row = database.attractions[visit.name]
        if row["opening_time"] in _ALL_DAY and row["closing_time"] in _ALL_DAY:
            continue
        if not _is_open(visit, row):
            yield f"{visit.name} is not open at {visit.activity.get('time_slot')}"


def meal_hours(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Restaurants are open during the meal; unknown hours count as open."""
    if not database.restaurants:
        yield "the database has no restaurants"
    for visit in _of(days, "meal", database.restaurants):
        row = database.restaurants[visit.name]
        hours = minutes_of(row["opening_time"]), minutes_of(row["closing_time"])
        if clock_slot(visit.activity) is None or (None not in hours and not _is_open(visit, row)):
            yield f"{visit.name} is not open at {visit.activity.get('time_slot')}"


def _of(days: Sequence[Day], kind: str, rows: Mapping[str, Row]) -> Iterator[Visit]:
    return (visit for visit in visits(days, kind) if visit.name in rows)


def _is_open(visit: Visit, row: Row) -> bool:
    """Whether a time slot is within opening hours, both of which can go past midnight."""
    clocks = clock_slot(visit.activity)
    opens, closes = minutes_of(row["opening_time"]), minutes_of(row["closing_time"])
    if clocks is None or opens is None or closes is None:
        return False
    begin, end = clocks
    if opens <= closes:
        return begin <= end and begin >= opens and end <= closes
    if end < begin:
        return begin >= opens and end <= closes
    return (begin >= opens and end >= opens) or (begin <= closes and end <= closes)


def not_closed(days: Sequence[Day], meta: Mapping[str, Any], database: TravelDatabase) -> Iterator[str]:
    """No attraction is visited on a closing day, if the weekday of the first day is known."""
    if not database.attractions:
        yield "the database has no attractions"
        return
    if not meta.get("depart_weekday"):
        return
    try:
        first = int(meta["depart_weekday"])
    except (TypeError, ValueError):
        yield "the weekday of the first day is not a number"
        return
    for number, day in enumerate(days):
        weekday = first + number
        while weekday > _DAYS_OF_A_WEEK:
            weekday -= _DAYS_OF_A_WEEK
        for visit in _of([day], "attraction", database.attractions):
            if weekday in _closing_days(database.attractions[visit.name]["closing_dates"]):
                yield f"{visit.name} is closed on day {number + 1}"


def _closing_days(text: str) -> set[int]:
    names = [part.strip().lower() for part in text.split(",")]
    return {
        number
        for number, (name, character) in enumerate(zip(_WEEKDAYS, _CHINESE_WEEKDAYS, strict=True), 1)
        if name in names or f"周{character}" in names
    }


def visit_lengths(days: Sequence[Day], database: TravelDatabase) -> Iterator[str]:
    """Attractions are visited for as long as the database recommends."""
    if not database.attractions:
        yield "the database has no attractions"
    for visit in _of(days, "attraction", database.attractions):
        row = database.attractions[visit.name]
        times = slot(visit.activity)
        try:
            least, longest = float(row["min_visit_hours"]), float(row["max_visit_hours"])
        except ValueError:
            times = None
        if times is None or not least <= (times[1] - times[0]) / 60.0 <= longest:
            yield f"{visit.name} is not visited as long as recommended"


def meal_lengths(days: Sequence[Day]) -> Iterator[str]:
    """Meals take from 30 to 150 minutes."""
    shortest, longest = _MEAL_MINUTES
    for visit in visits(days, "meal"):
        times = slot(visit.activity)
        if visit.name and (times is None or not shortest <= times[1] - times[0] <= longest):
            yield f"the meal at {visit.name} is too short or too long"


def budget_sum(plan: Mapping[str, Any], meta: Mapping[str, Any]) -> Iterator[str]:
    """The plan's own sum is within a tenth of the total cost of the parts."""
    stated = (plan.get("budget_summary") or {}).get("total_estimated_budget")
    try:
        total = float(stated)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        yield f"the sum of the budget is {stated}"
        return
    cost = total_cost(days_of(plan), int(meta.get("people_number", 1)), int(meta.get("room_number", 1)))
    if not (cost == 0 if total == 0 else abs(cost - total) / total <= _MARGIN):
        yield f"the sum of the budget is {total:g}, and its parts cost {cost:g}"
