"""The precedence of options: those of several places for one run, merged key by key."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_OPTION: Final = re.compile(r"--(?:no-)?([a-z][a-z-]*)")


@dataclass(frozen=True, slots=True)
class SuiteLayer:
    """The options of a run from one place.

    Attributes:
        name: The place's name in messages: `[defaults]`, `[[loads]] 2 (busy)`, `LOADGEN_URL`, `--set`.
        values: The options.
    """

    name: str
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged options of a run.

    Attributes:
        values: The options that at least one place sets.
        origins: The names of the places that set an option, by option; the last one has precedence.
    """

    values: Mapping[str, Any]
    origins: Mapping[str, tuple[str, ...]]

    def blamed(self, message: str) -> str:
        """The origins of the options in an error message, as a suffix; empty without any."""
        named = dict.fromkeys(name.replace("-", "_") for name in _OPTION.findall(message))
        origins_of_options = [
            f"{name} is set by {self.origins[name][-1]}" for name in named if name in self.origins
        ]
        return f" ({', '.join(origins_of_options)})" if origins_of_options else ""


def merged(layers: Iterable[SuiteLayer]) -> Merged:
    """Merge layers, the last one with precedence; a list replaces a list."""
    values: dict[str, Any] = {}
    origins: dict[str, tuple[str, ...]] = {}
    for layer in layers:
        values |= layer.values
        origins |= {name: (*origins.get(name, ()), layer.name) for name in layer.values}
    return Merged(values, origins)
