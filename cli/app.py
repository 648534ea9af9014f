"""The command line: every command by name, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from collections.abc import Mapping
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Any, Final, NamedTuple

import typer

from cli import errors
from cli.options import command, command_over
from cli.secrets import redacted
from cli.streams import mend_streams

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LONG_OPTION: Final = re.compile(r"--[a-z][a-z-]*")
_MAY_BE_EMPTY: Final = frozenset({"--api-key", "--judge-api-key"})

_RUNNING = "Measure"
_READING = "Read a run"
_TRYING = "Try it"


class _Entry(NamedTuple):
    """Where a command is: `module:name`, each loaded on use, for only one of them runs.

    Attributes:
        panel: What stands above it in the help.
        does: The function.
        settings: The class that declares its options, where not its signature does.
        base: The class of another command's options that it takes as well.
        without: Those of them that it does not take.
    """

    panel: str
    does: str
    settings: str | None = None
    base: str | None = None
    without: str | None = None


_PERF: Final = "cli.perf_settings:PerfSettings"
_COMMANDS: Final[Mapping[str, _Entry]] = {
    "perf": _Entry(_RUNNING, "cli.perf:perf", _PERF),
    "accuracy": _Entry(_RUNNING, "cli.accuracy:accuracy", "cli.accuracy_settings:AccuracySettings"),
    "run": _Entry(_RUNNING, "cli.run:run", "cli.run_settings:RunSettings"),
    "sweep": _Entry(_RUNNING, "cli.sweep:sweep", "cli.sweep:SweepSettings", _PERF),
    "search": _Entry(
        _RUNNING, "cli.search:search", "cli.search:SearchSettings", _PERF, without="cli.search:REPLACED"
    ),
    "audit output-caching": _Entry(
        _RUNNING, "cli.audit:output_caching", "cli.audit:AuditSettings", _PERF, without="cli.audit:REPLACED"
    ),
    "resume": _Entry(_RUNNING, "cli.resume:resume", "cli.resume_settings:ResumeSettings"),
    "check": _Entry(_RUNNING, "cli.check:check", "cli.check:CheckSettings"),
    "calibrate": _Entry(_RUNNING, "cli.calibrate:calibrate", "cli.calibrate:CalibrateSettings"),
    "report": _Entry(_READING, "cli.report:report"),
    "score": _Entry(_READING, "cli.score:score", "cli.score_settings:ScoreSettings"),
    "watch": _Entry(_READING, "cli.watch:watch"),
    "sql": _Entry(_READING, "cli.sql:sql"),
    "gate": _Entry(_READING, "cli.gate:gate", "cli.gate_settings:GateSettings"),
    "compare": _Entry(_READING, "cli.compare:compare", "cli.compare_settings:CompareSettings"),
    "export": _Entry(_READING, "cli.export:export", "cli.export:ExportSettings"),
    "rules show": _Entry(_READING, "cli.rules:show"),
    "rules check": _Entry(_READING, "cli.rules:check"),
    "init": _Entry(_TRYING, "cli.init:init"),
    "demo": _Entry(_TRYING, "cli.demo:demo"),
    "mock": _Entry(_TRYING, "cli.mock:mock"),
    "selftest": _Entry(_TRYING, "cli.selftest:selftest"),
    "list": _Entry(_TRYING, "cli.listing:listing"),
}

"""Of two words the first is that of a group, whose help is in `_GROUPS`."""
_GROUPS: Final[Mapping[str, str]] = {
    "audit": "See whether a run is what it looks like.",
    "rules": "Show rulesets, and check files of them before a run needs them.",
}


def application(only: str | None = None, *, outline: bool = False) -> typer.Typer:
    """The program: all commands, or one of them or one group, which takes a part of the time to make.

    Args:
        only: The command, or the group.
        outline: Commands have no options: enough to list them.
    """
    make = _outlined if outline else _made
    app = typer.Typer(
        name="loadgen",
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(about)
    groups: dict[str, typer.Typer] = {}
    for name, entry in _COMMANDS.items():
        first, _, second = name.partition(" ")
        if only not in {None, first}:
            continue
        if not second:
            app.command(name, rich_help_panel=entry.panel)(make(entry))
            continue
        if first not in groups:
            groups[first] = typer.Typer(help=_GROUPS[first], no_args_is_help=True, rich_markup_mode="rich")
            app.add_typer(groups[first], name=first, rich_help_panel=entry.panel)
        groups[first].command(second)(make(entry))
    return app


def _made(entry: _Entry) -> Callable[..., None]:
    does: Callable[..., None] = _loaded(entry.does)
    if entry.settings is None:
        return does
    settings = _loaded(entry.settings)
    if entry.base is None:
        return command(settings, does)
    without = () if entry.without is None else _loaded(entry.without)
    return command_over(_loaded(entry.base), settings, does, without=without)


def _outlined(entry: _Entry) -> Callable[..., None]:
    def command() -> None:
        """Stand in a list; where the list is made, no command runs."""

    command.__doc__ = _loaded(entry.does).__doc__
    return command


def _loaded(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"llm-loadgen {version('llm-loadgen')}")
        raise typer.Exit


def about(
    *,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=lambda value: _print_version(wanted=value),
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Measure LLM serving endpoints: load, a log of every event, a report, a verdict.

    [bold]Start here[/bold]

    loadgen demo

    loadgen check --url http://127.0.0.1:8000 --model NAME

    loadgen perf --url http://127.0.0.1:8000 --model NAME -c 16 -n 200

    Exit codes: 0 pass, 1 a gate failed, 2 usage, 3 set-up failed, 4 run invalid, 5 inconclusive, 70 a bug,
    130 interrupted.
    """


def main() -> int:
    """Run the command line and return its exit code, which errors that explain themselves have too.

    What it has written is flushed: the process may end on the spot.
    """
    mend_streams()
    code = _run()
    try:
        sys.stdout.flush()
    except OSError as error:
        # What is left in the buffer goes nowhere, or the interpreter would complain of it once more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.stderr.write(f"error: the output cannot be written ({error.strerror})\n")
        code = code or errors.SETUP
    return code


def _refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse an option with an empty value, mostly a variable of the shell that is not set.

    An empty key says that there is none; and of a path nothing would be left but the folder that we are in.
    """
    for option, value in pairwise([*arguments, "-"]):
        name, joined, rest = option.partition("=")
        if _LONG_OPTION.fullmatch(name) and name not in _MAY_BE_EMPTY and (rest if joined else value) == "":
            raise errors.UsageError(f"{name} '': says nothing; fill it in, or leave it out")


def _run() -> int:
    try:
        _refuse_empty(sys.argv[1:])
        first = next(iter(sys.argv[1:]), None)
        known = {name.partition(" ")[0] for name in _COMMANDS}
        # A shell that completes a line has it in its environment.
        outline = known.isdisjoint(sys.argv) and "_LOADGEN_COMPLETE" not in os.environ
        application(first if first in known else None, outline=outline)(prog_name="loadgen")
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):
            # That nobody reads the report is not what the report says.
            sys.stderr.write("error: the output cannot be written (nobody reads it)\n")
            return errors.SETUP
        return end.code if isinstance(end.code, int) else errors.PASS
    except Exception as error:  # noqa: BLE001 (whatever it is, it must not end like a gate that failed)
        if errors.is_interrupt(error):
            return errors.INTERRUPTED
        code = errors.exit_code(error)
        if code is not None:
            sys.stderr.write(f"error: {errors.printable(redacted(errors.told(error)))}\n")
            return code
        sys.stderr.write(errors.printable(redacted(traceback.format_exc()), longest=None))
        return errors.BUG
    return errors.PASS
