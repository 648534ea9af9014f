"""Plain command lines, read by the declarations of options: typer would take a fifth of a start."""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, get_args, get_origin

from loadgen.cli.command_table import COMMANDS, function
from loadgen.sessions.settings.concerns import fields_of, from_flat
from loadgen.sessions.settings.option import Argument
from workloads.registry import at

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from loadgen.sessions.settings.field import SettingField


def plain_command(arguments: Sequence[str]) -> Callable[[], None] | None:
    """The call of a command line; None for help, mistakes, and lines that only typer reads."""
    entry = COMMANDS.get(arguments[0]) if arguments else None
    if entry is None or entry.settings is None or entry.base is not None:
        return None
    settings = at(entry.settings)
    values = option_values(fields_of(settings).values(), arguments[1:])
    return None if values is None else partial(function(entry), from_flat(settings, values))


def option_values(options: Collection[SettingField], words: Sequence[str]) -> Mapping[str, Any] | None:
    """The values of options by name, of a command line and the environment; None for an unusual line."""
    typed = _typed(options, words)
    if typed is None:
        return None
    values: dict[str, Any] = {}
    for option in options:
        texts = typed.get(option.name) or _of_environment(option)
        if not texts:
            if option.is_required:
                return None
            continue
        spec = option.declared
        items = [plain_value(text, option.kind, spec.parser, spec.min, spec.max) for text in texts]
        if any(item is UNDECIDED for item in items):
            return None
        values[option.name] = items if option.is_list else items[-1]
    return values


def _typed(options: Collection[SettingField], words: Sequence[str]) -> Mapping[str, list[Any]] | None:
    by_flag = {flag: option for option in options for flag in (option.flag, *option.declared.flags.split())}
    typed: dict[str, list[Any]] = {}
    rest = iter(words)
    for word in rest:
        flag, joined, text = word.partition("=")
        option = by_flag.get(flag)
        if option is None or isinstance(option.declared, Argument) or (joined and not flag.startswith("--")):
            return None
        value: Any = text if joined else option.kind is bool or next(rest, "-")
        if (value is True) != (option.kind is bool) or str(value).startswith("-"):
            return None
        typed.setdefault(option.name, []).append(value)
    return typed


def _of_environment(option: SettingField) -> list[str]:
    text = next(filter(None, map(os.environ.get, option.declared.envvar)), None)
    return [] if text is None else text.split() if option.is_list else [text]


UNDECIDED: Final = object()
"""The result for an unusual text, which a validator reads or refuses."""

_WHOLE: Final = re.compile(r"-?[0-9]{1,15}")
_NUMBER: Final = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


def plain_value(
    value: Any,
    kind: Any,
    parser: Callable[[Any], Any] | None = None,
    least: float | None = None,
    greatest: float | None = None,
) -> Any:
    """The value of an option, from a text of the command line or the option's default.

    Args:
        value: The text, a list of them, or the default.
        kind: The type of the option, or the list type of one that is given several times.
        parser: Reads its text.
        least: The lowest number that is taken.
        greatest: The highest.

    Returns:
        The value; UNDECIDED where the text is unusual or wrong.

    Raises:
        Exception: What the parser raises, except ValueError and AssertionError.
    """
    if get_origin(kind) is list:
        (kind_of_one,) = get_args(kind)
        items = value if isinstance(value, list | tuple) else [value]
        values = [plain_value(item, kind_of_one, parser, least, greatest) for item in items]
        return UNDECIDED if any(item is UNDECIDED for item in values) else values
    if parser is not None:
        return _parsed(value, parser)
    if kind is int or kind is float:
        return _number(value, kind, least, greatest)
    if get_origin(kind) is Literal:
        return value if isinstance(value, str) and value in get_args(kind) else UNDECIDED
    if kind is Path:
        return _path(value)
    return value if kind in {str, bool} and type(value) is kind else UNDECIDED


def _parsed(value: Any, parser: Callable[[Any], Any]) -> Any:
    try:
        return parser(value)
    except (ValueError, AssertionError):
        return UNDECIDED


def _number(value: Any, kind: type[int | float], least: float | None, greatest: float | None) -> Any:
    if isinstance(value, str):
        if not (_WHOLE if kind is int else _NUMBER).fullmatch(value):
            return UNDECIDED
        value = kind(value)
    if not isinstance(value, kind) or isinstance(value, bool):
        return UNDECIDED
    within = (least is None or value >= least) and (greatest is None or value <= greatest)
    return value if within else UNDECIDED


def _path(value: Any) -> Any:
    if not isinstance(value, str | Path):
        return UNDECIDED
    # A path that exists but cannot be read is wrong.
    path = Path(value)
    return path if os.access(path, os.R_OK) or not os.access(path, os.F_OK) else UNDECIDED
