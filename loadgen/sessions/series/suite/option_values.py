"""The options of `loadgen perf` in a file: by long name, with values of TOML and YAML.

What an option is comes from `PerfSettings` alone: its type, its choices, and the function that reads its text
on the command line. A new option of `loadgen perf` is a key of a suite without a word more.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.gating.reference import placed as ruleset_placed
from loadgen.sessions.run.benchmark_questions import placed_task
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings

if TYPE_CHECKING:
    from collections.abc import Mapping

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
