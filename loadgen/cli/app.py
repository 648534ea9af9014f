"""The command line: every command by name, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Final, NamedTuple

import typer

from loadgen.cli.help import HelpedCommand, PlainGroup
from loadgen.cli.terminal.streams import file_on_standard_output, mend_streams
from loadgen.cli.typer_options import command, command_of
from loadgen.sessions.arguments import refuse_empty, with_values
from loadgen.sessions.files.run_folder import give_back
from rulesets.exit_codes import ExitCode
from workloads.errors import PluginError
from workloads.registry import Entry, at, entries, load

_RUNNING = "Measure"
_READING = "Read a run"
_TRYING = "Try it"
_OTHERS = "Of other packages"


class _CommandEntry(NamedTuple):
    """The place of a command: `module:name`, loaded on use, since only one command runs.

    Attributes:
        panel: The heading above it in the help.
        does: The function.
        settings: The class that declares its options; without one, its signature does.
        base: The class of another command's options that it takes as well.
        without: Options of `base` that it does not take.
        group: The help of the group, in the first of a plug-in's commands of two words.
        entry: What the registry has of it, if a plug-in's.
    """

    panel: str
    does: str
    settings: str | None = None
    base: str | None = None
    without: str | None = None
    group: str | None = None
    entry: Entry | None = None


_PERF: Final = "loadgen.sessions.settings.perf:PerfSettings"
_COMMANDS: Final[Mapping[str, _CommandEntry]] = {
    "perf": _CommandEntry(_RUNNING, "loadgen.cli.perf:perf", _PERF),
    "accuracy": _CommandEntry(
        _RUNNING, "loadgen.cli.accuracy:accuracy", "loadgen.sessions.settings.accuracy:AccuracySettings"
    ),
    "run": _CommandEntry(_RUNNING, "loadgen.cli.run:run", "loadgen.sessions.settings.run:RunSettings"),
    "sweep": _CommandEntry(
        _RUNNING,
        "loadgen.cli.sweep:sweep",
        "loadgen.sessions.settings.sweep:SweepSettings",
        _PERF,
        without="loadgen.sessions.settings.definition_options:OF_ONE_REPORT",
    ),
    "search": _CommandEntry(
        _RUNNING,
        "loadgen.cli.search:search",
        "loadgen.sessions.settings.search:SearchSettings",
        _PERF,
        without="loadgen.sessions.settings.search:REPLACED",
    ),
    "audit output-caching": _CommandEntry(
        _RUNNING,
        "loadgen.cli.audit:output_caching",
        "loadgen.sessions.settings.audit:AuditSettings",
        _PERF,
        without="loadgen.sessions.settings.audit:REPLACED",
    ),
    "resume": _CommandEntry(
        _RUNNING, "loadgen.cli.resume:resume", "loadgen.sessions.settings.resume:ResumeSettings"
    ),
    "check": _CommandEntry(
        _RUNNING, "loadgen.cli.check:check", "loadgen.sessions.settings.endpoint_options:CheckSettings"
    ),
    "report": _CommandEntry(_READING, "loadgen.cli.report:report"),
    "score": _CommandEntry(
        _READING, "loadgen.cli.score:score", "loadgen.sessions.settings.score:ScoreSettings"
    ),
    "watch": _CommandEntry(_READING, "loadgen.cli.watch:watch"),
    "sql": _CommandEntry(_READING, "loadgen.cli.sql:sql"),
    "plot": _CommandEntry(_READING, "loadgen.cli.plot:plot"),
    "gate": _CommandEntry(_READING, "loadgen.cli.gate:gate", "loadgen.sessions.settings.gate:GateSettings"),
    "compare": _CommandEntry(
        _READING, "loadgen.cli.compare:compare", "loadgen.sessions.settings.compare:CompareSettings"
    ),
    "archive": _CommandEntry(_READING, "loadgen.cli.archive:archive"),
    "rules show": _CommandEntry(_READING, "loadgen.cli.rules:show"),
    "rules check": _CommandEntry(_READING, "loadgen.cli.rules:check"),
    "init": _CommandEntry(_TRYING, "loadgen.cli.init:init"),
    "demo": _CommandEntry(_TRYING, "loadgen.cli.demo:demo"),
    "mock": _CommandEntry(_TRYING, "loadgen.cli.mock:mock", "loadgen.sessions.settings.mock:MockSettings"),
    "list": _CommandEntry(_TRYING, "loadgen.cli.listing:listing"),
}

"""Of two words the first is that of a group, whose help is in `_GROUPS`."""
_NAMES: Final = frozenset(name.partition(" ")[0] for name in _COMMANDS)
_GROUPS: Final[Mapping[str, str]] = {
    "audit": "Audit a run for output caching.",
    "rules": "Show rulesets; validate ruleset files.",
}


def commands() -> Mapping[str, _CommandEntry]:
    """Every command, those of plug-ins included."""
    added = {name: _of_plugin(entry) for name, entry in entries("commands").items() if name not in _COMMANDS}
    return {**_COMMANDS, **added}


def _of_plugin(entry: Entry) -> _CommandEntry:
    return _CommandEntry(**{"panel": _OTHERS, **entry.facts}, does=entry.target, entry=entry)


def application(
    only: str | None = None, words: Sequence[str] | None = None, *, outline: bool = False
) -> typer.Typer:
    """The program with all commands, or with a part, which is faster to make.

    Args:
        only: A command or group to make alone.
        words: The command line behind its name, whose options alone are made.
        outline: Whether commands are placeholders without options.
    """
    make = _outlined if outline else partial(_made, words=words)
    app = typer.Typer(
        name="loadgen",
        cls=PlainGroup,
        no_args_is_help=True,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(about)
    groups: dict[str, typer.Typer] = {}
    for name, entry in (_COMMANDS if only in _NAMES else commands()).items():
        first, _, second = name.partition(" ")
        if only not in {None, first}:
            continue
        if not second:
            app.command(name, cls=HelpedCommand, rich_help_panel=entry.panel)(make(entry))
            continue
        if first not in groups:
            groups[first] = typer.Typer(
                cls=PlainGroup,
                help=entry.group or _GROUPS.get(first),
                no_args_is_help=True,
                rich_markup_mode="rich",
            )
            app.add_typer(groups[first], name=first, rich_help_panel=entry.panel)
        groups[first].command(second, cls=HelpedCommand)(make(entry))
    return app


def _made(entry: _CommandEntry, words: Sequence[str] | None) -> Callable[..., None]:
    does = _function(entry)
    if entry.settings is None:
        return command_of(does)
    settings = at(entry.settings)
    if entry.base is None:
        return command(settings, does, words)
    from loadgen.cli.command_over import command_over

    without = () if entry.without is None else at(entry.without)
    return command_over(at(entry.base), settings, does, without=without)


def _function(entry: _CommandEntry) -> Callable[..., None]:
    value = at(entry.does) if entry.entry is None else load(entry.entry)
    function: Callable[..., None] = value
    return function


def _outlined(entry: _CommandEntry) -> Callable[..., None]:
    def command() -> None:
        """A placeholder for the list of commands, never called."""

    try:
        command.__doc__ = _function(entry).__doc__
    except PluginError as error:
        command.__doc__ = str(error)
    return command


def _print_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        from loadgen.driver.client.compiled import COMPILED

        loop = "compiled" if COMPILED else "in Python: not compiled here"
        typer.echo(f"llm-loadgen {version('llm-loadgen')} (client I/O {loop})")
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
    """Run the command line and return the exit code; a known error is printed and has an exit code.

    What it has written is flushed: the process may end at once.
    """
    mend_streams()
    try:
        code = _run()
    finally:
        give_back()
    try:
        sys.stdout.flush()
    except OSError as error:
        # Discard what is left in the buffer, or the interpreter would report the same error again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return code or ExitCode.BROKEN_PIPE
        sys.stderr.write(f"error: the output cannot be written ({error.strerror})\n")
        code = code or ExitCode.SETUP
    return code


def _run() -> int:
    try:
        sys.argv[1:] = with_values(sys.argv[1:])
        refuse_empty(sys.argv[1:])
        first = next(iter(sys.argv[1:]), None)
        # A shell that completes a line has it in its environment.
        names = _NAMES if first in _NAMES else {name.partition(" ")[0] for name in commands()}
        outline = names.isdisjoint(sys.argv) and "_LOADGEN_COMPLETE" not in os.environ
        only, words = (first, sys.argv[2:]) if first in names else (None, None)
        app = application(only, words, outline=outline)
        with file_on_standard_output(sys.argv[1:]) as arguments:
            code = app(arguments, prog_name="loadgen", standalone_mode=False)
    except SystemExit as end:
        # A terminal library ends the program like this when its output is closed.
        if isinstance(end.__context__, BrokenPipeError):
            return ExitCode.BROKEN_PIPE
        return end.code if isinstance(end.code, int) else ExitCode.PASS
    except BrokenPipeError:
        return ExitCode.BROKEN_PIPE
    except Exception as error:  # noqa: BLE001 (whatever it is, it must not end like a gate that failed)
        from loadgen.cli.command_line import explained

        return explained(error, commands())
    return code if isinstance(code, int) else ExitCode.PASS
