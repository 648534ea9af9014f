"""DeepPlanning's travel plans: a right plan, and for each check a plan that fails it and no other.

Written from QwenLM/Qwen-Agent at 31a4d368, `benchmark/deepplanning/travelplanning/evaluation`.
"""

from __future__ import annotations

import csv
from copy import deepcopy
from itertools import permutations
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.evals.grading.travel.travel_database import city_name, read_database
from loadgen.plugins.evals.grading.travel.travel_plan import minutes_of, total_cost
from loadgen.plugins.evals.grading.travel.travel_score import SIDES, TravelScore, accuracy, judge_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.plugins.evals.grading.travel.travel_database import TravelDatabase

Plan = dict[str, Any]

PLACES = ("Wall", "Park", "Museum", "Lotus", "Pine", "Moon", "Inn", "Nanjing South", "Nanjing East")
META = {
    "org": "Hefei",
    "days": 2,
    "people_number": 2,
    "room_number": 1,
    "depart_weekday": 3,
    "hard_constraints": {
        "train_seat_class": {"outbound_train_no": "G1", "inbound_train_no": "G2"},
        "hotel_highest_rated": {"hotel_name": "Inn"},
        "restaurant_must_eat_named": {"restaurant_name": "Pine"},
        "attraction_must_visit_named": {"attraction_names": ["Wall", "Museum"]},
        "budget_constraint": {"max_budget": 1620},
        "weather_dry": {"unknown": "kinds do not count"},
    },
}


def write(path: Path, *rows: dict[str, Any]) -> None:
    """A CSV file as the benchmark has them."""
    path.parent.mkdir(parents=True)
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> TravelDatabase:
    """The database of a task."""
    folder = tmp_path_factory.mktemp("database")
    write_database(folder)
    return read_database(folder)


def write_database(folder: Path) -> None:
    """Nine places half an hour apart from each other, and two trains."""
    hours = {"opening_time": "06:00", "closing_time": "22:00"}
    visits = {"min_visit_hours": 1, "max_visit_hours": 3, "ticket_price": "49.6"}
    write(
        folder / "attractions" / "attractions.csv",
        {"attraction_name": "Wall", **hours, **visits, "closing_dates": "Monday,周日"},
        {"attraction_name": "Park", **hours, **visits, "closing_dates": ""}
        | {"opening_time": "Open 24 Hours", "closing_time": "Open 24 Hours"},
        {"attraction_name": "Museum", **hours, **visits, "closing_dates": "Friday"},
    )
    restaurants = [{"restaurant_name": name, "price_per_person": 80, **hours} for name in ("Lotus", "Pine")]
    night = {"opening_time": "11:00", "closing_time": "02:00"}
    write(
        folder / "restaurants" / "restaurants.csv",
        *restaurants,
        {"restaurant_name": "Moon", "price_per_person": 80, **night},
    )
    write(folder / "hotels" / "hotels.csv", {"name": "Inn", "price": "300.2", "city": "Nanjing"})
    write(folder / "flights" / "flights.csv", _row("flight_no", "CA1", "Hefei", "Nanjing"))
    write(
        folder / "trains" / "trains.csv",
        _row("train_no", "G1", "Hefei", "Nanjing(Jiangsu)"),
        _row("train_no", "G2", "Nanjing", "Hefei"),
    )
    points = {name: (f"{number}.0", "118.50") for number, name in enumerate(PLACES)}
    write(
        folder / "locations" / "locations_coords.csv",
        *({"poi_name": name, "latitude": x, "longitude": y} for name, (x, y) in points.items()),
    )
    write(
        folder / "transportation" / "distance_matrix.csv",
        *(
            {"origin": ",".join(here), "destination": ",".join(there), "duration_minutes": 30}
            for here, there in permutations(points.values(), 2)
        ),
    )


def _row(number: str, value: str, origin: str, destination: str) -> dict[str, Any]:
    stations = {"dep_station_name": f"{origin} South", "arr_station_name": f"{city_name(destination)} East"}
    return {number: value, "origin_city": origin, "destination_city": destination, **stations, "price": 100}


def act(kind: str, time_slot: str, **details: Any) -> dict[str, Any]:
    """An activity of a plan."""
    return {"type": kind, "time_slot": time_slot, "details": details}


def train(number: str, time_slot: str, origin: str, destination: str) -> dict[str, Any]:
    """A train between two cities."""
    stations = {"from": f"{origin} South", "to": f"{destination} East"}
    return act("travel_intercity_public", time_slot, mode="train", number=number, cost=100, **stations)


def taxi(time_slot: str) -> dict[str, Any]:
    """A way of half an hour."""
    return act("travel_city", time_slot, cost=20)


