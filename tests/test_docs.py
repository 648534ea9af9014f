"""What exists is documented: every command, option, event, failure, metric and view."""

import os
import re
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.app import application
from cli.listing import events, failures, loads, metrics, protocols, views
from loadgen.client.failure import Failure
from recorder.event import EventType
from recorder.lifecycle import REQUEST, SESSION, SITTINGS, diagram
from reporter.report import Report

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text() for page in PAGES)
GROUP: Any = typer.main.get_command(application())
COMMANDS = {
    " ".join(filter(None, (name, second))): command
    for name, first in GROUP.commands.items()
    for second, command in getattr(first, "commands", {"": first}).items()
}
"""Every command by its words: of a group, those in it."""


def described(word: str) -> bool:
    """Whether a word stands in the docs as code."""
    return re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", TEXT) is not None


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_documented(name: str) -> None:
    """It has help, and a place in the docs."""
    assert COMMANDS[name].help
    assert described(f"loadgen {name}")


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_has_help(name: str) -> None:
    """A word of explanation stands beside each option and argument."""
    assert [parameter.name for parameter in COMMANDS[name].params if not parameter.help] == []


def test_every_option_that_a_remedy_names_is_there() -> None:
    """What a verdict or a finding says to do can be typed in."""
    known = {one for command in COMMANDS.values() for parameter in command.params for one in parameter.opts}
    known |= {one for command in COMMANDS.values() for its in command.params for one in its.secondary_opts}
    told = {
        (path.name, option)
        for room in ("rulesets", "reporter")
        for path in (ROOT / room).rglob("*.py")
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+[a-z]", path.read_text())
    }
    assert [(page, option) for page, option in sorted(told) if option not in known] == []


def test_the_reference_is_that_of_the_program() -> None:
    """docs/cli.md is what the program says of itself; UPDATE_GOLDEN=1 writes it anew."""
    page = ROOT / "docs" / "cli.md"
    said = reference()
    if os.environ.get("UPDATE_GOLDEN"):
        page.write_text(said)
    assert page.read_text() == said


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
    rows = [
        f"| {spelled(parameter)} | {default(parameter)} | {parameter.help} |"
        for parameter in command.params
        if parameter.name != "help"
    ]
    return "\n".join([*lines, *rows]) + "\n"


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


WORDS = [
    *events(),
    *(name for name in failures() if "<" not in name),
    *loads(),
    *metrics(),
    *protocols(),
    *views(),
    *(field for field in Report.__dataclass_fields__ if field.endswith("_ms")),
]


@pytest.mark.parametrize("word", WORDS)
def test_every_word_of_the_log_and_the_report_is_documented(word: str) -> None:
    """Events, failures, loads, metrics, protocols, views, report keys."""
    assert described(word)


@pytest.mark.parametrize("failure", Failure)
def test_the_log_page_defines_every_failure(failure: Failure) -> None:
    """As the taxonomy does: whom it blames, and what it is; and there is a word on what to do about it."""
    row = f"| `{failure}` | the {failure.blames} | {failure.meaning} |"
    assert row in (ROOT / "docs" / "log.md").read_text().splitlines()
    advice = rf"^\| `{failure}` \| the {failure.blames} \| \w"
    assert re.search(advice, (ROOT / "docs" / "failures.md").read_text(), re.MULTILINE)


@pytest.mark.parametrize("event", events())
def test_the_log_page_lists_every_event(event: str) -> None:
    """With its code, and what happened."""
    page = (ROOT / "docs" / "log.md").read_text()
    assert re.search(rf"^\| `{event}` \| {EventType[event].value} \| \w", page, re.MULTILINE)


@pytest.mark.parametrize("table", [REQUEST, SESSION, SITTINGS], ids=["request", "session", "sittings"])
def test_the_diagrams_are_drawn_from_the_tables(table: Any) -> None:
    """docs/log.md shows what the lifecycle tables say."""
    assert diagram(table) in (ROOT / "docs" / "log.md").read_text()


def test_every_test_that_holds_a_promise_is_there() -> None:
    """docs/durability.md names one for each."""
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "durability.md").read_text()))
    written = "\n".join(file.read_text() for file in (ROOT / "tests").rglob("test_*.py"))
    assert len(named) > 20
    assert {name for name in named if f"def {name}(" not in written} == set()


LINKS = [
    (page, target)
    for page in PAGES
    for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text())
    if "://" not in target
]


@pytest.mark.parametrize(("page", "target"), LINKS, ids=[f"{page.name}-{target}" for page, target in LINKS])
def test_every_link_leads_somewhere(page: Path, target: str) -> None:
    """Links between pages name files that exist."""
    assert (page.parent / target).exists()
