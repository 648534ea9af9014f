"""A ruleset file before resolving: rules by section and name, for models and scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets import document
from rulesets.reading.keys import FLAT, SCHEMA, WHOLE
from rulesets.reading.sections import demands, scenario_rules, shared

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rulesets.document import DocumentPart
    from rulesets.reading.section_rules import Rules
    from rulesets.reading.shape import Located

ANY: Final = "*"
"""The model that is any model; in a file that extends another also the scenario that is any."""
DEFAULT: Final = "default"
"""The scenario of a flat file."""


@dataclass(frozen=True, slots=True)
class ScenarioPage:
    """The rules of a file for one scenario.

    Attributes:
        name: `*` for every scenario.
        drop: The ids of rules that do not apply, each with its place.
    """

    name: str
    part: DocumentPart
    rules: Rules
    notes: tuple[str, ...] = ()
    drop: tuple[tuple[str, DocumentPart], ...] = ()


@dataclass(frozen=True, slots=True)
class ModelPage:
    """The rules of a file for one model.

    Attributes:
        name: `*` for every model.
        rules: Those of all its scenarios.
        scenarios: In the order of the file.
    """

    name: str
    part: DocumentPart
    rules: Rules
    scenarios: tuple[ScenarioPage, ...]
    aliases: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class RulesetPage:
    """The rules of a file.

    Attributes:
        part: The whole of it.
        extends: The ruleset that it extends, with the place; None for none.
        locked: Whether a file that extends it may only tighten it.
        shared: The rules of all models and scenarios.
        models: In the order of the file; of a flat file `*` with one scenario.
        flat: Whether it has no models.
    """

    file: str
    part: DocumentPart
    name: str
    version: str
    extends: tuple[str, DocumentPart] | None
    locked: bool
    source: tuple[str, ...]
    notes: tuple[str, ...]
    shared: Rules
    models: tuple[ModelPage, ...]
    flat: bool


def read(path: Path) -> RulesetPage:
    """Read a ruleset file.

    Raises:
        RulesetFileError: It cannot be read or is not a ruleset; the message names file, line and key.
    """
    whole = document.read(path)
    _check_schema(whole)
    top = WHOLE.read(whole)
    fields: Mapping[str, Located] = top.value
    head = fields["ruleset"].value
    return RulesetPage(
        file=whole.file,
        part=whole,
        name=head["name"].value,
        version=head["version"].value,
        extends=(head["extends"].value, head["extends"].part) if "extends" in head else None,
        locked=head["locked"].value if "locked" in head else False,
        source=_texts(head, "source"),
        notes=_texts(head, "notes"),
        shared=shared(fields),
        models=_models(fields, whole),
        flat="models" not in fields,
    )


def _check_schema(whole: DocumentPart) -> None:
    """See first that the file is of this format: of another, every other key may be unknown."""
    if not whole.is_mapping():
        return
    there = whole.names().get("schema")
    if there is not None and there.text() != SCHEMA:
        raise there.error(f"is {there.text()!r}, and this version reads {SCHEMA!r}")


def _texts(fields: Mapping[str, Located], name: str) -> tuple[str, ...]:
    return tuple(fields[name].plain()) if name in fields else ()


def _models(fields: Mapping[str, Located], whole: DocumentPart) -> tuple[ModelPage, ...]:
    if "models" not in fields:
        rules, drop = scenario_rules(fields), _drop(fields)
        return (ModelPage(ANY, whole, {}, (ScenarioPage(DEFAULT, whole, rules, (), drop),)),)
    misplaced = next((name for name in FLAT if name in fields), None)
    if misplaced is not None:
        raise fields[misplaced].part.error(
            "is at the top level next to models, and belongs into one of their scenarios"
        )
    return tuple(_model(name, model) for name, model in fields["models"].value.items())


def _model(name: str, located: Located) -> ModelPage:
    fields: Mapping[str, Located] = located.value
    scenarios = fields["scenarios"].value if "scenarios" in fields else {}
    return ModelPage(
        name=name,
        part=located.part,
        rules=demands(fields),
        scenarios=tuple(_scenario(scenario, section) for scenario, section in scenarios.items()),
        aliases=_texts(fields, "aliases"),
        notes=_texts(fields, "notes"),
    )


def _scenario(name: str, located: Located) -> ScenarioPage:
    rules, drop = scenario_rules(located.value), _drop(located.value)
    return ScenarioPage(name, located.part, rules, _texts(located.value, "notes"), drop)


def _drop(fields: Mapping[str, Located]) -> tuple[tuple[str, DocumentPart], ...]:
    return tuple((item.value, item.part) for item in fields["drop"].value) if "drop" in fields else ()
