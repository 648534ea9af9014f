"""Who has the last word: what several places say of one run, merged key by key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_OPTION: Final = re.compile(r"--(?:no-)?([a-z][a-z-]*)")


@dataclass(frozen=True, slots=True)
class SuiteLayer:
    """What one place says of a run.

    Attributes:
        name: How a message calls the place: `[defaults]`, `[[loads]] 2 (busy)`, `LOADGEN_URL`, `--set`.
        values: What it says, by option.
    """

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """What holds for a run.

    Attributes:
        values: By option; without those of which nobody says anything.
        origins: The names of the places that say something, by option; the last of them had the last word.
    """

    values: Mapping[str, Any]
    origins: Mapping[str, tuple[str, ...]]

    def blamed(self, message: str) -> str:
        """End a message that complains of options with who said them; empty where none did."""
        named = dict.fromkeys(name.replace("-", "_") for name in _OPTION.findall(message))
        told = [f"{name} is said by {self.origins[name][-1]}" for name in named if name in self.origins]
        return f" ({', '.join(told)})" if told else ""


def merged(layers: Iterable[SuiteLayer]) -> Merged:
    """Merge what places say, the last of them with the last word; a list replaces a list."""
    values: dict[str, Any] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        values |= layer.values
        origins |= {name: (*origins.get(name, ()), layer.name) for name in layer.values}
    return Merged(values, origins)
