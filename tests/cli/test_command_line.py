"""Command lines that cannot be read, and output that is read no more: one style, plain words, no noise."""

from __future__ import annotations

import os
import re
import signal
from typing import TYPE_CHECKING, Any

import pytest
from typer.main import get_command

from loadgen.cli.command_line import CommandLineError, message
from loadgen.cli.command_table import COMMANDS
from loadgen.cli.typer_application import application

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

ENDPOINT = ("--url", "x", "--model", "m")
MISTAKES = {
    "a choice": (
        ("perf", *ENDPOINT, "--on-invalid", "burst"),
        "--on-invalid burst: must be one of fail, warn",
        "loadgen perf",
    ),
    "a choice nearly right": (("list", "metric"), "; did you mean 'metrics'?", "loadgen list"),
    "no whole number": (
        ("perf", *ENDPOINT, "--requests", "1,2"),
        "--requests 1,2: must be a whole number",
        "loadgen perf",
    ),
    "no number": (
        ("perf", *ENDPOINT, "--temperature", "hot"),
        "--temperature hot: must be a number",
        "loadgen perf",
    ),
    "no duration": (
        ("perf", *ENDPOINT, "-d", "soon"),
        "--duration: 'soon' is not a duration; write 60, 90s, 5m or 1.5h",
        "loadgen perf",
    ),
    "no value": (("perf", "--model"), "--model needs a value", "loadgen perf"),
    "no such option": (
        ("perf", "--max-respons", "3"),
        "unknown option --max-respons; did you mean '--max-response'?",
        "loadgen perf",
    ),
    "no option of that sound": (
        ("export", "RUN", "--csv"),
        "unknown option --csv",
        "loadgen export",
    ),
    "a missing option": (("rules", "show"), "NAME is missing", "loadgen rules show"),
    "a missing argument": (("sql",), "QUERY is missing", "loadgen sql"),
    "an argument too many": (
        ("perf", *ENDPOINT, "more"),
        "one argument too many: more",
        "loadgen perf",
    ),
    "a URL without its option": (
        ("perf", "http://127.0.0.1:1"),
        "one argument too many: http://127.0.0.1:1; give a URL as --url http://127.0.0.1:1",
        "loadgen perf",
    ),
    "no such command": (("prf",), "unknown command 'prf'; did you mean 'perf'?", "loadgen"),
    "no such command of a group": (
        ("rules", "shw"),
        "unknown command 'shw'",
        "loadgen rules",
    ),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_a_line_and_a_hint(loadgen: Loadgen, case: str) -> None:
    """As all other errors begin, in words of this program, and where to read what there is."""
    arguments, message, command = MISTAKES[case]
    run = loadgen(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    first, hint = run.stderr.splitlines()
    assert first.startswith("error: ")
    assert first.endswith(message)
    assert hint == f"see `{command} --help`"


OF_A_LIBRARY = re.compile(r"[Vv]alue error|Input should|unable to parse|pydantic|\de\+\d|<class|\(\)$")
WRONG_VALUES = ("?!", "-1", "0", "1e99", "nan", "1,2", "\u00e9\u00e9")


def leaves(command: Any) -> Iterator[Any]:
    """The commands of a group, and of the groups in it."""
    commands = getattr(command, "commands", None)
    yield from (
        [command] if commands is None else (leaf for member in commands.values() for leaf in leaves(member))
    )


def messages(command: Any) -> Iterator[str]:
    """The message of a command without arguments, and for each option with an invalid value."""
    try:
        command.make_context(command.name, [])
    except CommandLineError as error:
        yield message(error, COMMANDS)
    context = command.context_class(command, info_name=command.name)
    for parameter in command.params:
        option = next((name for name in parameter.opts if name.startswith("--")), None)
        for value in WRONG_VALUES if option and not parameter.is_flag else ():
            options = {parameter.name: [value] if parameter.multiple else value}
            try:
                with context.scope(cleanup=False):
                    parameter.handle_parse_result(context, options, [])
            except CommandLineError as error:
                yield message(error, COMMANDS)


def test_no_message_has_the_words_of_a_library() -> None:
    """Every option of every command, with values of several wrong kinds: in words of this program."""
    every = [text for command in leaves(get_command(application())) for text in messages(command)]
    assert [text for text in every if OF_A_LIBRARY.search(text)] == []
    assert "--max-rate 0: must be at least 1" in every
    assert "RUN is missing" in every
    assert "--requests 1,2: must be a whole number" in every


@pytest.mark.parametrize("words", [*(name.split() for name in COMMANDS), []], ids=" ".join)
def test_help_that_is_read_no_more(loadgen: Loadgen, words: list[str]) -> None:
    """`loadgen perf --help | head` ends as programs do that SIGPIPE ends: silently."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        run = loadgen(*words, "--help", stdout=closed)
    assert run.returncode in {128 + signal.SIGPIPE, -signal.SIGPIPE}
    assert run.stderr == ""
