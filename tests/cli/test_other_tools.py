"""Options of other tools are refused with what to type here, and docs/coming-from.md has them all."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import typer

from loadgen.cli.typer_application import application
from loadgen.sessions.errors import UsageError
from loadgen.sessions.other_tools.tables import OTHER_COMMANDS, OTHER_OPTIONS
from loadgen.sessions.other_tools.translation import COMMANDS, require_own_options
from tests import golden

PAGE = Path(__file__).parents[2] / "docs" / "coming-from.md"


def own_options(name: str) -> set[str]:
    """The options that a command has."""
    group: Any = typer.main.get_command(application(name))
    command = group.commands[name]
    commands = getattr(command, "commands", {"": command}).values()
    return {
        spelling
        for command in commands
        for param in command.params
        for spelling in (*param.opts, *param.secondary_opts)
    }


def advice(line: str) -> str:
    """What the program says to a command line."""
    with pytest.raises(UsageError) as refused:
        require_own_options(shlex.split(line))
    return str(refused.value)


@pytest.mark.parametrize(
    ("typed", "command"),
    [
        ("--request-rate 5", "--rate 5"),
        ("--request-rate=inf", "--offline"),
        ("--num-prompts 100 --max-concurrency 16", "--requests 100 --concurrency 16"),
        ("--num_prompts 100 --max_concurrency=16", "--requests 100 --concurrency 16"),
        ("--request-rate 5 --max-concurrency 16", "--max-concurrency 16 --rate 5"),
        ("--goodput ttft:200 e2el:5000", "--require 'good(ttft<200ms,latency<5000ms):fraction>=0.95'"),
        ("--endpoint /v1/completions --backend openai", "--protocol completions"),
        (
            "--dataset-name random --random-input-len 512 --random-output-len 64",
            "--input-tokens 512 --output-tokens 64",
        ),
        ("--target 'http://a b' --max-seconds 60", "--url 'http://a b' --duration 60"),
        ("--request-count 10 --streaming --isl 100", "--requests 10 --input-tokens 100"),
        ("--vus 10 --iterations 50", "--concurrency 10 --requests 50"),
        ("--request-rate inf --max-concurrency 16", "--concurrency 16"),
        ("--result-dir runs", "--out runs/NAME"),
        ("--tasks gsm8k,ifeval --limit 10", "--task gsm8k --task ifeval --samples 10"),
    ],
)
def test_the_command_to_type(typed: str, command: str) -> None:
    """The words of our own options stay, those of others are translated with their values."""
    line = next(
        line for line in advice(f"perf --model 'a b' {typed}").splitlines() if line.startswith("type: ")
    )
    assert line == f"type: loadgen perf --model 'a b' {command}"


def test_what_cannot_be_typed_as_it_is() -> None:
    """There is advice on each option, but no command with a place left to fill."""
    output = advice("sweep --ramp-up-start-rps 1 --rate-type incremental --num-fewshot 5 --vus")
    assert "--rate ramp:1..TO,TIME" in output
    assert "--rate, --concurrency" in output
    assert "no such option: each benchmark has its official prompt" in output
    assert "--concurrency VALUE" in output
    assert "type:" not in output


@pytest.mark.parametrize(
    "line", ["", "sql RUN --limit", "perf --url http://a --rate 5", "perf --max-concurrency 3"]
)
def test_own_options_pass(line: str) -> None:
    """A command line with our own options is accepted, and so is a command that sends no load."""
    require_own_options(shlex.split(line))


def test_the_exit_code(loadgen: Any) -> None:
    """It is a mistake in the command line; a secret in it is not printed."""
    run = loadgen("perf", "--num-prompts", "5", "--api-key", "sk-very-secret", "--model", "m")
    assert run.returncode == 2
    assert "--requests 5" in run.stderr
    assert "sk-very-secret" not in run.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_no_option_of_ours_is_taken_for_anothers(name: str) -> None:
    """What a command knows is left to it."""
    assert own_options(name) & set(OTHER_OPTIONS) == set()


def test_what_is_advised_is_there() -> None:
    """Every option that is to be typed is one of `loadgen perf`."""
    texts = [
        text
        for option in OTHER_OPTIONS.values()
        for text in (option.ours, option.note, *option.by_value.values())
    ]
    advised = {word for text in texts for word in re.findall(r"(?<![\w-])--[a-z-]+", text)}
    assert advised - own_options("perf") == set()


def test_the_page_has_the_table() -> None:
    """docs/coming-from.md ends with it; `make golden` writes it again."""
    golden.check_part(PAGE, "<!-- table -->\n", "<!-- /table -->", f"{table()}\n")


def table() -> str:
    """The options in the order of the table in the code; those with the same advice share a row."""
    names: dict[str, list[str]] = {}
    for name, option in OTHER_OPTIONS.items():
        names.setdefault(here(option), []).append(f"`{name}` ({', '.join(option.tools)})")
    rows = [f"| {', '.join(there)} | {advised} |" for advised, there in names.items()]
    tools: dict[tuple[str, str], list[str]] = {}
    for name, command in OTHER_COMMANDS.items():
        tools.setdefault((command.tool, command.ours), []).append(f"`{name}`")
    commands = [f"| {tool}: {', '.join(there)} | `loadgen {ours}` |" for (tool, ours), there in tools.items()]
    head = ["", "| there | here |", "|---|---|"]
    return "\n".join([*head, *commands, *head, *rows]) + "\n"


def here(option: Any) -> str:
    """What to type: in general, for particular values, and the difference."""
    values: dict[str, list[str]] = {}
    for value, ours in option.by_value.items():
        values.setdefault(ours, []).append(f"`{value}`")
    particular = [f"{', '.join(typed)}: `{ours}`" for ours, typed in values.items() if ours]
    general = f"`{option.ours.replace('{}', 'VALUE')}`" if option.ours else "leave it out"
    return "; ".join([general, *particular]) + (f" ({option.note})" if option.note else "")
