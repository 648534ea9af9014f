"""The help of commands: it fits 80 columns, begins with what most people need, and can show everything."""

from __future__ import annotations

import re
from typing import Any

import pytest
import typer
from typer.testing import CliRunner

from loadgen.cli.app import application
from loadgen.cli.help import MANY
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
    assert "Closed loop: keep N requests in flight (default load, N = 8)." in " ".join(text.split())
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
