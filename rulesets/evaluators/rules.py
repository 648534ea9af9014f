"""All rules of a ruleset, ready to be evaluated."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.evaluators import (
    audits,
    change,
    dataset,
    generation,
    load,
    over_runs,
    power,
    seeds,
    steady,
    targets,
    validity,
)

if TYPE_CHECKING:
    from rulesets.evaluators.rule import Rule
    from rulesets.ruleset import Ruleset

_PARTS: Final = (
    validity,
    load,
    dataset,
    generation,
    seeds,
    power,
    steady,
    targets,
    change,
    audits,
    over_runs,
)
"""In the order of a verdict: what makes a run valid comes first."""

KINDS: Final = tuple(kind for part in _PARTS for kind in part.KINDS)
"""Every kind of rule that a run can meet or miss."""


def rules_of(ruleset: Ruleset) -> tuple[Rule, ...]:
    """Every rule of a ruleset, each once."""
    return tuple(rule for part in _PARTS for rule in part.rules(ruleset))
