"""The internal consistency of a plan: route, days, and no place twice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.travel.travel_database import city_name
from loadgen.plugins.evals.grading.travel.travel_plan import (
    activities,
    arrival,
    bounds,
    departure,
    hours_of,
    journeys,
    leg,
    visits,
    whole_minutes,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.plugins.evals.grading.travel.travel_database import TravelDatabase
    from loadgen.plugins.evals.grading.travel.travel_plan import Activity, Day

_BETWEEN_MEALS: Final = 120
_MEALS: Final = 2
_ATTRACTIONS: Final = 2
_HOURS_OF_ATTRACTIONS: Final = 4.0
_NO_HOTEL: Final = "-"


def trip_duration(days: Sequence[Day], meta: Mapping[str, Any]) -> Iterator[str]:
    """As many days as asked for."""
    if len(days) != int(meta.get("days") or 0):
        yield f"{len(days)} days"


def closed_loop(days: Sequence[Day], meta: Mapping[str, Any]) -> Iterator[str]:
    """The first day leaves home, and the last day returns; a day in one city is not checked."""
    home = city_name(meta["org"])
    for end, day in ((0, days[0]), (1, days[-1])):
        journey = leg(day)
        if journey is not None and journey[end] != home:
            yield f"{'begins' if end == 0 else 'ends'} in {journey[end]}"


def seamless_transfers(
    days: Sequence[Day], meta: Mapping[str, Any], database: TravelDatabase
) -> Iterator[str]:
    """Each day begins where the one before has ended, and a day between cities has the flight or train."""
    here = city_name(meta["org"])
    for number, day in enumerate(days, 1):
        journey = leg(day)
        if journey is None:
            city = city_name(day.get("current_city") or "")
            if city != here:
                yield f"day {number} is in {city or 'no city'} instead of {here}"
            continue
        if journey[0] != here:
            yield f"day {number} begins in {journey[0]} instead of {here}"
        if not any(_leads(act, journey, database) for act in journeys(day)):
            yield f"day {number} has no flight or train from {journey[0]} to {journey[1]}"
        here = journey[1]


def _leads(act: Activity, journey: tuple[str, str], database: TravelDatabase) -> bool:
    details = act.get("details") or {}
    stations = [(details.get(end) or "").strip() for end in ("from", "to")]
    return all(stations) and tuple(map(database.city_of, stations)) == journey


def traceable_hotels(days: Sequence[Day]) -> Iterator[str]:
    """Every day but the last has a hotel, as an activity and as accommodation; the last has none."""
    for number, day in enumerate(days[:-1], 1):
        if not activities(day, "hotel") or not day.get("accommodation"):
            yield f"day {number} has no hotel"
    last = days[-1].get("accommodation")
    if last and (not isinstance(last, dict) or (last.get("name") or "").strip() not in {"", _NO_HOTEL}):
        yield "the last day has a hotel"


def ends_at_hotels(days: Sequence[Day]) -> Iterator[str]:
    """The last activity of every day but the last is the hotel."""
    for number, day in enumerate(days[:-1], 1):
        acts = activities(day)
        if not acts or acts[-1].get("type") != "hotel":
            yield f"day {number} does not end at the hotel"


def meals(days: Sequence[Day], meta: Mapping[str, Any]) -> Iterator[str]:
    """Two meals a day, two hours apart; fewer on days of arrival and departure, by the times."""
    home = here = city_name(meta["org"])
    for number, day in enumerate(days, 1):
        times = [
            (begin, end)
            for act in activities(day, "meal")
            if (begin := whole_minutes(bounds(act)[0])) is not None
            and (end := whole_minutes(bounds(act)[1])) is not None
        ]
        times.sort(key=lambda span: span[0])
        journey = leg(day)
        if journey is None:
            faults = [*_at_least(_MEALS, times), *_too_close(times)]
        else:
            faults = []
            leaves, arrives = departure(day), arrival(day)
            if journey[0] == here != home and leaves is not None:
                faults += _on_departure(leaves, times)
            if journey[1] != home and arrives is not None:
                faults += _on_arrival(arrives, times)
            here = journey[1]
        yield from (f"day {number}: {fault}" for fault in faults)


def _on_departure(leaves: float, times: Sequence[tuple[int, int]]) -> list[str]:
    """Officially described with other hours than these, which the code has."""
    if leaves < 9:  # noqa: PLR2004 (hours of the rule)
        return _at_most(0, times)
    if leaves < 15:  # noqa: PLR2004
        return _at_most(1, times)
    return [*_at_least(1, times), *_too_close(times)]


def _on_arrival(arrives: float, times: Sequence[tuple[int, int]]) -> list[str]:
    if arrives < 10:  # noqa: PLR2004 (hours of the rule)
        return [*_at_least(_MEALS, times), *_too_close(times)]
    if arrives < 15:  # noqa: PLR2004
        return [*_at_least(1, times), *_too_close(times)]
    return _at_most(1, times)


def _at_least(count: int, times: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{len(times)} meals, not {count}"] if len(times) < count else []


def _at_most(count: int, times: Sequence[tuple[int, int]]) -> list[str]:
    return [f"{len(times)} meals, more than {count}"] if len(times) > count else []


def _too_close(times: Sequence[tuple[int, int]]) -> list[str]:
    """Of the first two meals; officially later ones do not count."""
    if len(times) < _MEALS or times[1][0] - times[0][1] >= _BETWEEN_MEALS:
        return []
    return [f"meals {times[1][0] - times[0][1]} minutes apart"]


def attractions(days: Sequence[Day], meta: Mapping[str, Any]) -> Iterator[str]:
    """Two attractions or four hours on whole days; one on days of a late departure or an early arrival."""
    home = here = city_name(meta["org"])
    for number, day in enumerate(days, 1):
        count = len(activities(day, "attraction"))
        journey = leg(day)
        if journey is None:
            if count < _ATTRACTIONS and _sightseeing(day) / 60.0 < _HOURS_OF_ATTRACTIONS:
                yield f"day {number} has {count} attractions"
            continue
        leaves, arrives = departure(day), arrival(day)
        late = journey[0] == here != home and leaves is not None and leaves > 16  # noqa: PLR2004 (of the rule)
        early = journey[1] != home and arrives is not None and arrives < 12  # noqa: PLR2004
        if count == 0 and (late or early):
            yield f"day {number} has no attraction"
        here = journey[1]


def _sightseeing(day: Day) -> int:
    """Minutes at attractions, including the ways."""
    names = {visit.name for visit in visits([day], "attraction") if visit.name}
    return sum(
        _minutes(act)
        for act in activities(day)
        if act.get("type") == "attraction" or (act.get("type") == "travel_city" and _touches(act, names))
    )


def _touches(act: Activity, names: set[str]) -> bool:
    details = act.get("details") or {}
    return any((details.get(end) or "").strip() in names for end in ("from", "to"))


def _minutes(act: Activity) -> int:
    """The minutes of an activity; without both times, those of the time slot."""
    start, end = act.get("start_time", ""), act.get("end_time", "")
    time_slot = act.get("time_slot", "")
    if (not start or not end) and time_slot and "-" in time_slot:
        start, end, *_ = time_slot.split("-")
    begins, finishes = hours_of(start), hours_of(end)
    if begins is None or finishes is None:
        return 0
    length = finishes - begins
    return int((length + 24 * (length < 0)) * 60)


def diverse(days: Sequence[Day], kind: str) -> Iterator[str]:
    """No restaurant and no attraction twice."""
    seen: set[str] = set()
    for day in days:
        for act in activities(day, kind):
            name = (act.get("details") or {}).get("name")
            if name and name in seen:
                yield f"{name} twice"
            seen.add(name or "")
