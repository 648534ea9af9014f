"""The score of a travel plan: eight sides of common sense, and the constraints of the task.

A side counts where all of its checks pass, the constraints where all are met; a plan is right where
everything is. A plan that the official code fails on has no points.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.plugins.evals.grading.travel import itinerary, place_checks
from loadgen.plugins.evals.grading.travel.travel_database import city_name
from loadgen.plugins.evals.grading.travel.travel_plan import days_of, total_cost

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from loadgen.plugins.evals.grading.travel.travel_database import TravelDatabase

SIDES: Final = {
    "route_consistency": (
        "valid_trip_duration",
        "closed_loop_route_structure",
        "seamless_intercity_transfers",
    ),
    "sandbox_compliance": (
        *("validated_accommodation", "validated_attractions", "validated_meals"),
        "validated_transportation",
    ),
    "itinerary_structure": (
        *("traceable_accommodation", "ends_with_accommodation", "essential_meal_coverage"),
        "essential_attraction_coverage",
    ),
    "time_feasibility": ("no_time_overlaps", "reasonable_transfer_time"),
    "business_hours": (
        *("attraction_visit_within_opening_hours", "dining_within_service_hours"),
        "avoidance_of_closure_days",
    ),
    "duration_rationality": ("reasonable_duration_at_attractions", "reasonable_meal_duration"),
    "cost_calculation_accuracy": ("cost_calculation_correctness",),
    "activity_diversity": ("diverse_meal_options", "diverse_attraction_options"),
}
"""The checks of each side, by their official names."""

Constraint = Mapping[str, Any]

_BUDGET: Final = "budget_constraint"
_FLIGHTS: Final = frozenset({"flight", "飞机", "airplane", "plane"})
_TRAINS: Final = frozenset({"train", "火车", "railway", "高铁", "gaotie"})
_NEEDS_DAYS: Final = "avoidance_of_closure_days"
"""The check that is officially not made of a plan without days."""
_FAILURES: Final = (AttributeError, IndexError, KeyError, OverflowError, TypeError, ValueError)
"""What a plan raises that is not in the form of the conversion: officially such a sample has no points."""


@dataclass(frozen=True, slots=True)
class TravelScore:
    """The judgement of a plan.

    Attributes:
        faults: Of each check, what is wrong, by its official name; empty where it passes.
        constraints: As above, of each constraint of the task.
        failure: Why the plan could not be evaluated; empty where it could.
    """

    faults: Mapping[str, Sequence[str]] = field(default_factory=dict)
    constraints: Mapping[str, str] = field(default_factory=dict)
    failure: str = ""

    @property
    def sides(self) -> dict[str, float]:
        """1 for each side with all checks passed, else 0."""
        return {
            side: float(not self.failure and not any(self.faults[check] for check in checks))
            for side, checks in SIDES.items()
        }

    @property
    def commonsense(self) -> float:
        """The mean of the sides."""
        return sum(self.sides.values()) / len(SIDES)

    @property
    def personalized(self) -> float:
        """1 where there are constraints and all are met, else 0."""
        return float(bool(self.constraints) and not any(self.constraints.values()))

    @property
    def composite(self) -> float:
        """The mean of both."""
        return (self.commonsense + self.personalized) / 2

    @property
    def case(self) -> float:
        """1 where both are 1, else 0."""
        return float(self.commonsense == self.personalized == 1)


def judge_plan(plan: Mapping[str, Any], meta: Mapping[str, Any], database: TravelDatabase) -> TravelScore:
    """Judge a plan.

    Args:
        plan: As the official conversion makes it of a report: `daily_plans` and `budget_summary`.
        meta: The `meta_info` of the task: `org`, `days`, `people_number`, `room_number`, `depart_weekday`,
            `hard_constraints`.
        database: Of the task.
    """
    try:
        faults = {check: list(wrong) for check, wrong in _checks(plan, meta, database)}
        return TravelScore(faults, _constraints(plan, meta))
    except _FAILURES as error:
        return TravelScore(failure=f"{type(error).__name__}: {error}")


def _checks(
    plan: Mapping[str, Any], meta: Mapping[str, Any], database: TravelDatabase
) -> Iterator[tuple[str, Iterable[str]]]:
    days = days_of(plan)
    if not days:
        for check in (check for checks in SIDES.values() for check in checks):
            yield check, [] if check == _NEEDS_DAYS else ["the plan has no days"]
        return
    home = city_name(meta["org"]) if meta.get("org") is not None else ""
    of_task = {**meta, "org": home}
    unknown = [] if home else ["the task has no home city"]
    yield "valid_trip_duration", itinerary.trip_duration(days, meta)
    yield "closed_loop_route_structure", itinerary.closed_loop(days, of_task)
    yield "seamless_intercity_transfers", unknown or itinerary.seamless_transfers(days, of_task, database)
    yield "validated_accommodation", place_checks.hotels(days, database)
    yield (
        "validated_attractions",
        place_checks.sold(days, "attraction", database.attractions, "ticket_price"),
    )
    yield "validated_meals", place_checks.sold(days, "meal", database.restaurants, "price_per_person")
    yield "validated_transportation", place_checks.journeys_sold(days, database)
    yield "traceable_accommodation", itinerary.traceable_hotels(days)
    yield "ends_with_accommodation", itinerary.ends_at_hotels(days)
    yield "essential_meal_coverage", unknown or itinerary.meals(days, of_task)
    yield "essential_attraction_coverage", unknown or itinerary.attractions(days, of_task)
    yield "no_time_overlaps", place_checks.no_overlaps(days)
    yield "reasonable_transfer_time", place_checks.transfers(days, database)
    yield "attraction_visit_within_opening_hours", place_checks.attraction_hours(days, database)
    yield "dining_within_service_hours", place_checks.meal_hours(days, database)
    yield "avoidance_of_closure_days", place_checks.not_closed(days, meta, database)
    yield "reasonable_duration_at_attractions", place_checks.visit_lengths(days, database)
    yield "reasonable_meal_duration", place_checks.meal_lengths(days)
    yield "cost_calculation_correctness", place_checks.budget_sum(plan, meta)
    yield "diverse_meal_options", itinerary.diverse(days, "meal")
    yield "diverse_attraction_options", itinerary.diverse(days, "attraction")


def _constraints(plan: Mapping[str, Any], meta: Mapping[str, Any]) -> dict[str, str]:
    """The fault by constraint; empty for a met constraint. Unknown kinds do not count."""
    results: dict[str, str] = {}
    for name, wanted in meta.get("hard_constraints", {}).items():
        kind = name if name == _BUDGET else name.partition("_")[0]
        if kind in _CONSTRAINTS:
            try:
                results[name] = _CONSTRAINTS[kind](wanted, plan, meta)
            except _FAILURES as error:
                results[name] = f"{type(error).__name__}: {error}"
    return results


def _booked(wanted: Constraint, plan: Mapping[str, Any], kind: str, modes: frozenset[str]) -> str:
    """The flights or trains of a constraint that a plan does not have."""
    numbers = {
        details.get("number", "")
        for details in _details(plan, "travel_intercity_public")
        if details.get("mode", "").lower() in modes
    }
    keys = [key for key in (f"outbound_{kind}_no", f"inbound_{kind}_no") if key in wanted]
    return ", ".join(f"{wanted[key]} is not booked" for key in keys if wanted[key] not in numbers)


def _details(plan: Mapping[str, Any], kind: str) -> Iterator[Mapping[str, Any]]:
    for day in plan.get("daily_plans", ()):
        for act in day.get("activities", ()):
            if act.get("type") == kind:
                yield act.get("details", {})


def _names(plan: Mapping[str, Any], kind: str) -> set[str]:
    return {details.get("name", "") for details in _details(plan, kind)}


def _hotel(wanted: Constraint, plan: Mapping[str, Any], _meta: Mapping[str, Any]) -> str:
    hotels = [day.get("accommodation") for day in plan.get("daily_plans", ())]
    booked = {hotel.get("name", "") for hotel in hotels if hotel}
    name = wanted.get("hotel_name")
    return "" if name and name in booked else f"{name} is not booked"


def _restaurant(wanted: Constraint, plan: Mapping[str, Any], _meta: Mapping[str, Any]) -> str:
    name = wanted.get("restaurant_name")
    return "" if name and name in _names(plan, "meal") else f"{name} is not visited"


def _attractions(wanted: Constraint, plan: Mapping[str, Any], _meta: Mapping[str, Any]) -> str:
    names = wanted.get("attraction_names", [])
    visited = _names(plan, "attraction")
    missed = [name for name in names if name not in visited]
    return ", ".join(f"{name} is not visited" for name in missed) if names else "no attraction is named"


def _budget(wanted: Constraint, plan: Mapping[str, Any], meta: Mapping[str, Any]) -> str:
    limit = float(wanted["max_budget"])
    days = plan.get("daily_plans", [])
    if not days:
        return "the plan has no days"
    cost = total_cost(days, int(meta.get("people_number", 1)), int(meta.get("room_number", 1)))
    return "" if cost <= limit else f"the plan costs {cost:g}, more than {limit:g}"


_CONSTRAINTS: Final[Mapping[str, Callable[[Constraint, Mapping[str, Any], Mapping[str, Any]], str]]] = {
    "flight": lambda wanted, plan, _meta: _booked(wanted, plan, "flight", _FLIGHTS),
    "train": lambda wanted, plan, _meta: _booked(wanted, plan, "train", _TRAINS),
    "hotel": _hotel,
    "restaurant": _restaurant,
    "attraction": _attractions,
    _BUDGET: _budget,
}
"""By the first word of a constraint's name, but for the budget's."""


def accuracy(scores: Sequence[TravelScore], tasks: int) -> dict[str, float]:
    """The figures of a run: means over all tasks, where a task without a plan has no points.

    Raises:
        ValueError: There are fewer tasks than plans, or none.
    """
    if not tasks or tasks < len(scores):
        raise ValueError("there must be a task, and not more plans than tasks")
    return {
        name: sum(getattr(score, name) for score in scores) / tasks
        for name in ("commonsense", "personalized", "composite", "case")
    }
