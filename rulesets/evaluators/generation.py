"""The required settings of requests, compared with the settings used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Final

from rulesets.errors import Unanswerable
from rulesets.evaluators import facts
from rulesets.evaluators.demand import same
from rulesets.evaluators.rule_row import Rule, RuleOutcome
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ("generation.setting",)

_MEMBERS: Final = {"max_new_tokens": "max_tokens", "min_new_tokens": "min_tokens"}
"""Settings that a request spells otherwise."""

_OPTIONS: Final = {"max_tokens": "--max-tokens", "temperature": "--temperature"}


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule per setting. A different value makes the run invalid only where settings are locked."""
    of_a_run = settings(ruleset)
    for name in ruleset.generation.settings:
        yield (
            _rule(name, of_a_run[name], ruleset)
            if name in of_a_run
            else Rule(f"generation.{name}", "generation.setting", "validity", name, _of_accuracy)
        )


def _rule(name: str, wanted: object, ruleset: Ruleset) -> Rule:
    return Rule(
        id=f"generation.{name}",
        kind="generation.setting",
        group="validity",
        text=f"{name}: {in_words(wanted)}",
        evaluate=lambda case: evaluate(name, wanted, case),
        severity="fail" if ruleset.generation.locked else "warn",
    )


def _of_accuracy(case: Case) -> RuleOutcome:
    del case
    return RuleOutcome("SKIP", reason="the rules say it of accuracy runs only")


def settings(ruleset: Ruleset) -> Mapping[str, Any]:
    """The settings of a performance run."""
    return {
        name: wanted["performance"] if hasattr(wanted, "get") else wanted
        for name, wanted in ruleset.generation.settings.items()
        if not hasattr(wanted, "get") or "performance" in wanted
    }


def evaluate(name: str, wanted: object, case: Case) -> RuleOutcome:
    """Evaluate one setting.

    Raises:
        Unanswerable: The report does not have the settings of requests.
    """
    member = _MEMBERS.get(name, name)
    asked = _asked(case.report)
    if asked is None:
        raise Unanswerable(
            "the report does not say what each request asked for", "evaluate the run's log, which does"
        )
    how = f"{_OPTIONS[member]} {wanted}" if member in _OPTIONS else in_body(case.ruleset)
    return same(f"the request's {member}", _listed(asked.get(member)), _listed(wanted), remedy=f"ask: {how}")


def in_body(ruleset: Ruleset) -> str:
    """The option for members without a dedicated option; to be given only once."""
    named = {_MEMBERS.get(name, name): wanted for name, wanted in settings(ruleset).items()}
    members = {name: wanted for name, wanted in named.items() if name not in _OPTIONS}
    seed = {"seed": ruleset.seeds["model"]} if "model" in ruleset.seeds else {}
    return f"--extra-body '{json.dumps(members | seed, default=list)}'"


def _listed(value: object) -> object:
    """The JSON form of a value: a tuple becomes a list."""
    return list(value) if isinstance(value, tuple) else value


def _asked(report: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The members of each request."""
    members = facts.run(report).get("generation")
    return members if hasattr(members, "get") else None
