"""Settings from Python values: the same names, defaults and checks as the options of a command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeVar

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import fields_of, from_flat
from loadgen.sessions.settings.file_values import read_value
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.field import SettingField

Settings = TypeVar("Settings")

OF_THE_TERMINAL: Final = frozenset(
    {"compact", "dry_run", "form", "json", "no_live", "quiet", "summary", "verbose"}
)
"""Settings of a command's output, which Python does not use."""


def python_fields(settings: type[object]) -> Mapping[str, SettingField]:
    """The fields of a settings class that Python can set, by their names."""
    return {name: field for name, field in fields_of(settings).items() if name not in OF_THE_TERMINAL}


def settings_of(settings: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make settings of Python values.

    A text is read as the command line reads it (`duration="30s"`), a single value becomes a list of one, and
    None means the default.
    """
    fields = python_fields(settings)
    for name in values:
        if name not in fields:
            raise UsageError(f"unknown setting {name!r}{did_you_mean(name, fields)}")
    set_values = {name: _value(fields[name], value) for name, value in values.items() if value is not None}
    for name, field in fields.items():
        if field.is_required and name not in set_values:
            raise UsageError(f"{name} is missing")
    return from_flat(settings, set_values)


def _value(field: SettingField, value: Any) -> Any:
    try:
        return read_value(field, value)
    except ValueError as error:
        raise UsageError(f"{field.name}: {error}") from error