RIGHT: Plan = {
    "daily_plans": [
        {
            "current_city": "from Hefei to Nanjing",
            "accommodation": {"name": "Inn", "price": 300},
            "activities": [
                train("G1", "08:00-09:30", "Hefei", "Nanjing"),
                taxi("09:30-10:00"),
                act("attraction", "10:00-12:00", name="Wall", cost=50),
                taxi("12:00-12:30"),
                act("meal", "12:30-13:30", name="Lotus", cost=80),
                taxi("13:30-14:00"),
                act("attraction", "14:00-16:30", name="Park", cost=50),
                taxi("16:30-17:00"),
                act("meal", "17:00-18:00", name="Pine", cost=80),
                taxi("18:00-18:30"),
                act("hotel", "18:30-19:00", name="Inn"),
            ],
        },
        {
            "current_city": "from Nanjing to Hefei",
            "accommodation": {"name": "-"},
            "activities": [
                act("attraction", "09:00-11:30", name="Museum", cost=50),
                taxi("11:30-12:00"),
                act("meal", "12:00-13:00", name="Moon", cost=80),
                taxi("13:00-13:30"),
                act("buffer", "13:30-16:30"),
                train("G2", "16:30-18:00", "Nanjing", "Hefei"),
            ],
        },
    ],
    "budget_summary": {"total_estimated_budget": 1620},
}


def faults(score: TravelScore) -> set[str]:
    """The checks and constraints that fail."""
    return {name for name, wrong in {**score.faults, **score.constraints}.items() if wrong}


def test_a_right_plan(database: TravelDatabase) -> None:
    """It has every point; the costs are trains 400, a night 300, meals 480, tickets 300 and taxis 140."""
    score = judge_plan(RIGHT, META, database)
    assert faults(score) == set()
    assert (score.commonsense, score.personalized, score.composite, score.case) == (1, 1, 1, 1)
    assert total_cost(RIGHT["daily_plans"], 2, 1) == 1620
    assert total_cost(RIGHT["daily_plans"], 5, 3) == 5 * (200 + 240 + 150) + 3 * 300 + 2 * 140


def first(plan: Plan) -> list[Any]:
    """The activities of the first day."""
    activities: list[Any] = plan["daily_plans"][0]["activities"]
    return activities


def last(plan: Plan) -> list[Any]:
    """The activities of the last day."""
    activities: list[Any] = plan["daily_plans"][1]["activities"]
    return activities


