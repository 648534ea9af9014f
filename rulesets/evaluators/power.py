"""Power: no client can measure a remote endpoint's power, so the user must provide the figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from rulesets.evaluators import facts
from rulesets.evaluators.rule_row import Rule, RuleOutcome
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("power",)


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule where the rules speak of power."""
    if ruleset.power and (ruleset.power.get("required") or ruleset.power.get("source", "none") != "none"):
        yield Rule(
            "power",
            "power",
            "validity",
            f"power: {in_words(ruleset.power)}",
            lambda case: _evaluate(case.ruleset.power, case),
            unit="W",
        )


def _evaluate(wanted: Mapping[str, Any], case: Case) -> RuleOutcome:
    figure = facts.section(case.report, "run", "power")
    watts, source = facts.number(figure.get("watts")), figure.get("source")
    asked = wanted.get("source", "none")
    if watts is None:
        return RuleOutcome(
            "FAIL" if wanted.get("required") else "SKIP",
            reason="the run has no power figure, and a client cannot measure a remote endpoint's power",
            remedy=f"measure it at the server, and tell the gate: --power {_source(asked)}:WATTS",
        )
    if asked not in {"none", source}:
        return RuleOutcome(
            "FAIL",
            watts,
            reason=f"the figure of power is {source}; required: {asked}",
            remedy=f"figures of different kinds are never mixed: measure that one, --power {asked}:WATTS",
        )
    return RuleOutcome("PASS", watts, 1, f"power: {source}")


def _source(asked: str) -> str:
    return "SOURCE" if asked == "none" else asked
