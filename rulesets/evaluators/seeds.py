"""The seeds that the rules prescribe, compared with those that were used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.evaluators.demand import same
from rulesets.evaluators.generation import in_body
from rulesets.evaluators.rule_row import Rule, RuleOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("seeds.sample_index", "seeds.schedule", "seeds.model")
QSL: Final = "seeds.qsl"


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule per seed."""
    for name, wanted in ruleset.seeds.items():
        yield Rule(
            id=f"seeds.{name}",
            kind=f"seeds.{name}",
            group="validity",
            text=f"{name}: {wanted}",
            evaluate=lambda case, name=name, wanted=wanted: evaluate(name, wanted, case),  # type: ignore[misc]
        )


def evaluate(name: str, wanted: int, case: Case) -> RuleOutcome:
    """Evaluate one seed."""
    if name not in _USED:
        return RuleOutcome("SKIP", reason="there is no library of samples that it could draw from")
    used, option = _USED[name]
    if name == "schedule" and facts.load(case.report).get("kind") in {"closed", "offline"}:
        return RuleOutcome("SKIP", reason="the load has no schedule that a seed could draw")
    how = f"use it: {option.format(wanted)}" if option else f"ask: {in_body(case.ruleset)}"
    return same(f"the {name} seed", used(case.report), wanted, remedy=how)


def _seed(report: Mapping[str, Any]) -> object:
    return facts.run(report).get("seed")


def _schedule(report: Mapping[str, Any]) -> object:
    seed = facts.run(report).get("schedule_seed")
    return _seed(report) if seed is None else seed


def _model(report: Mapping[str, Any]) -> object:
    return facts.section(report, "run", "generation").get("seed")


_USED: Final[Mapping[str, tuple[Callable[[Mapping[str, Any]], object], str]]] = {
    "sample_index": (_seed, "--seed {}"),
    "schedule": (_schedule, "--schedule-seed {}"),
    "model": (_model, ""),
}
"""Where the report has each seed, and the option that sets it; a member of each request without an option."""
