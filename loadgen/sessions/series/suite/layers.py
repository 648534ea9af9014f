"""The options of a suite's runs: by long name, from the file, the environment and flags, in this order.

`PerfSettings` defines each option: a new option of `loadgen perf` is a key of a suite without further code.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.reference import placed as ruleset_placed
from loadgen.sessions.run.benchmark_questions import placed_task
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.file_values import read_value
from loadgen.sessions.settings.perf import PerfSettings
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from loadgen.sessions.settings.field import SettingField


@cache
def options() -> Mapping[str, SettingField]:
    """Every option of a table, by name with `_`."""
    return {name: field for name, field in fields_of(PerfSettings).items() if not field.declared.instead}


def elsewhere(name: str) -> str | None:
    """The replacement of an option in a table; None for an unknown option."""
    field = fields_of(PerfSettings).get(name)
    return field.declared.instead or None if field else None


def variables() -> Mapping[str, tuple[str, ...]]:
    """The environment variables of an option, by name, in order of precedence."""
    fields = fields_of(PerfSettings)
    return {name: field.declared.envvar for name, field in fields.items() if field.declared.envvar}


_HISTOGRAM: Final = "histogram:"
_HUB: Final = "hf:"


def placed(values: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """The options, with paths relative to a folder made absolute."""
    return {name: _placed(name, value, folder.absolute()) for name, value in values.items()}


def _placed(name: str, value: Any, folder: Path) -> Any:
    if isinstance(value, Path):
        return folder / value.expanduser()
    if name == "task":
        return [placed_task(task, folder) for task in value]
    option = options().get(name)
    if option is None or not isinstance(value, str):
        return value
    return _placed_text(value, str(option.declared.metavar), folder)


def _placed_text(value: str, metavar: str, folder: Path) -> str:
    """The value of a text, by the kind of the option's value."""
    if metavar.endswith("NAME|FILE"):
        return ruleset_placed(value, folder)
    if metavar.startswith("FILE") and not value.startswith(_HUB):
        return str(folder / Path(value).expanduser())
    if metavar.endswith("FOLDER") and (folder / value).exists():
        return str(folder / value)
    if metavar == "DISTRIBUTION" and value.startswith(_HISTOGRAM):
        return _HISTOGRAM + str(folder / Path(value.removeprefix(_HISTOGRAM)).expanduser())
    return value


_OPTION: Final = re.compile(r"--(?:no-)?([a-z][a-z-]*)")


@dataclass(frozen=True, slots=True)
class SuiteLayer:
    """The options of a run from one place."""

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


def above(sets: Iterable[str], named: Mapping[str, Any]) -> list[SuiteLayer]:
    """The environment, then the flags, which take precedence."""
    own = {name: value for name, value in named.items() if value is not None}
    set_values = _sets(sets)
    if twice := sorted(own.keys() & set_values.keys()):
        flag = options()[twice[0]].flag
        raise UsageError(f"{flag} and --set {twice[0]}=…: give it once")
    return [
        *_environment(),
        *(SuiteLayer(options()[name].flag, {name: value}) for name, value in own.items()),
        SuiteLayer("--set", placed(set_values, Path.cwd())),
    ]


def _environment() -> list[SuiteLayer]:
    """The environment variables of `loadgen perf` that are set, without that of the key."""
    layers = []
    for name, names in variables().items():
        set_one = next((variable for variable in names if os.environ.get(variable)), None)
        if name in options() and set_one is not None:
            layers.append(SuiteLayer(set_one, {name: _from(set_one, options()[name])}))
    return layers


def _from(variable: str, option: SettingField) -> Any:
    """The value of an environment variable; of a repeatable option, one value per word."""
    text = os.environ[variable]
    if not option.is_list:
        return _read(variable, option, text)
    return [each for word in text.split() for each in _read(variable, option, word)]


def _sets(sets: Iterable[str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for text_of_set in sets:
        key, equals, text = text_of_set.partition("=")
        name = key.strip().removeprefix("--").replace("-", "_")
        if not equals:
            raise UsageError(f"--set {text_of_set}: write KEY=VALUE, e.g. --set max-tokens=64")
        option = options().get(name)
        if option is None:
            unknown = f"the option does not exist{did_you_mean(name, options())}"
            raise UsageError(f"--set {key}=…: {elsewhere(name) or unknown}")
        value = _read(f"--set {key}", option, text)
        if name in values and not option.is_list:
            raise UsageError(f"--set {key}=…: given twice")
        values[name] = [*values.get(name, ()), *value] if option.is_list else value
    return values


def _read(where: str, option: SettingField, text: str) -> Any:
    try:
        value = {"true": True, "false": False}.get(text, text) if option.kind is bool else text
        return read_value(option, value)
    except ValueError as error:
        raise UsageError(f"{where}: {error}") from None
