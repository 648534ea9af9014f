"""Typer commands from settings classes and functions with independent option declarations."""

from __future__ import annotations

import inspect
from dataclasses import MISSING
from functools import wraps
from typing import TYPE_CHECKING, Annotated, Any, Final, Self, TypeVar, get_type_hints

import typer

from loadgen.cli.help import MANY, HelpAll
from loadgen.sessions.settings.concerns import fields_of, from_flat
from loadgen.sessions.settings.field import SettingField, setting_field
from loadgen.sessions.settings.option import Argument, Option, OptionValueError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence


HELP_ALL: Final = "help_all"

Settings = TypeVar("Settings")


def command(settings: type[Settings], run: Callable[[Settings], None]) -> Callable[..., None]:
    """Make the function that typer turns into a command with the options of settings."""

    def entry(**options: Any) -> None:
        options.pop(HELP_ALL, None)
        run(from_flat(settings, plain_options(options)))

    return with_signature(entry, run.__doc__, parameters_of(settings))


def command_of(function: Callable[..., None]) -> Callable[..., None]:
    """Make a command from a function whose parameters declare options."""
    hints = get_type_hints(function, include_extras=True)
    parameters = inspect.signature(function).parameters.values()

    def entry(**options: Any) -> None:
        options.pop(HELP_ALL, None)
        function(**plain_options(options))

    return with_signature(
        entry,
        function.__doc__,
        [_parameter(_field(parameter, hints[parameter.name])) for parameter in parameters],
    )


def _field(parameter: inspect.Parameter, hint: Any) -> SettingField:
    default = MISSING if parameter.default is inspect.Parameter.empty else parameter.default
    return setting_field(parameter.name, hint, default)


def with_signature(
    entry: Callable[..., None], doc: str | None, parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give a function the signature and the docstring that typer makes a command of.

    With many options it has one more, which shows all of them.
    """
    if len(parameters) > MANY:
        show_all = inspect.Parameter(
            HELP_ALL, inspect.Parameter.KEYWORD_ONLY, default=False, annotation=HelpAll
        )
        parameters = [*parameters, show_all]
    entry.__doc__ = doc
    entry.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    entry.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect looks for
    return entry


def parameters_of(settings: type[Any]) -> list[inspect.Parameter]:
    """The parameters of the options of settings."""
    return [_parameter(option) for option in fields_of(settings).values()]


def _parameter(field: SettingField) -> inspect.Parameter:
    declared, default, shown = field.declared, field.default, field.declared.show_default
    if isinstance(default, int | float) and not isinstance(default, bool):
        spelled = shown if isinstance(shown, str) else declared.spell(default) if declared.spell else ""
        if shown and spelled:
            # typer shows such a text in parentheses; a default that is written so is shown as it is.
            default, shown = _Spelled(default, spelled), True
    is_parsed = declared.parser is not None and default is None and not field.is_list
    # Typer refuses unions, also where a parser decides.
    value_type = field.kind | None if is_parsed else field.value_type
    return inspect.Parameter(
        field.name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if field.is_required else default,
        annotation=Annotated[value_type, _of_typer(declared, show_default=shown)],
    )


def _of_typer(declaration: Option, *, show_default: bool | str) -> Any:
    shared: dict[str, Any] = {
        "help": declaration.help or None,
        "metavar": declaration.metavar,
        "rich_help_panel": declaration.panel,
        "parser": None if declaration.parser is None else _reader(declaration.parser),
        "show_default": show_default,
    }
    if isinstance(declaration, Argument):
        return typer.Argument(**shared)
    return typer.Option(
        *declaration.flags.split(),
        envvar=list(declaration.envvar) or None,
        min=declaration.min,
        max=declaration.max,
        **shared,
    )


def _reader(parser: Callable[[str], Any]) -> Callable[[str], Any]:
    """The parser of an option, with errors in typer's form."""

    @wraps(parser)
    def read(value: str) -> Any:
        try:
            return parser(value)
        except OptionValueError as error:
            raise typer.BadParameter(str(error)) from None

    return read


class _Spelled(float):
    """A default in the notation of the command line for help and reference: `10m` instead of 600.0."""

    value: float
    text: str

    def __new__(cls, value: float, text: str) -> Self:
        spelled = super().__new__(cls, value)
        spelled.value, spelled.text = value, text
        return spelled

    def __str__(self) -> str:
        return self.text


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """The values of options by name."""
    return {name: value.value if isinstance(value, _Spelled) else value for name, value in options.items()}
