"""Commands with plain help, and options whose usual values skip the validation of typer."""

from __future__ import annotations

from typing import Annotated, Any, Final

import typer
from typer.core import TyperCommand, TyperGroup

from loadgen.cli.plain_command import UNDECIDED, plain_value

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
