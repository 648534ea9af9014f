"""The program of `--agent-command`: its words, or a preset that says how a known agent is run."""

from __future__ import annotations

import shlex
import shutil
import tomllib
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.agents.episode_plan import AgentCommand
from loadgen.plugins.agents.tool_agent import TOOLS
from loadgen.sessions.errors import UsageError
from workloads.errors import did_you_mean

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

FOLDER: Final = Path(__file__).with_name("presets")
_MARK: Final = "@"
_TOOLS: Final = "tools"
_SUFFIX: Final = ".toml"
_ARGUMENTS: Final = "{arguments}"
_SHAPES: Final[Mapping[str, str]] = {
    "command": "a list of texts",
    "environment": "a table of texts",
    "files": "a table of texts",
}
"""Of the keys of a preset; each of the others is a text."""
_KEYS: Final = {"title", "command", *(field.name for field in fields(AgentCommand))} - {"words", "preset"}


def presets() -> dict[str, str]:
    """The titles of the presets by their names."""
    programs = {
        path.stem: tomllib.loads(path.read_text(encoding="utf-8"))["title"]
        for path in sorted(FOLDER.glob(f"*{_SUFFIX}"))
    }
    return programs | {_TOOLS: f"the model with tools of this program: {', '.join(TOOLS)}"}


def agent_tools(text: str, *, may_run_commands: bool) -> tuple[str, ...]:
    """The tools of `@tools NAME,NAME`, or raise `UsageError`; none for another agent."""
    name, _, rest = text.strip().partition(" ")
    if name != f"{_MARK}{_TOOLS}":
        return ()
    names = tuple(dict.fromkeys(rest.replace(",", " ").split()))
    if not names:
        raise UsageError(f"--agent-command {text}: no tool is named; the tools are {', '.join(TOOLS)}")
    for tool in names:
        if tool not in TOOLS:
            raise UsageError(
                f"--agent-command {text}: unknown tool {tool!r}{did_you_mean(tool, TOOLS)}; the tools are "
                f"{', '.join(TOOLS)}"
            )
        if TOOLS[tool].in_sandbox and not may_run_commands:
            raise UsageError(f"--agent-command {text}: {tool} needs a sandbox: add --allow-code-execution")
    return names


def agent_command(text: str, *, inside: bool) -> AgentCommand:
    """Read a program and its arguments, or `@NAME` or `@FILE.toml` and further ones.

    Args:
        text: As the user wrote it.
        inside: Whether it runs in a sandbox: what is there is not known here.

    Raises:
        UsageError: The program or the preset does not exist, the preset cannot be read, or a quotation is not
            closed.
    """
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise UsageError(f"--agent-command {text}: {error}") from error
    if words and words[0].startswith(_MARK):
        command = _of_preset(words[0][1:], words[1:])
    else:
        command = AgentCommand(tuple(words))
    if inside and words:
        return command
    name = command.words[0] if command.words else text
    program = shutil.which(name)
    if program is None:
        raise UsageError(f"--agent-command {text}: no program {name}; install it, or give its path")
    return replace(command, words=(str(Path(program).absolute()), *command.words[1:]))


def _of_preset(name: str, arguments: Sequence[str]) -> AgentCommand:
    path = Path(name) if name.endswith(_SUFFIX) else FOLDER / f"{name}{_SUFFIX}"
    try:
        preset = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        there = ", ".join(presets())
        raise UsageError(
            f"--agent-command @{name}: no such preset; the presets are {there}, or name a .toml file"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise UsageError(f"--agent-command @{name}: {error}") from error
    _check(name, preset)
    words = preset.pop("command")
    place = words.index(_ARGUMENTS) if _ARGUMENTS in words else len(words)
    preset.pop("title", None)
    return AgentCommand((*words[:place], *arguments, *words[place + 1 :]), **preset, preset=name)


def _check(name: str, preset: Mapping[str, Any]) -> None:
    for key, value in preset.items():
        if key not in _KEYS:
            raise UsageError(
                f"--agent-command @{name}: no key {key}; the keys are {', '.join(sorted(_KEYS))}"
            )
        if not _is_right(value, _SHAPES.get(key, "a text")):
            raise UsageError(f"--agent-command @{name}: {key} must be {_SHAPES.get(key, 'a text')}")
    if not preset.get("command"):
        raise UsageError(f"--agent-command @{name}: `command` is missing: the program and its arguments")
    if preset.get("task", "stdin") not in {"stdin", "file"}:
        raise UsageError(f"--agent-command @{name}: task must be stdin or file")


def _is_right(value: Any, shape: str) -> bool:
    match shape, value:
        case ("a list of texts", list()):
            return all(isinstance(part, str) for part in value)
        case ("a table of texts", dict()):
            return all(isinstance(part, str) for part in value.values())
    return shape == "a text" and isinstance(value, str)
