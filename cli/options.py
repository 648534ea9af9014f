"""Options, declared once: the fields of a frozen settings class are the parameters of its command."""

from __future__ import annotations

import inspect
from dataclasses import MISSING, Field, fields
from typing import TYPE_CHECKING, Any, TypeVar, get_type_hints

if TYPE_CHECKING:
    from collections.abc import Callable

Settings = TypeVar("Settings")


def command(settings: type[Settings], run: Callable[[Settings], None]) -> Callable[..., None]:
    """Make the function that typer turns into a command.

    Args:
        settings: A frozen dataclass; each field is `Annotated` with its `typer.Option` or `typer.Argument`.
        run: Gets the settings; its docstring is the command's help.
    """
    hints = get_type_hints(settings, include_extras=True)

    def entry(**given: Any) -> None:
        run(settings(**given))

    declared = fields(settings)  # type: ignore[arg-type]  # a TypeVar cannot be bound to "dataclass"
    entry.__doc__ = run.__doc__
    entry.__annotations__ = {field.name: hints[field.name] for field in declared}
    entry.__signature__ = inspect.Signature(  # type: ignore[attr-defined]  # what inspect looks for
        [
            inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=_default(field),
                annotation=hints[field.name],
            )
            for field in declared
        ],
    )
    return entry


def _default(field: Field[Any]) -> Any:
    if field.default_factory is not MISSING:
        return field.default_factory()
    return inspect.Parameter.empty if field.default is MISSING else field.default
