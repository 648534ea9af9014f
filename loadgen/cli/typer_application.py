"""The commands as a typer application, which has the help, completion, and the words for wrong options."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from loadgen.cli.command_table import COMMANDS, GROUPS, NAMES, CommandEntry, commands, function
from loadgen.cli.help import HelpedCommand, PlainGroup
from loadgen.cli.typer_options import command, command_of
from workloads.errors import PluginError
from workloads.registry import at

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def run(arguments: Sequence[str]) -> int | None:
    """Run a command line; return the exit code, if any."""
    first = next(iter(arguments), None)
    names = NAMES if first in NAMES else {name.partition(" ")[0] for name in commands()}
    # A shell that completes a line has it in its environment.
    outline = names.isdisjoint(arguments) and "_LOADGEN_COMPLETE" not in os.environ
    program = application(first if first in names else None, outline=outline)
    code: int | None = program(arguments, prog_name="loadgen", standalone_mode=False)
    return code


def application(only: str | None = None, *, outline: bool = False) -> typer.Typer:
    """The program with all commands, or with a part, which is faster to make.

    Args:
        only: A command or group to make alone.
        outline: Whether commands are placeholders without options.
    """
    make = _outlined if outline else _made
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
    for name, entry in (COMMANDS if only in NAMES else commands()).items():
        first, _, second = name.partition(" ")
        if only not in {None, first}:
            continue
        if not second:
            app.command(name, cls=HelpedCommand, rich_help_panel=entry.panel)(make(entry))
            continue
        if first not in groups:
            groups[first] = typer.Typer(
                cls=PlainGroup,
                help=entry.group or GROUPS.get(first),
                no_args_is_help=True,
                rich_markup_mode="rich",
            )
            app.add_typer(groups[first], name=first, rich_help_panel=entry.panel)
        groups[first].command(second, cls=HelpedCommand)(make(entry))
    return app


def _made(entry: CommandEntry) -> Callable[..., None]:
    does = function(entry)
    if entry.settings is None:
        return command_of(does)
    settings = at(entry.settings)
    if entry.base is None:
        return command(settings, does)
    from loadgen.cli.command_over import command_over

    without = () if entry.without is None else at(entry.without)
    return command_over(at(entry.base), settings, does, without=without)


def _outlined(entry: CommandEntry) -> Callable[..., None]:
    def command() -> None:
        """A placeholder for the list of commands, never called."""

    try:
        command.__doc__ = function(entry).__doc__
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
