"""All rules of a ruleset, ready to be evaluated."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rulesets.evaluators.rule import Rule
    from rulesets.ruleset import Ruleset

_PARTS: Final[Mapping[str, Callable[[Ruleset], object]]] = {
    "validity": lambda ruleset: ruleset.validity,
    "load": lambda ruleset: ruleset.load,
    "dataset": lambda ruleset: ruleset.dataset != type(ruleset.dataset)(),
    "generation": lambda ruleset: ruleset.generation.settings,
    "seeds": lambda ruleset: ruleset.seeds,
    "power": lambda ruleset: ruleset.power,
    "steady": lambda ruleset: ruleset.steady_state != type(ruleset.steady_state)(),
    "targets": lambda ruleset: ruleset.targets,
    "change": lambda ruleset: ruleset.baseline or any(target.delta for target in ruleset.targets),
    "audits": lambda ruleset: ruleset.audits,
    "over_runs": lambda ruleset: ruleset.sweep,
}
"""The modules with rules, and whether a ruleset has some, in the order of a verdict: validity comes first.

A module is loaded for a ruleset that needs it."""


def kinds() -> tuple[str, ...]:
    """Every kind of rule that a run can meet or miss."""
    return tuple(kind for name in _PARTS for kind in _part(name).KINDS)


def rules_of(ruleset: Ruleset) -> tuple[Rule, ...]:
    """Every rule of a ruleset, each once."""
    return tuple(
        rule for name, has_some in _PARTS.items() if has_some(ruleset) for rule in _part(name).rules(ruleset)
    )


def _part(name: str) -> Any:
    return import_module(f"rulesets.evaluators.{name}")
