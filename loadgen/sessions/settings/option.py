"""The declaration of an option: how a field of settings is given on a command line or in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Self

from lazy_dataclasses import dataclass, field, fields, replace

if TYPE_CHECKING:
    from collections.abc import Callable


DECLARED: Final = "declared"
"""The key of the declaration in the metadata of a dataclass's field."""


class OptionValueError(ValueError):
    """A text is not a value of its option; the message ends a sentence that begins with the option."""


def name_reader(require: Callable[[str], object], unknown: type[Exception]) -> Callable[[str], str]:
    """Make the parser of an option that is a name.

    `require` raises `unknown` for other names; the message ends a sentence that begins with the option.
    """

    def read(value: str) -> str:
        try:
            require(value)
        except unknown as error:
            raise OptionValueError(str(error)) from error
        return value

    return read


@dataclass(frozen=True, slots=True)
class Option:
    """An option, or the common part of all options of one kind of value.

    Attributes:
        flags: How it is written, as in `--requests -n`; `--` stands for `--` and the field's name, and so do
            no flags.
        help: What it says.
        metavar: What stands for its value in the help.
        panel: The heading under which the help has it.
        parser: Reads its text; raises `OptionValueError`.
        show_default: Whether the help shows the default, or the text to show for it.
        spell: Writes a default as it is typed.
        envvar: The environment variables that give it, the first that is set before the others.
        min: The lowest number that is taken.
        max: The highest.
        examples: Values that a file's schema suggests, where others are possible too.
        stored: Whether the log has it among the options of its run: no secrets, nothing stored elsewhere.
        instead: What to write in a suite, the tables of which then do not take it.
    """

    flags: str = ""
    help: str = ""
    metavar: str | None = None
    panel: str | None = None
    parser: Callable[[str], Any] | None = None
    show_default: bool | str = True
    spell: Callable[[Any], str] | None = None
    envvar: tuple[str, ...] = ()
    min: int | None = None
    max: int | None = None
    examples: tuple[str, ...] = ()
    stored: bool = True
    instead: str = ""

    def filled(self, kind: Option) -> Self:
        """This option, completed by the declarations of a kind of value."""
        unset = [each.name for each in fields(self) if getattr(self, each.name) == each.default]
        return replace(self, **{name: getattr(kind, name) for name in unset})


@dataclass(frozen=True, slots=True)
class Argument(Option):
    """A positional argument."""


@dataclass(frozen=True, slots=True)
class Panel:
    """A heading of the help, which declares the options under it."""

    title: str | None

    def declares(self, text: str, flags: str = "", **more: Any) -> Option:
        """An option of several commands, for their fields to be annotated with."""
        return Option(flags, text, panel=self.title, **more)

    def option(
        self, text: str, default: Any = None, flags: str = "", *, secret: bool = False, **more: Any
    ) -> Any:
        """A field of a dataclass with its option.

        The value of a `secret` option is left out of the text of the settings, and of the log.
        """
        metadata = {DECLARED: self.declares(text, flags, **({"stored": False} if secret else {}), **more)}
        if isinstance(default, list):
            return field(default_factory=default.copy, repr=not secret, metadata=metadata)
        return field(default=default, repr=not secret, metadata=metadata)

    def switch(self, text: str, flags: str = "", **more: Any) -> Any:
        """A field that is off by default, and has no `--no-` form."""
        return self.option(text, default=False, flags=f"-- {flags}", **more)


GENERAL: Final = Panel(None)
"""The options without a heading."""

RESULT: Final = Panel("Result")
