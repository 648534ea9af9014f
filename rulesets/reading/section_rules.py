"""Rules by section and name, each with a place, so that one file can overlay another."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from rulesets.demands import AuditDemand
from rulesets.expression import described
from rulesets.target import Target
from rulesets.value_text import in_words

if TYPE_CHECKING:
    from rulesets.document import DocumentPart
    from rulesets.reading.shape import Located

Key = tuple[str, str]
"""Section and name: ("validity", "min_samples"), ("targets", "ttft"), ("audit", "salt")."""


@dataclass(frozen=True, slots=True)
class RuleShape:
    """One rule.

    Attributes:
        value: A `Target`, an `AuditDemand`, or what its section holds.
    """

    value: Any
    part: DocumentPart


Rules = dict[Key, RuleShape]


def section(name: str, located: Located) -> Rules:
    """The keys of a part of a document as the rules of one section."""
    return {(name, key): RuleShape(value.plain(), value.part) for key, value in located.value.items()}


def values(rules: Rules, name: str) -> dict[str, Any]:
    """The values of a section by name."""
    return {key: rule.value for (section_name, key), rule in rules.items() if section_name == name}


def spelled(key: Key) -> str:
    """A key in the user's notation: the id of a target, else `validity.min_samples`."""
    return key[1] if key[0] == "targets" else ".".join(key)


def shown(value: Any) -> str:
    """A value in words."""
    if isinstance(value, Target):
        return described(value)
    if isinstance(value, AuditDemand):
        return in_words(value.parameters) or "asked for"
    return in_words(value)
