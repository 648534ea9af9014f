"""Options, declared once: the fields of a frozen settings class are the parameters of its command."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

Settings = TypeVar("Settings")


def command(settings: type[Settings], run: Callable[[Settings], None]) -> Callable[..., None]:
    """Make the function that typer turns into a command.

    Args:
        settings: A frozen dataclass; each field is `Annotated` with its `typer.Option` or `typer.Argument`.
        run: Gets the settings; its docstring is the command's help.
    """

    def entry(**given: Any) -> None:
        run(settings(**given))

    return _declared(entry, run.__doc__, _parameters(settings))


def command_over(
    base: type[Any],
    settings: type[Settings],
    run: Callable[[Settings, Mapping[str, Any]], None],
    without: Collection[str] = (),
) -> Callable[..., None]:
    """Make a command that takes the options of another one, and some of its own.

    Args:
        base: The settings of the other one.
        settings: Its own; an option that both have is its own.
        run: Gets its own settings, and the options of the other by name.
        without: Options of the other that it does not take.
    """
    own = _parameters(settings)
    names = {parameter.name for parameter in own}
    others = [parameter for parameter in _parameters(base) if parameter.name not in names | set(without)]

    def entry(**given: Any) -> None:
        run(
            settings(**{name: value for name, value in given.items() if name in names}),
            {name: value for name, value in given.items() if name not in names},
        )

    return _declared(entry, run.__doc__, [*own, *others])


def _declared(
    entry: Callable[..., None], doc: str | None, parameters: Sequence[inspect.Parameter]
) -> Callable[..., None]:
    """Give a function the signature and the docstring that typer makes a command of."""
    entry.__doc__ = doc
    entry.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    entry.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]  # what inspect looks for
    return entry


def _parameters(settings: type[Any]) -> list[inspect.Parameter]:
    hints = get_type_hints(settings, include_extras=True)
    return [
        inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=_default(field),
            annotation=hints[field.name],
        )
        for field in fields(settings)
    ]


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
