"""Settings that have a value for each concern, and flat names for all of their options.

A command's settings are a frozen dataclass whose fields are options or concerns; a concern is itself such a
dataclass (`settings.client.workers`). The command line, files and Python know only the names of the options,
which differ between the concerns of a command.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Mapping
    from dataclasses import Field

Settings = TypeVar("Settings")


@dataclass(frozen=True, slots=True)
class FlatOption:
    """An option of settings, in whichever concern it is.

    Attributes:
        field: Its field.
        hint: Its type, annotated with its declaration.
    """

    field: Field[Any]
    hint: Any


def flat_options(settings: type[Any]) -> Mapping[str, FlatOption]:
    """The options of settings by name, those of a concern in its place."""
    options: dict[str, FlatOption] = {}
    hints = _hints(settings)  # type: ignore[arg-type]  # classes are hashable
    for field in fields(settings):
        hint = hints[field.name]
        is_concern = isinstance(hint, type) and is_dataclass(hint)
        options |= flat_options(hint) if is_concern else {field.name: FlatOption(field, hint)}
    return options


def flat_values(settings: Any) -> dict[str, Any]:
    """The values of all options by name."""
    values: dict[str, Any] = {}
    for field in fields(settings):
        value = getattr(settings, field.name)
        values |= flat_values(value) if is_dataclass(value) else {field.name: value}
    return values


def from_flat(settings: type[Settings], values: Mapping[str, Any]) -> Settings:
    """Make settings of the values of options by name.

    Raises:
        TypeError: An option does not exist, or one without a default is missing.
        UsageError: The values contradict each other.
    """
    if unknown := values.keys() - flat_options(settings).keys():
        raise TypeError(f"{settings.__name__} has no option {', '.join(sorted(unknown))}")
    return _made(settings, values)


def changed(settings: Settings, **values: Any) -> Settings:
    """The same settings with other values of some options.

    Raises:
        TypeError: An option does not exist.
        UsageError: The values contradict each other.
    """
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
