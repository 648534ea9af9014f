"""The help of commands: it fits 80 columns, begins with what most people need, and can show everything."""

from __future__ import annotations

import re
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from loadgen.cli.help import MANY
from loadgen.cli.listing import Kind
from loadgen.cli.typer_application import application
from tests.for_each import for_each

GROUP: Any = typer.main.get_command(application())
COMMANDS = {
    " ".join(filter(None, (name, second))): command
    for name, first in GROUP.commands.items()
    for second, command in getattr(first, "commands", {"": first}).items()
}
LONG = [name for name, command in COMMANDS.items() if len(command.params) > MANY]


def printed(monkeypatch: pytest.MonkeyPatch, *words: str) -> str:
    """What a command line prints on a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    return str(CliRunner().invoke(application(words[0]), list(words)).output)


@for_each("name", COMMANDS)
def test_help_fits_80_columns(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is wider, and no option's line is broken within a word."""
    for option in ("--help", "--help-all"):
        lines = printed(monkeypatch, *name.split(), option).splitlines()
        assert max(map(len, lines)) <= 80
        assert lines[0].startswith(f"Usage: loadgen {name}")


def test_the_common_options_come_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """`loadgen perf --help` is about a page, and says that there is more."""
    text = printed(monkeypatch, "perf", "--help")
    assert len(text.splitlines()) <= 66
    assert re.search(r"^\d+ of \d+ options; --help-all shows all\.$", text, re.MULTILINE)
    for option in ("--url", "--model", "--rate", "--concurrency", "--requests", "--duration", "--prompts"):
        assert option in text
    assert (
        "Closed loop: keep N requests in flight; or ramp:1..64,2m. Default load: 8 (accuracy: 16)."
        in " ".join(text.split())
    )
    assert "--judge-url" not in text
    assert "--judge-url" in printed(monkeypatch, "accuracy", "--help")
    assert "--vary" in printed(monkeypatch, "sweep", "--help")


@pytest.mark.parametrize("name", LONG)
def test_every_option_is_there_on_request(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """`--help-all` needs nothing else on the command line, and shows every option by its panel."""
    text = printed(monkeypatch, *name.split(), "--help-all")
    spelled = {
        word for parameter in COMMANDS[name].params for word in parameter.opts if word.startswith("--")
    }
    assert {word for word in spelled if not re.search(rf"(?<![\w-]){word}(?![\w-])", text)} == set()
    assert "\nEndpoint\n" in text


def test_the_help_of_a_command_shows_its_own_options(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where it takes those of another command."""
    lines = printed(monkeypatch, "optimize", "tools", "--help").splitlines()
    described = {line.split()[0] for line in lines if line.startswith("  --")}  # not only in an example
    assert described >= {"--tools", "--variant", "--max-calls"}


def test_brackets_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the notation of a value."""
    text = printed(monkeypatch, "perf", "--help-all")
    assert "--shared-prefix TOKENS[xGROUPS]" in text
    assert "--server-metrics [URL|none]" in text
    assert "list[" not in text


def test_every_choice_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of an argument too."""
    text = " ".join(printed(monkeypatch, "list", "--help").split())
    assert all(kind in text.split("One of: ")[1] for kind in get_args(Kind))


@pytest.mark.parametrize("words", [(), ("rules",)])
def test_a_group_lists_its_commands(monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]) -> None:
    """One after the other, without empty lines between them, and flags have no kind."""
    monkeypatch.setenv("COLUMNS", "80")
    text = str(CliRunner().invoke(application(), [*words, "--help"], prog_name="loadgen").output)
    lines = text.splitlines()
    assert max(map(len, lines)) <= 80
    assert "<bool>" not in text
    group = GROUP.commands[words[0]] if words else GROUP
    places = [next(i for i, ln in enumerate(lines) if ln.startswith(f"  {name} ")) for name in group.commands]
    assert all(lines[place + 1].strip() for place in places[:-1] if lines[place + 1].startswith("   "))
    assert text.count("\n\n\n") == 0


def test_what_is_missing_is_named(loadgen: Any) -> None:
    """Not the run that was typed, but the query."""
    assert loadgen("sql", "RUN").stderr.startswith("error: QUERY is missing")
    assert loadgen("report").stderr.startswith("error: RUN is missing")
