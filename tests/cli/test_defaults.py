"""Defaults of durations and sizes: the same text in help and reference, a plain number for the program."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import typer
from typer.testing import CliRunner

from loadgen.cli.typer_application import application
from tests.for_each import for_each

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    import pytest

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


@for_each(
    ("command", "option", "text"),
    [
        ("perf", "timeout", "10m"),
        ("perf", "connect_timeout", "10s"),
        ("perf", "max_response", "64MiB"),
        ("check", "timeout", "30s"),
        ("search", "within", "3%"),
        ("sweep", "cooldown", "0"),
    ],
)
def test_a_default_is_written_as_one_would_type_it(
    monkeypatch: pytest.MonkeyPatch, command: str, option: str, text: str
) -> None:
    """Neither `(10m)` nor 600.0."""
    monkeypatch.setenv("COLUMNS", "200")
    app: Any = typer.main.get_command(application(command))
    (parameter,) = [param for param in app.commands[command].params if param.name == option]
    assert str(parameter.default) == text
    flag = f"--{option.replace('_', '-')}"
    names = {param.name for param in app.commands[command].params}
    shown = CliRunner().invoke(
        application(command), [command, "--help-all" if "help_all" in names else "--help"]
    )
    page = " ".join(shown.output.replace("│", " ").split())
    assert f"[default: {text}]" in page[page.rindex(f" {flag} ") :][:300]


def test_the_program_has_plain_numbers(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """The log has them as numbers, of the type that they have."""
    key = ("--api-key", "sk-right-key")
    loadgen("perf", "--url", mock.url, "--model", "small-model", *key, "-n", 1, "-q", "--out", "run")
    with closing(sqlite3.connect(tmp_path / "run" / "events.db")) as log:
        ((stored,),) = log.execute("SELECT settings FROM session").fetchall()
    settings = orjson.loads(stored)
    assert (settings["timeout_s"], settings["max_response_bytes"]) == (600.0, 67_108_864)
