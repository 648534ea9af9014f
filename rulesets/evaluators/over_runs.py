"""Rules over several runs: a single run cannot meet or miss such a rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rulesets.evaluators.rule_row import Rule, RuleOutcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulesets.evaluators.rule_row import Case
    from rulesets.ruleset import Ruleset

KINDS: Final = ()
SWEEP: Final = "sweep"


def rules(ruleset: Ruleset) -> Iterator[Rule]:
    """One rule for all rules of the sweep, which `rulesets.sweeps` evaluates one by one."""
    sweep = ruleset.sweep
    if sweep is None:
        return
    parts = [name for name in ("points", "pareto", "search") if getattr(sweep, name)]
    named = ", ".join(dict.fromkeys([*parts, *(name for name, _ in sweep.checks)]))
    yield Rule(SWEEP, SWEEP, "sweep", f"over several runs: {named}", _of_several)


def _of_several(case: Case) -> RuleOutcome:
    del case
    return RuleOutcome("SKIP", reason="one run is not a sweep", remedy="evaluate the folder of the sweep")
