"""The rules of one model and one scenario, of files that extend one another."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from rulesets import bounds
from rulesets.definitions import Definitions
from rulesets.errors import suggestion
from rulesets.extending.tighter import loosened
from rulesets.reading.ruleset_file import ANY
from rulesets.reading.section_rules import Rules, shown, spelled
from rulesets.target import Target

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rulesets.document import DocumentPart
    from rulesets.reading.ruleset_file import ModelPage, RulesetPage, ScenarioPage
    from rulesets.reading.section_rules import Key, RuleShape


def _check_consistent(rules: Rules) -> None:
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


_DEMANDING: Final = ("targets", "validity", "audit", "load", "steady_state", "baseline", "sweep")
"""The sections that ask something of a run; others say how figures are made and reported."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The rules of one model and one scenario.

    Attributes:
        overrides: What files changed in rules that are not locked.
    """

    rules: Rules
    notes: tuple[str, ...]
    overrides: tuple[str, ...]


def resolve(pages: Sequence[RulesetPage], model: str, scenario: str) -> Resolved:
    """Lay files over one another, the one that extends all others last.

    Raises:
        RulesetFileError: A rule of a locked file is loosened, what is dropped is not there, nothing is
            demanded, or no run could meet it all.
    """
    rules: Rules = {}
    notes: list[str] = []
    overrides: list[str] = []
    locks: list[tuple[RulesetPage, Rules]] = []
    for number, page in enumerate(pages):
        before, layer = rules, _RuleLayer.of(page, model, scenario, root=number == 0)
        rules = _over(before, layer.rules)
        dropped = _drop(rules, layer.drop)
        for locked, lock in locks:
            _check_lock(locked, lock, rules, dropped, page.part)
        if number and not pages[number - 1].locked:
            overrides += _changes(before, layer.rules, rules)
        if page.locked:
            locks.append((page, dict(rules)))
        notes += layer.notes
    if not any(section.partition(".")[0] in _DEMANDING for section, _ in rules):
        raise _where(pages[-1], model, scenario).error(
            "demands nothing, and a gate without a target would pass everything; give targets"
        )
    _check_consistent(rules)
    return Resolved(rules, tuple(dict.fromkeys(notes)), tuple(overrides))


@dataclass(frozen=True, slots=True)
class _RuleLayer:
    """The rules of one file for a model and a scenario."""

    rules: Rules
    notes: tuple[str, ...]
    drop: tuple[tuple[str, DocumentPart], ...]

    @classmethod
    def of(cls, page: RulesetPage, model: str, scenario: str, *, root: bool) -> _RuleLayer:
        models = list(_models(page, model, root=root))
        scenarios = [section for entry in models for section in _scenarios(page, entry, scenario)]
        parts: Sequence[ModelPage | ScenarioPage] = (*models, *scenarios)
        rules = dict(page.shared)
        for part in parts:
            rules |= part.rules
        notes = [*page.notes, *(note for part in parts for note in part.notes)]
        return cls(rules, tuple(notes), tuple(drop for section in scenarios for drop in section.drop))


def _models(page: RulesetPage, model: str, *, root: bool) -> Iterator[ModelPage]:
    """The entries of a page for a model: the name, else `*`; in an extending file `*` first."""
    named = [entry for entry in page.models if entry.name != ANY and entry.name.lower() == model.lower()]
    anyone = [entry for entry in page.models if entry.name == ANY]
    yield from (named or anyone) if root else (*anyone, *named)


def _scenarios(page: RulesetPage, model: ModelPage, scenario: str) -> Iterator[ScenarioPage]:
    if page.flat:
        yield from model.scenarios
        return
    yield from (section for section in model.scenarios if section.name == ANY)
    yield from (section for section in model.scenarios if section.name == scenario)


def _over(before: Rules, layer: Rules) -> Rules:
    """Rules with an overlay; a load of another pattern replaces the whole load."""
    pattern = layer.get(("load", "pattern"))
    there = before.get(("load", "pattern"))
    if pattern is not None and there is not None and pattern.value != there.value:
        before = {key: rule for key, rule in before.items() if key[0] != "load"}
    return {**before, **layer}


def _drop(rules: Rules, drop: Sequence[tuple[str, DocumentPart]]) -> dict[str, DocumentPart]:
    """Take rules away, and say where each was."""
    names = {spelled(key): key for key in rules}
    dropped: dict[str, DocumentPart] = {}
    for name, part in drop:
        if name not in names:
            raise part.error(f"unknown rule {name!r} to drop; {suggestion(name, names)}")
        rules.pop(names[name], None)
        dropped[name] = part
    return dropped


def _check_lock(
    locked: RulesetPage, before: Rules, after: Rules, dropped: dict[str, DocumentPart], whole: DocumentPart
) -> None:
    """See that nothing is loosened; of several rules one is named that the file speaks of."""
    loosened_keys = sorted(loosened(before, after), key=lambda entry: entry[0] not in after)
    for key, why in loosened_keys[:1]:
        part = after[key].part if key in after else dropped.get(spelled(key), whole)
        raise part.error(
            f"loosens {spelled(key)!r} of {locked.name} {locked.version}, which is locked: {why}; "
            "a file that extends it may only tighten its rules"
        )


def _changes(before: Rules, layer: Rules, after: Rules) -> Iterator[str]:
    """The changes of an extending file, in words."""
    for key, rule in before.items():
        if key not in after:
            yield f"{spelled(key)}: dropped ({shown(rule.value)})"
        elif _meant(rule.value) != _meant(after[key].value):
            yield f"{spelled(key)}: {shown(after[key].value)} instead of {shown(rule.value)}"
    for key, rule in layer.items():
        if key[0] == "definitions" and key not in before and rule.value != getattr(Definitions(), key[1]):
            yield f"{spelled(key)}: {shown(rule.value)} instead of {shown(getattr(Definitions(), key[1]))}"


def _meant(value: Any) -> Any:
    """A value without notes."""
    return replace(value, note="", source="") if isinstance(value, Target) else value


def _where(page: RulesetPage, model: str, scenario: str) -> DocumentPart:
    """Where a file says most of a model and a scenario."""
    models = list(_models(page, model, root=False))
    scenarios = [section.part for entry in models for section in _scenarios(page, entry, scenario)]
    return [page.part, *(entry.part for entry in models), *scenarios][-1]
