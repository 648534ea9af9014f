"""Demands on the run: a miss makes the run invalid rather than the server slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulesets.evaluators.rule_row import RuleOutcome, is_asked_for
from rulesets.quantity import COMPARE
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from rulesets.quantity import Op


def bounded(
    name: str, observed: float | None, op: Op, bound: float, *, unit: str = "", n: int = 0, remedy: str = ""
) -> RuleOutcome:
    """Compare a figure of the run with a bound."""
    if observed is not None and COMPARE[op](observed, bound):
        return RuleOutcome("PASS", observed, n, method=name)
    return RuleOutcome(
        "INVALID", observed, n, name, reason=is_asked_for(name, observed, op, bound, unit), remedy=remedy
    )


def same(name: str, actual: object, wanted: object, *, remedy: str = "") -> RuleOutcome:
    """Compare a property of the run with the one that the rules prescribe."""
    if actual == wanted:
        return RuleOutcome("PASS", method=name)
    shown = "unknown" if actual is None else in_words(actual)
    return RuleOutcome(
        "INVALID",
        method=name,
        reason=f"{name} = {shown}; required: {in_words(wanted)}",
        remedy=remedy,
    )
