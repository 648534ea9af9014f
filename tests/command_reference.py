"""docs/cli.md: what the program says of every command."""

from __future__ import annotations

import re
from typing import Any

import typer

from loadgen.cli.typer_application import application

GROUP: Any = typer.main.get_command(application())
COMMANDS = {
    " ".join(filter(None, (name, second))): command
    for name, first in GROUP.commands.items()
    for second, command in getattr(first, "commands", {"": first}).items()
}
"""Every command by its words: of a group, those in it."""

PERF = "perf"
"""A command with more than half of the options of this one refers to them."""


def reference() -> str:
    """The whole reference, in Markdown."""
    sections = [section(name, command) for name, command in COMMANDS.items()]
    return "\n".join(
        [
            "# The command line",
            "",
            "Every command with `--help` says the same. Exit codes: 0 pass, 1 a gate failed, 2 usage,",
            "3 set-up failed, 4 run invalid or incomplete, 5 inconclusive, 70 a bug of this program,",
            "130 interrupted.",
            "",
            *sections,
        ],
    )


def section(name: str, command: Any) -> str:
    """One command: its help, and a table of what it takes."""
    help_text = re.sub(r"\[/?bold\]", "**", command.help or "")
    lines = [
        f"## loadgen {name}",
        "",
        prose(help_text),
        "",
        "| option | default | what it does |",
        "|---|---|---|",
    ]
    own, of_perf = rows(command), rows(COMMANDS[PERF])
    shared = own.keys() & of_perf.keys()
    if name == PERF or len(shared) < len(of_perf) / 2:
        return "\n".join([*lines, *own]) + "\n"
    left_out = ", ".join(f"`{word}`" for word in of_perf.values() if word not in own.values())
    return (
        "\n".join(
            [
                *lines,
                *(row for row in own if row not in shared),
                "",
                f"And the options of [loadgen perf](#loadgen-perf), except {left_out}.",
            ],
        )
        + "\n"
    )


def rows(command: Any) -> dict[str, str]:
    """The lines of a table of options, and the longest spelling of each."""
    return {
        f"| {spelled(parameter)} | {default(parameter)} | {parameter.help} |": max(parameter.opts, key=len)
        for parameter in command.params
        if parameter.name != "help"
    }


def prose(text: str) -> str:
    """Help text, with the examples as code."""
    return "\n".join(
        f"    {line.strip()}" if line.strip().startswith("loadgen ") else line.strip()
        for line in text.strip().splitlines()
    )


def spelled(parameter: Any) -> str:
    """How a parameter is written on the command line."""
    if parameter.param_type_name == "argument":
        return f"`{parameter.name.upper()}`"
    names = ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts))
    variables = parameter.envvar if isinstance(parameter.envvar, list) else [parameter.envvar]
    return names + "".join(f"<br>`{variable}`" for variable in variables if variable)


def default(parameter: Any) -> str:
    """Its default, empty where there is none to speak of."""
    if parameter.required:
        return "required"
    value = parameter.default
    nothing = value is None or value is False or value in ([], ()) or callable(value)
    return "" if nothing else f"`{value}`"
