"""The chain of `extends`, with the models and scenarios of all files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from rulesets import catalog
from rulesets.errors import RulesetError, suggestion
from rulesets.reading import ruleset_file as pages
from rulesets.reading.ruleset_file import ANY

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rulesets.reading.ruleset_file import ModelPage, RulesetPage

_LONGEST: Final = 16
"""No chain has more files."""


@dataclass(slots=True)
class ModelEntry:
    """A model that there are rules for.

    Attributes:
        name: `*` for any.
    """

    name: str
    aliases: list[str]
    scenarios: list[str]


def read(path: Path) -> Sequence[RulesetPage]:
    """Read a file and all extended files, the root first.

    Raises:
        RulesetFileError: One cannot be read, extends what is not there, or extends itself.
    """
    chain = [pages.read(path)]
    seen = [_identity(path)]
    while (extends := chain[0].extends) is not None:
        reference, part = extends
        try:
            path = catalog.find(reference, folder=path.parent)
        except RulesetError as error:
            raise part.error(str(error)) from error
        if not path.exists():
            raise part.error(f"there is no file {path}")
        if _identity(path) in seen:
            way = " → ".join([Path(ancestor.file).name for ancestor in reversed(chain)] + [path.name])
            raise part.error(f"goes round in a circle: {way}")
        if len(chain) == _LONGEST:
            raise part.error(f"makes a chain of more than {_LONGEST} files")
        if not path.is_file():
            raise part.error(f"{path} is not a file with rules")
        seen.append(_identity(path))
        chain.insert(0, pages.read(path))
    return chain


def _identity(path: Path) -> str:
    return str(path.resolve())


def entries(chain: Sequence[RulesetPage]) -> Sequence[ModelEntry]:
    """The models and scenarios that files have rules for.

    Raises:
        RulesetFileError: A file adds a model or a scenario to a locked one, or names one that is not there.
    """
    first, *others = chain
    there = [
        ModelEntry(
            model_page.name, list(model_page.aliases), [scenario.name for scenario in model_page.scenarios]
        )
        for model_page in first.models
    ]
    _check_any(first)
    for number, page in enumerate(others, 1):
        locked = next((before for before in chain[:number] if before.locked), None)
        for model in () if page.flat else page.models:
            _extend(there, model, locked)
    for entry in there:
        if not entry.scenarios:
            models = [model for page in chain for model in page.models if model.name == entry.name]
            raise models[-1].part.error("the key 'scenarios' is missing")
    return there


def _check_any(first: RulesetPage) -> None:
    for model in first.models:
        for scenario in model.scenarios:
            if scenario.name == ANY:
                raise scenario.part.error(
                    f"{ANY!r} is every scenario of a ruleset that is extended; name one here"
                )


def _extend(there: list[ModelEntry], model: ModelPage, locked: RulesetPage | None) -> None:
    """Add the models of an extending file."""
    named = [candidate for candidate in there if candidate.name.lower() == model.name.lower()]
    if model.name == ANY:
        named = there
    elif not named:
        named = [_new(there, model, locked)]
    for entry in named:
        entry.aliases += [alias for alias in model.aliases if alias not in entry.aliases]
    for scenario in model.scenarios:
        if scenario.name == ANY or any(scenario.name in candidate.scenarios for candidate in named):
            continue
        names = list(
            dict.fromkeys(scenario_name for candidate in named for scenario_name in candidate.scenarios)
        )
        if locked is not None:
            raise scenario.part.error(
                f"{locked.name} {locked.version} is locked and has no scenario {scenario.name!r} here; "
                f"{suggestion(scenario.name, names)}"
            )
        for entry in named:
            entry.scenarios.append(scenario.name)


def _new(there: list[ModelEntry], model: ModelPage, locked: RulesetPage | None) -> ModelEntry:
    """A model that is not there yet: one of those that `*` is for, or, where nothing is locked, one more."""
    anyone = next((candidate for candidate in there if candidate.name == ANY), None)
    if anyone is None and locked is not None:
        raise model.part.error(
            f"{locked.name} {locked.version} is locked and has no model {model.name!r}; "
            f"{suggestion(model.name, [candidate.name for candidate in there])}"
        )
    entry = ModelEntry(model.name, [], list(anyone.scenarios) if anyone else [])
    there.append(entry)
    return entry
