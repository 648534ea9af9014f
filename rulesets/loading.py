"""Rulesets by name or from files, resolved for a model and a scenario."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from rulesets.errors import RulesetError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from rulesets.demands import LoadDemand
    from rulesets.extending.chain import ModelEntry
    from rulesets.ruleset import Ruleset


@dataclass(frozen=True, slots=True)
class Book:
    """A ruleset for all models and scenarios.

    Attributes:
        locked: Whether a file that extends it may only tighten it.
    """

    name: str
    version: str
    locked: bool
    entries: Sequence[ModelEntry]
    rulesets: Mapping[tuple[str, str], Ruleset]

    def contents(self) -> str:
        """The names of the models and scenarios, in one line."""
        scenarios = dict.fromkeys(name for entry in self.entries for name in entry.scenarios)
        models = [entry.name for entry in self.entries]
        return f"{'any model' if models == ['*'] else ', '.join(models)}; {', '.join(scenarios)}"


def load(
    reference: Path | str,
    *,
    model: str | None = None,
    scenario: str | None = None,
    pattern: str | None = None,
    concurrency: int | None = None,
) -> Ruleset:
    """Load a ruleset and resolve the rules for a run.

    Args:
        reference: NAME@VERSION, NAME for its newest version, or a file.
        model: The run's model; None where it is not known.
        scenario: SCENARIO or MODEL/SCENARIO; None to choose by the rest.
        pattern: The kind of load of the run, or a pattern; None where it is not known.
        concurrency: The requests that it has in flight; None where that is not prescribed.

    Raises:
        RulesetFileError: It cannot be read or is not a ruleset; the message names file, line and key.
        RulesetError: No ruleset has that name, or several of its models or scenarios fit.
    """
    from rulesets.choosing import choose

    book = read(reference)

    def load_of(model: str, scenario: str) -> LoadDemand | None:
        return book.rulesets[model, scenario].load

    title = f"{book.name} {book.version}"
    return book.rulesets[
        choose(
            title,
            book.entries,
            load_of,
            model=model,
            scenario=scenario,
            pattern=pattern,
            concurrency=concurrency,
        )
    ]


def mistake(reference: Path | str, section: str, name: str, message: str) -> RulesetError:
    """Make an error about a rule for all models, with the file, line and key of the rule.

    Raises:
        RulesetFileError: The ruleset cannot be read.
    """
    from rulesets import catalog
    from rulesets.extending import chain

    for page in reversed(chain.read(catalog.find(reference))):
        if (section, name) in page.shared:
            return page.shared[section, name].part.error(message)
    return RulesetError(f"{reference}: {section}.{name}: {message}")


def read(reference: Path | str) -> Book:
    """Read a ruleset for all models and scenarios, and validate every rule.

    Raises:
        RulesetFileError: It cannot be read or is not a ruleset; the message names file, line and key.
        RulesetError: No ruleset has this name.
    """
    from rulesets import catalog
    from rulesets.extending import chain
    from rulesets.extending.assembling import assemble

    pages = chain.read(catalog.find(reference))
    entries = chain.entries(pages)
    return Book(
        name=pages[-1].name,
        version=pages[-1].version,
        locked=any(page.locked for page in pages),
        entries=entries,
        rulesets={
            (entry.name, scenario): assemble(pages, entry.name, scenario)
            for entry in entries
            for scenario in entry.scenarios
        },
    )
