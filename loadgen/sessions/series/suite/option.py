"""The options of `loadgen perf` in a file: by long name, with values of TOML and YAML.

What an option is comes from `PerfSettings` alone: its type, its choices, and the function that reads its text
on the command line. A new option of `loadgen perf` is a key of a suite without a word more.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

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
