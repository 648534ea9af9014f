"""Commands with plain help, and options whose usual values skip the validation of typer."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, get_args, get_origin

import typer
from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from collections.abc import Callable

_ALL: Final = "--help-all"

MANY: Final = 40
"""A command with more options than this shows the common ones, unless all of them are asked for."""


def _print_all(context: typer.Context, *, wanted: bool) -> None:
    if wanted:
        typer.echo(_page(context.command, context, everything=True))
        raise typer.Exit


HelpAll = Annotated[
    bool,
    typer.Option(
        _ALL,
        is_eager=True,
        callback=lambda context, value: _print_all(context, wanted=value),
        help="Show all options, and exit.",
    ),
]


class _Plain:
    """Plain help that fits 80 columns, and validation of unusual values only."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: of a command with many options the common ones."""
        formatter.write(_page(self, ctx, everything=False))

    def get_params(self, ctx: Any) -> Any:
        """The options and arguments."""
        return [_taking_plain_values(parameter) for parameter in super().get_params(ctx)]  # type: ignore[misc]


class HelpedCommand(_Plain, TyperCommand):
    """A typer command with plain help."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse; `--help-all` is the help of a command without further options."""
        if not any(_ALL in parameter.opts for parameter in self.params):
            args = ["--help" if argument == _ALL else argument for argument in args]
        rest: list[str] = super().parse_args(ctx, args)
        return rest


class PlainGroup(_Plain, TyperGroup):
    """A group of commands with plain help."""


def _taking_plain_values(parameter: Any) -> Any:
    """Make typer validate only unusual, wrong or missing values."""
    if "process_value" in vars(parameter):
        return parameter
    validated, kind = parameter.process_value, parameter.type_descriptor.annotation
    declared = parameter.type_descriptor.parameter_info

    def process_value(context: Any, value: Any) -> Any:
        if value is None:
            plain = () if parameter.multiple or parameter.nargs == -1 else None
        else:
            plain = plain_value(value, kind, declared.parser, declared.min, declared.max)
        if plain is UNDECIDED or declared.clamp or (parameter.required and plain in (None, (), [])):
            return validated(context, value)
        return plain if parameter.callback is None else parameter.callback(context, parameter, plain)

    parameter.process_value = process_value
    return parameter


def _page(command: Any, context: Any, *, everything: bool) -> str:
    from loadgen.cli.help_page import page

    return page(command, context, MANY, everything=everything)


UNDECIDED: Final = object()
"""Not plainly a value: a validator has to say what it is, or what is wrong with it."""

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
