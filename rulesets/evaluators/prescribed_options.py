"""The options that the rules prescribe, compared with those that the run was started with."""

from __future__ import annotations

import json
from hashlib import sha256
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

KINDS: Final = ("options.set", "options.others")
_DIGITS: Final = 16


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for each option with a value, and one for the defaults of all others."""
    for name, wanted in ruleset.options.set.items():
        yield Rule(
            f"options.{name}",
            "options.set",
            "validity",
            f"{_flag(name)}: {in_words(wanted)}",
            lambda case, name=name, wanted=wanted: _option(name, wanted, case),  # type: ignore[misc]
        )
    if ruleset.options.free is not None:
        yield Rule("options.others", "options.others", "validity", "other options: default", _others)


def _option(name: str, wanted: object, case: Case) -> RuleOutcome:
    options = _of_run(case, "options")
    actual = options.get(name) if hasattr(options, "get") else None
    alike = actual == wanted or (actual is not None and str(actual) == str(wanted))
    how = "leave it out" if wanted in (False, None) else f"give {_flag(name)}{_typed(wanted)}"
    return same(_flag(name), wanted if alike else actual, wanted, remedy=how)


def _others(case: Case) -> RuleOutcome:
    """No option has another value than its default, but for those that are set here, or free."""
    demand, options = case.ruleset.options, _of_run(case, "options")
    fixed = {name: value for name, value in options.items() if name not in (demand.free or ())}
    method = f"sha256 of the options {digest(fixed)}"
    changed = sorted({*_of_run(case, "changed_options")} - {*demand.set, *(demand.free or ())})
    if not changed:
        return RuleOutcome("PASS", method=method)
    return RuleOutcome(
        "INVALID",
        method=method,
        reason=f"{', '.join(map(_flag, changed))}: not the default; required: the default",
        remedy="leave it out, or the result is not comparable",
    )


def digest(options: Mapping[str, Any]) -> str:
    """The first 16 hexadecimal digits of the SHA-256 of options as JSON, keys sorted."""
    text = json.dumps(options, sort_keys=True, default=str)
    return sha256(text.encode()).hexdigest()[:_DIGITS]


def _of_run(case: Case, name: str) -> Any:
    """The options of the run, or the names of those without the default.

    Raises:
        Unanswerable: The evidence is a report, which lacks them.
    """
    held = facts.run(case.report).get(name)
    if held is None:
        raise Unanswerable("the report does not have the run's options", "evaluate the run's log, which does")
    return held


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _typed(value: object) -> str:
    return "" if value is True else f" {value}"
