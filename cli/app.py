"""The command line: every command by name, and the one place where an error becomes an exit code."""

from __future__ import annotations

import os
import re
import sys
import traceback
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli import errors
from cli.calibrate import CalibrateSettings, calibrate
from cli.check import CheckSettings, check
from cli.demo import demo
from cli.gate import gate
from cli.init import init
from cli.listing import listing
from cli.mock import mock
from cli.options import command, command_over
from cli.perf import perf
from cli.perf_settings import PerfSettings
from cli.report import report
from cli.resume import resume
from cli.resume_settings import ResumeSettings
from cli.run import run
from cli.run_settings import RunSettings
from cli.search import REPLACED, SearchSettings, search
from cli.secrets import redacted
from cli.selftest import selftest
from cli.sql import sql
from cli.streams import mend_streams
from cli.sweep import SweepSettings, sweep
from cli.watch import watch

if TYPE_CHECKING:
    from collections.abc import Sequence

_LONG_OPTION: Final = re.compile(r"--[a-z][a-z-]*")

app = typer.Typer(
    name="loadgen",
    no_args_is_help=True,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

_RUNNING = "Measure"
_READING = "Read a run"
_TRYING = "Try it"

app.command("perf", rich_help_panel=_RUNNING)(command(PerfSettings, perf))
app.command("run", rich_help_panel=_RUNNING)(command(RunSettings, run))
app.command("sweep", rich_help_panel=_RUNNING)(command_over(PerfSettings, SweepSettings, sweep))
app.command("search", rich_help_panel=_RUNNING)(
    command_over(PerfSettings, SearchSettings, search, without=REPLACED)
)
app.command("resume", rich_help_panel=_RUNNING)(command(ResumeSettings, resume))
app.command("check", rich_help_panel=_RUNNING)(command(CheckSettings, check))
app.command("calibrate", rich_help_panel=_RUNNING)(command(CalibrateSettings, calibrate))
app.command(rich_help_panel=_READING)(report)
app.command(rich_help_panel=_READING)(watch)
app.command(rich_help_panel=_READING)(sql)
app.command(rich_help_panel=_READING)(gate)
app.command(rich_help_panel=_TRYING)(init)
app.command(rich_help_panel=_TRYING)(demo)
app.command(rich_help_panel=_TRYING)(mock)
app.command(rich_help_panel=_TRYING)(selftest)
app.command("list", rich_help_panel=_TRYING)(listing)


def _print_version(*, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"llm-loadgen {version('llm-loadgen')}")
        raise typer.Exit


@app.callback()
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
        if _LONG_OPTION.fullmatch(name) and name != "--api-key" and (rest if joined else value) == "":
            raise errors.UsageError(f"{name} '': says nothing; fill it in, or leave it out")


def _run() -> int:
    try:
        _refuse_empty(sys.argv[1:])
        app(prog_name="loadgen")
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
