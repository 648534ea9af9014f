"""Demands on the run itself: what is not met makes it invalid, not the server slow."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulesets.evaluators.rule import RuleOutcome, is_asked_for
from rulesets.quantity import COMPARE
from rulesets.words import in_words

if TYPE_CHECKING:
    from rulesets.quantity import Op


def bounded(
    name: str, observed: float | None, op: Op, bound: float, *, unit: str = "", n: int = 0, remedy: str = ""
) -> RuleOutcome:
    """Hold a figure of the run against a bound.

    Args:
        name: What the figure is called in a sentence.
        observed: It, in `unit`; None where it was not measured.
        op: How it must stand to the bound.
        bound: In `unit`.
        unit: Empty for a plain number.
        n: How many samples are behind it.
        remedy: What would help.
    """
    if observed is not None and COMPARE[op](observed, bound):
        return RuleOutcome("PASS", observed, n, method=name)
    return RuleOutcome(
        "INVALID", observed, n, name, reason=is_asked_for(name, observed, op, bound, unit), remedy=remedy
    )


def same(name: str, told: object, wanted: object, *, remedy: str = "") -> RuleOutcome:
    """Hold something that the run says of itself against what the rules say."""
    if told == wanted:
        return RuleOutcome("PASS", method=name)
    said = "unknown" if told is None else in_words(told)
    return RuleOutcome(
        "INVALID",
        method=name,
        reason=f"{name} = {said}; required: {in_words(wanted)}",
        remedy=remedy,
    )