CHANGES: dict[str, tuple[Callable[[Plan], Any], set[str]]] = {
    "a third day": (
        lambda plan: plan["daily_plans"].insert(
            1,
            {
                "current_city": "Nanjing",
                "accommodation": {"name": "Inn", "price": 300},
                "activities": [act("hotel", "10:00-11:00", name="Inn")],
            },
        ),
        {
            "valid_trip_duration",
            "essential_meal_coverage",
            "essential_attraction_coverage",
            "cost_calculation_correctness",
            "avoidance_of_closure_days",
            "budget_constraint",
        },
    ),
    "not back home": (
        lambda plan: plan["daily_plans"][1].update(current_city="Nanjing"),
        {"essential_meal_coverage", "essential_attraction_coverage"},
    ),
    "from elsewhere": (
        lambda plan: plan["daily_plans"][0].update(current_city="from Wuhan to Nanjing"),
        {"closed_loop_route_structure", "seamless_intercity_transfers"},
    ),
    "no train": (
        lambda plan: first(plan).pop(0),
        {"seamless_intercity_transfers", "train_seat_class", "cost_calculation_correctness"},
    ),
    "unknown hotel": (
        lambda plan: plan["daily_plans"][0]["accommodation"].update(name="Palace"),
        {"validated_accommodation", "hotel_highest_rated"},
    ),
    "another price": (lambda plan: first(plan)[2]["details"].update(cost=49), {"validated_attractions"}),
    "a price as text": (lambda plan: first(plan)[4]["details"].update(cost="80"), {"validated_meals"}),
    "an unknown train": (
        lambda plan: first(plan)[0]["details"].update(number="G9"),
        {"validated_transportation", "train_seat_class"},
    ),
    "a hotel on the last day": (
        lambda plan: plan["daily_plans"][1].update(accommodation={"name": "Inn", "price": 300}),
        {"traceable_accommodation"},
    ),
    "not back at the hotel": (
        lambda plan: first(plan).append(act("buffer", "19:00-20:00")),
        {"ends_with_accommodation"},
    ),
    "one meal": (
        lambda plan: first(plan).__delitem__(slice(8, 10)),
        {
            "essential_meal_coverage",
            "reasonable_transfer_time",
            "cost_calculation_correctness",
            "restaurant_must_eat_named",
        },
    ),
    "meals too close": (
        lambda plan: first(plan)[4].update(start_time="15:30", end_time="16:00"),
        {"essential_meal_coverage"},
    ),
    "at once": (
        lambda plan: first(plan)[1].update(time_slot="09:00-10:00"),
        {"no_time_overlaps"},
    ),
    "too fast": (
        lambda plan: first(plan)[4].update(time_slot="12:20-13:30"),
        {"reasonable_transfer_time", "no_time_overlaps"},
    ),
    "before it opens": (
        lambda plan: last(plan)[0].update(time_slot="05:30-06:30"),
        {"attraction_visit_within_opening_hours", "reasonable_transfer_time"},
    ),
    "after it closes": (
        lambda plan: last(plan)[2].update(time_slot="10:30-13:00"),
        {"dining_within_service_hours", "no_time_overlaps"},
    ),
    "too short": (
        lambda plan: last(plan)[0].update(time_slot="11:00-11:30"),
        {"reasonable_duration_at_attractions"},
    ),
    "a long meal": (
        lambda plan: last(plan)[2].update(time_slot="12:00-14:31"),
        {"reasonable_meal_duration", "no_time_overlaps", "reasonable_transfer_time"},
    ),
    "a wrong sum": (
        lambda plan: plan["budget_summary"].update(total_estimated_budget=1470),
        {"cost_calculation_correctness"},
    ),
    "the same restaurant": (
        lambda plan: last(plan)[2]["details"].update(name="Lotus"),
        {"diverse_meal_options"},
    ),
    "the same attraction": (
        lambda plan: last(plan)[0]["details"].update(name="Park"),
        {"diverse_attraction_options", "attraction_must_visit_named"},
    ),
    "no days": (
        lambda plan: plan.update(daily_plans=[]),
        {check for checks in SIDES.values() for check in checks} - {"avoidance_of_closure_days"},
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_fails_its_checks(database: TravelDatabase, name: str) -> None:
    """And no other; each side counts only where all of its checks pass."""
    change, expected = CHANGES[name]
    plan = deepcopy(RIGHT)
    change(plan)
    score = judge_plan(plan, META, database)
    constraints = set(META["hard_constraints"]) if name == "no days" else set()  # type: ignore[call-overload]
    assert faults(score) == expected | (constraints - {"weather_dry"})
    lost = [side for side, checks in SIDES.items() if expected & set(checks)]
    assert score.commonsense == pytest.approx(1 - len(lost) / 8)
    assert score.case == 0


def test_weekdays_and_constraints_of_the_task(database: TravelDatabase) -> None:
    """The wall is closed on the seventh and the first day of a week; without constraints nothing counts."""
    for weekday, closed in ((6, False), (7, True), (1, True), (None, False)):
        score = judge_plan(RIGHT, {**META, "depart_weekday": weekday}, database)
        assert bool(score.faults["avoidance_of_closure_days"]) is closed
    free = judge_plan(RIGHT, {**META, "hard_constraints": {}}, database)
    assert (free.commonsense, free.personalized, free.case) == (1, 0, 0)
    poor = judge_plan(
        RIGHT, {**META, "hard_constraints": {"budget_constraint": {"max_budget": 1619}}}, database
    )
    assert poor.constraints == {"budget_constraint": "the plan costs 1620, more than 1619"}


def test_a_plan_of_another_form_has_no_points(database: TravelDatabase) -> None:
    """As in the official code, which fails on it; the figures of a run are over all of its tasks."""
    broken = judge_plan({"daily_plans": ["a day"]}, META, database)
    assert (broken.commonsense, broken.personalized, broken.case) == (0, 0, 0)
    assert broken.failure.startswith("AttributeError")
    figures = accuracy([judge_plan(RIGHT, META, database), broken], tasks=4)
    assert figures == {"commonsense": 0.25, "personalized": 0.25, "composite": 0.25, "case": 0.25}
    with pytest.raises(ValueError, match="not more plans than tasks"):
        accuracy([broken], tasks=0)


def test_times_and_missing_files(tmp_path: Path) -> None:
    """24:00 is a minute before midnight; an empty database has no hotels."""
    assert [minutes_of(text) for text in ("24:00", " 9:05 ", "25:00", "", None)] == [
        1439,
        545,
        None,
        None,
        None,
    ]
    empty = read_database(tmp_path)
    assert empty.city_of("上海虹桥") == "上海"
    assert empty.city_of("Nowhere") is None
    assert judge_plan(RIGHT, META, empty).faults["validated_accommodation"] == ["the database has no hotels"]
