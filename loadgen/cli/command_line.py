"""Errors on standard error, one line each, and their exit codes; a bug has a traceback.

Typer draws a box with the usage above its errors; here they are `error: …`, as all errors of this program.
"""

from __future__ import annotations

import re
import sys
import traceback
from typing import TYPE_CHECKING, Any, Final

import typer

from loadgen.sessions import error_exit_codes
from loadgen.sessions.errors import UsageError, printable
from rulesets.exit_codes import ExitCode
from workloads.errors import did_you_mean, nearest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

CommandLineError: Final[Any] = next(
    kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException"
)
"""The base of what typer raises about a command line; typer gives it no public name."""

_WANTED: Final = {"int": "a whole number", "float": "a number", "bool": "true or false"}
_BOUNDS: Final = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}
_CHOICES: Final = re.compile(r"is not one of (.*)\.")
_COMMAND: Final = re.compile(r"No such command '([^']*)'")
_EXTRA: Final = re.compile(r"Got unexpected extra argument.* \((.*)\)")
_NEEDS_VALUE: Final = "requires an argument"


def explained(error: Exception, commands: Collection[str]) -> ExitCode:
    """Print an error on standard error; return the exit code."""
    if error_exit_codes.is_interrupt(error):
        return ExitCode.INTERRUPTED
    error = _of_another_tool(error)
    if isinstance(error, CommandLineError):
        if text := message(error, commands):  # without arguments the help has been printed already
            _write_error(text)
            sys.stderr.write(f"see `{command_of(error) or _command(commands)} --help`\n")
        return ExitCode.USAGE
    code = error_exit_codes.exit_code(error)
    if code is None:
        from loadgen.sessions.error_redaction import redacted

        sys.stderr.write(printable(redacted(traceback.format_exc()), longest=None))
        return ExitCode.BUG
    _write_error(error_exit_codes.message_of(error))
    return code


def _of_another_tool(error: Exception) -> Exception:
    """An error in the command line, with what to type in place of another tool's words, if there are any."""
    if isinstance(error, CommandLineError | UsageError):
        from loadgen.sessions.other_tools.translation import require_own_options

        try:
            require_own_options(sys.argv[1:])
        except UsageError as translated:
            return translated
    return error


def _write_error(text: str) -> None:
    from loadgen.sessions.error_redaction import redacted

    sys.stderr.write(f"error: {printable(redacted(text))}\n")


def _command(commands: Collection[str]) -> str:
    """The typed command, as far as valid."""
    words = [word for word in sys.argv[1:3] if not word.startswith("-")]
    both = " ".join(words)
    return " ".join(filter(None, ["loadgen", both if both in commands else next(iter(words), "")]))


def message(error: Exception, commands: Iterable[str]) -> str:
    """The error in words, without the command for help."""
    name = getattr(error, "option_name", None)
    if isinstance(error, typer.BadParameter):
        return _about_parameter(error)
    if hasattr(error, "possibilities"):
        # Without the hyphens, which every option has in common.
        options = {option.lstrip("-"): option for option in error.possibilities or ()}
        near = nearest(str(name).lstrip("-"), options)
        return f"unknown option {name}" + (f"; did you mean {options[near]!r}?" if near else "")
    if name is not None and _NEEDS_VALUE in str(error):
        return f"{name} needs a value"
    if unknown := _COMMAND.match(str(error)):
        # A command of the program may be unknown to a group.
        others = [command for command in commands if command != unknown[1]]
        return f"unknown command {unknown[1]!r}{did_you_mean(unknown[1], others)}"
    if extra := _EXTRA.match(str(error)):
        url = f"; give a URL as --url {extra[1]}" if "://" in extra[1] and " " not in extra[1] else ""
        return f"one argument too many: {extra[1]}{url}"
    text: str = getattr(error, "format_message", error.__str__)()
    return text[:1].lower() + text[1:].removesuffix(".")


def command_of(error: Exception) -> str | None:
    """The command that an error is about, such as `loadgen perf`; None where typer does not say."""
    context = getattr(error, "ctx", None)
    return None if context is None else str(context.command_path)


def _about_parameter(error: typer.BadParameter) -> str:
    parameter: Any = error.param
    if parameter is None:
        return str(error.message)
    if parameter.param_type_name == "argument":
        place = parameter.name.upper()
    else:
        place = max(parameter.opts, key=len)
    if type(error).__name__ == "MissingParameter":
        return f"{_missing(parameter, place, error.ctx)} is missing{_variable(parameter)}"
    details = getattr(error.__cause__, "errors", None)
    if details is None:
        return f"{place}: {error.message}"
    return _invalid(place, details()[0])


def _missing(parameter: Any, place: str, context: Any) -> str:
    """What is missing: an argument of many words leaves a single typed word to the argument after it."""
    following = context.command.params[context.command.params.index(parameter) + 1 :]
    after = next((each.name.upper() for each in following if each.param_type_name == "argument"), place)
    return after if parameter.nargs == -1 else place


def _invalid(place: str, detail: Any) -> str:
    """A validation error of Pydantic, with which typer parses values, in this program's words."""
    value = str(detail["input"])
    if kind := _WANTED.get(detail["type"].partition("_")[0]):
        return f"{place} {value}: must be {kind}"
    if bounds := [
        f"{_BOUNDS[name]} {bound:,}" for name, bound in detail.get("ctx", {}).items() if name in _BOUNDS
    ]:
        return f"{place} {value}: must be {' and '.join(bounds)}"
    text = detail["msg"].removeprefix("Value error, ")
    if listed := _CHOICES.search(text):
        choices = re.findall(r"'([^']*)'", listed[1])
        return f"{place} {value}: must be one of {', '.join(choices)}{did_you_mean(value, choices)}"
    return f"{place} {value}: {text}"


def _variable(parameter: Any) -> str:
    names = [parameter.envvar] if isinstance(parameter.envvar, str) else parameter.envvar or ()
    return f" (or the environment variable {' or '.join(names)})" if names else ""
