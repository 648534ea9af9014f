"""Defaults of durations and sizes: the same text in help and reference, a plain number for the program."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson
import pytest
import typer

from loadgen.cli.app import application

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(
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
    loadgen: Loadgen, command: str, option: str, text: str
) -> None:
    """Neither `(10m)` nor 600.0."""
    app: Any = typer.main.get_command(application(command))
    (parameter,) = [one for one in app.commands[command].params if one.name == option]
    assert str(parameter.default) == text
    flag = f"--{option.replace('_', '-')}"
    every = "--help-all" if any(one.name == "help_all" for one in app.commands[command].params) else "--help"
    page = " ".join(loadgen(command, every, COLUMNS="200").stdout.replace("│", " ").split())
    assert f"[default: {text}]" in page[page.rindex(f" {flag} ") :][:300]


def test_the_program_has_plain_numbers(loadgen: Loadgen, mock: MockProcess, tmp_path: Path) -> None:
    """The log keeps them as numbers, of the type that they have."""
    key = ("--api-key", "sk-right-key")
    loadgen("perf", "--url", mock.url, "--model", "small-model", *key, "-n", 1, "-q", "--out", "run")
    with closing(sqlite3.connect(tmp_path / "run" / "events.db")) as log:
        ((kept,),) = log.execute("SELECT settings FROM session").fetchall()
    settings = orjson.loads(kept)
    assert (settings["timeout_s"], settings["max_response_bytes"]) == (600.0, 67_108_864)
