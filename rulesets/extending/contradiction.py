"""Targets that no run can meet at once."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING

from rulesets import bounds
from rulesets.reading.section_rules import Rules, shown, spelled
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rulesets.reading.section_rules import Key, RuleShape


def check(rules: Rules) -> None:
    """Check that all rules can be met together.

    Raises:
        RulesetFileError: Two rules contradict each other.
    """
    for (key, (target, rule)), (other_key, (other, other_rule)) in combinations(_demands(rules), 2):
        if bounds.subject(target) == bounds.subject(other) and not bounds.of(target).meets(bounds.of(other)):
            raise other_rule.part.error(
                f"can never pass together with {spelled(key)!r} (line {rule.part.line}): "
                f"{shown(other)} and {shown(target)} contradict each other"
                if other_key[0] == "targets"
                else f"contradicts {spelled(key)!r} (line {rule.part.line})"
            )


def _demands(rules: Rules) -> Iterator[tuple[Key, tuple[Target, RuleShape]]]:
    """Everything that bounds a figure and fails a run, as targets."""
    for key, rule in rules.items():
        if isinstance(rule.value, Target) and rule.value.severity == "fail":
            yield key, (replace(rule.value, confidence=None), rule)
    samples = rules.get(("validity", "min_samples"))
    if samples is not None:
        completed = Target.of(metric="completed", op=">=", value=samples.value)
        yield ("validity", "min_samples"), (completed, samples)
