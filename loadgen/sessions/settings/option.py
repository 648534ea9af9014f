"""How a field of a settings class is given on a command line or in a file: neutral of what reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable


RESULT: Final = "Result"
"""The heading of the options of a result."""


class OptionValueError(ValueError):
    """A text is not a value of its option; the message ends a sentence that begins with the option."""


@dataclass(frozen=True, slots=True)
class _Declaration:
    """What options and arguments have in common.

    Attributes:
        flags: How an option is written, as in `--requests -n`; empty for `--` and the field's name.
        help: What it says.
        metavar: What stands for its value in the help.
        panel: The heading under which the help has it.
        parser: Reads its text; raises `OptionValueError`.
        show_default: Whether the help shows the default, or the text to show for it.
    """

    flags: str = ""
    help: str = ""
    metavar: str | None = None
    panel: str | None = None
    parser: Callable[[str], Any] | None = None
    show_default: bool | str = True


@dataclass(frozen=True, slots=True)
class Option(_Declaration):
    """An option of a field.

    Attributes:
        envvar: The environment variables that give it, the first that is set before the others.
        show_envvar: Whether the help names them.
        min: The lowest number that is taken.
        max: The highest.
        examples: Values that a file's schema suggests, where others are possible too.
    """

    envvar: tuple[str, ...] = ()
    show_envvar: bool = True
    min: int | None = None
    max: int | None = None
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Argument(_Declaration):
    """A positional argument of a field."""
