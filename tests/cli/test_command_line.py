"""Command lines that cannot be read, and output that is read no more: one style, plain words, no noise."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING

import pytest

from loadgen.cli.app import _COMMANDS

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Loadgen = Callable[..., subprocess.CompletedProcess[str]]

ENDPOINT = ("--url", "x", "--model", "m")
MISTAKES = {
    "a choice": (
        ("perf", *ENDPOINT, "--arrival", "burst"),
        "--arrival burst: must be one of poisson, constant, gamma, uniform",
        "loadgen perf",
    ),
    "a choice nearly right": (("list", "metric"), "; did you mean 'metrics'?", "loadgen list"),
    "no whole number": (
        ("perf", *ENDPOINT, "--concurrency", "1,2"),
        "--concurrency 1,2: must be a whole number",
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
        "there is no option --max-respons; did you mean '--max-response'?",
        "loadgen perf",
    ),
    "a missing option": (("perf", "--url", "x"), "--model is missing", "loadgen perf"),
    "a missing argument": (("sql",), "RUN is missing", "loadgen sql"),
    "an argument too many": (
        ("perf", *ENDPOINT, "more"),
        "one argument too many: more",
        "loadgen perf",
    ),
    "no such command": (("prf",), "there is no command 'prf'; did you mean 'perf'?", "loadgen"),
    "no such command of a group": (
        ("rules", "shw"),
        "there is no command 'shw'",
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


@pytest.mark.parametrize("words", [*(name.split() for name in _COMMANDS), []], ids=" ".join)
def test_help_that_is_read_no_more(loadgen: Loadgen, words: list[str]) -> None:
    """`loadgen perf --help | head` ends as programs do that SIGPIPE ends: silently."""
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as closed:
        run = loadgen(*words, "--help", stdout=closed)
    assert run.returncode in {128 + signal.SIGPIPE, -signal.SIGPIPE}
    assert run.stderr == ""
