"""Settings that have a value for each concern, and flat names for all of their options.

A command's settings are a frozen dataclass whose fields are options or concerns; a concern is itself such a
dataclass (`settings.client.workers`). The command line, files and Python know only the names of the options,
which differ between the concerns of a command.
"""

from __future__ import annotations

from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

from loadgen.sessions.settings.field import SettingField, setting_field
from loadgen.sessions.settings.option import DECLARED

if TYPE_CHECKING:
    from collections.abc import Mapping


Settings = TypeVar("Settings")


def fields_of(settings: type[Any]) -> Mapping[str, SettingField]:
    """The options of settings by name, those of a concern in its place."""
    hashable: Any = settings  # mypy does not know it of classes
    return _fields_of(hashable)


@cache
def _fields_of(settings: Any) -> Mapping[str, SettingField]:
    options: dict[str, SettingField] = {}
    hints = _hints(settings)
    for field in fields(settings):
        hint = hints[field.name]
        if isinstance(hint, type) and is_dataclass(hint):
            options |= fields_of(hint)
        else:
            default = field.default if field.default_factory is MISSING else field.default_factory()
            options[field.name] = setting_field(field.name, hint, default, field.metadata.get(DECLARED))
    return options


def flat_values(settings: Any) -> dict[str, Any]:
    """The values of all options by name."""
    values: dict[str, Any] = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        values |= flat_values(value) if is_dataclass(value) else {field.name: value}
    return values


def set_flags(settings: Any, *names: str) -> list[str]:
    """The options that differ from the defaults, as typed on a command line."""
    options, values = fields_of(type(settings)), flat_values(settings)
    return [options[name].flag for name in names if values[name] != options[name].default]


def from_flat(settings: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make settings of the values of options by name.

    Raises:
        TypeError: An option does not exist, or one without a default is missing.
        UsageError: The values contradict each other.
    """
    if unknown := values.keys() - fields_of(settings).keys():
        raise TypeError(f"{settings.__name__} has no option {', '.join(sorted(unknown))}")
    return _made(settings, values)


def changed(settings: Settings, **values: Any) -> Settings:
    """The same settings with other values of some options."""
    return from_flat(type(settings), {**flat_values(settings), **values})


@cache
def _hints(settings: type[Any]) -> Mapping[str, Any]:
    """The types of the fields of settings, evaluated once: that takes milliseconds."""
    return get_type_hints(settings, include_extras=True)


def _made(settings: type[Settings], values: Mapping[str, Any]) -> Settings:
    hints = _hints(settings)  # type: ignore[arg-type]  # classes are hashable
    members: dict[str, Any] = {}
    for field in fields(settings):  # type: ignore[arg-type]  # settings are dataclasses
        if is_dataclass(hints[field.name]):
            members[field.name] = _made(hints[field.name], values)
        elif field.name in values:
            members[field.name] = values[field.name]
    return settings(**members)
