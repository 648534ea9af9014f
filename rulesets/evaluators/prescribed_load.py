"""The load that a scenario prescribes, compared with the one that was applied."""

from __future__ import annotations

import math
from itertools import islice, takewhile
from typing import TYPE_CHECKING, Final

from rulesets.evaluators import facts
from rulesets.evaluators.rule_row import Rule, RuleOutcome, bound_text, figure_text
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.demands import LoadDemand, Pattern
    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("load.pattern", "load.rate", "load.concurrency")
OTHERS: Final = "load.others"

_KINDS_OF: Final[Mapping[Pattern, tuple[str, ...]]] = {
    "poisson": ("poisson",),
    "constant": ("constant",),
    "concurrency": ("closed",),
    "closed_loop": ("closed",),
    "all_at_once": ("offline",),
    "burst": ("gamma",),
}
"""The kind of load of each pattern, as a run names it. A rate in bursts is a profile, and a burst too."""

_SHOWN: Final = 12
"""The number of concurrencies of a sweep that a message lists."""

_HOW: Final[Mapping[Pattern, str]] = {
    "poisson": "--rate R",
    "constant": "--rate R --arrival constant",
    "concurrency": "--concurrency N",
    "closed_loop": "--concurrency 1",
    "all_at_once": "--offline",
    "burst": "--rate bursts:…, or --arrival gamma",
}


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for the pattern, one for each figure, and one for each property without a check."""
    load = ruleset.load
    if load is None:
        return
    yield Rule(
        "load.pattern", "load.pattern", "load", f"pattern: {load.pattern}", lambda case: _pattern(load, case)
    )
    if load.rate is not None:
        yield Rule(
            "load.rate",
            "load.rate",
            "load",
            f"rate: {load.rate:g}",
            lambda case: _rate(load.rate or 0.0, case),
            load.rate,
            "req/s",
        )
    if load.concurrency:
        yield Rule(
            "load.concurrency",
            "load.concurrency",
            "load",
            f"concurrency: {in_words(load.concurrency)}",
            lambda case: _concurrency(load.concurrency, case),
        )
    for name, value in load.others.items():
        yield Rule(f"load.{name}", OTHERS, "load", f"{name}: {in_words(value)}", _unchecked)


def _pattern(load: LoadDemand, case: Case) -> RuleOutcome:
    applied = facts.load(case.report)
    kind, alone = applied.get("kind"), load.pattern == "closed_loop" and not load.concurrency
    varies = bool(applied.get("profile") or applied.get("stages"))
    if kind in _KINDS_OF[load.pattern] and not varies and (not alone or applied.get("concurrency") == 1):
        return RuleOutcome("PASS", method=f"load: {kind}")
    if load.pattern == "burst" and str(applied.get("profile") or "").startswith("bursts"):
        return RuleOutcome("PASS", method="load: bursts")
    shown = in_words(kind) if kind else "unknown"
    further, users = " at a rate that varies" if varies else "", ""
    if alone and kind == "closed":
        further = f" with {in_words(applied.get('concurrency'))} in flight"
        users = " with 1 in flight"
    return RuleOutcome(
        "INVALID",
        method=f"load: {shown}",
        reason=f"the load is {shown}{further}; required: {load.pattern}{users}",
        remedy=f"apply it: {_HOW[load.pattern]}",
    )


def _rate(wanted: float, case: Case) -> RuleOutcome:
    rate = facts.number(facts.load(case.report).get("rate"))
    if rate is not None and math.isclose(rate, wanted, rel_tol=1e-9):
        return RuleOutcome("PASS", rate, method="the rate that was asked for")
    shown = "unknown" if rate is None else f"{figure_text(rate, wanted)} req/s"
    return RuleOutcome(
        "INVALID",
        rate,
        method="the rate that was asked for",
        reason=f"the rate is {shown}; required: {bound_text(wanted)} req/s",
        remedy=f"apply it: --rate {wanted:g}",
    )


def _concurrency(wanted: Mapping[str, int], case: Case) -> RuleOutcome:
    places = facts.concurrency(case.report)
    if places is not None and _is_among(places, wanted):
        return RuleOutcome("PASS", places, method="requests in flight")
    shown = "unknown" if places is None else str(places)
    return RuleOutcome(
        "INVALID",
        places,
        method="requests in flight",
        reason=f"the concurrency is {shown}; required: {_range(wanted)}",
        remedy=f"apply it: --concurrency {wanted.get('min', wanted.get('from', 1))}",
    )


def _is_among(places: int, wanted: Mapping[str, int]) -> bool:
    if "from" not in wanted:
        return wanted.get("min", 1) <= places <= wanted.get("max", math.inf)
    return places in takewhile(lambda point: point <= places, _points(wanted))


def _points(wanted: Mapping[str, int]) -> Iterator[int]:
    """The concurrencies of a sweep: `from`, `from` * `factor`… up to `to`."""
    point, factor = wanted["from"], wanted.get("factor", 2)
    while point <= wanted.get("to", point):
        yield point
        point = max(point + 1, int(point * factor))


def _range(wanted: Mapping[str, int]) -> str:
    if "from" in wanted:
        first = [str(point) for point in islice(_points(wanted), _SHOWN + 1)]
        return f"one of {', '.join(first[:_SHOWN])}{', …' if len(first) > _SHOWN else ''}"
    least, greatest = wanted.get("min"), wanted.get("max")
    return f"{least or 1} to {greatest}" if greatest else f"at least {least or 1}"


def _unchecked(case: Case) -> RuleOutcome:
    del case
    return RuleOutcome("SKIP", reason="nothing checks it: a run does not say it in these words")
