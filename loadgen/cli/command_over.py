"""Commands that take the options of another command."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.cli.typer_options import HELP_ALL, parameters_of, plain_options, with_signature
from loadgen.sessions.settings.concerns import from_flat

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from loadgen.cli.typer_options import Settings


def command_over(
    base: type[Any],
    settings: type[Settings],
    run: Callable[[Settings, Mapping[str, Any]], None],
    without: Collection[str] = (),
) -> Callable[..., None]:
    """Make a command that takes the options of another command, and further options.

    Args:
        base: The settings of the other one.
        settings: Its own; an option that both have is its own.
        run: Gets its own settings, and the options of the other by name.
        without: Options of the other that it does not take.
    """
    own = parameters_of(settings)
    names = {parameter.name for parameter in own}
    others = [parameter for parameter in parameters_of(base) if parameter.name not in names | set(without)]

    def entry(**options: Any) -> None:
        options.pop(HELP_ALL, None)
        values = plain_options(options)
        run(
            from_flat(settings, {name: value for name, value in values.items() if name in names}),
            {name: value for name, value in values.items() if name not in names},
        )

    return with_signature(entry, run.__doc__, [*own, *others])
