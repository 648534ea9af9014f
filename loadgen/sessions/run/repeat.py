"""The command that repeats a run, from the settings in its log: without secrets, and with fresh prompts."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.arguments import program
from loadgen.sessions.errors import printable
from loadgen.sessions.settings.concerns import fields_of
from loadgen.sessions.settings.perf import PerfSettings
from reporter.json_values import members, texts

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from loadgen.sessions.settings.field import SettingField

_DRAWN: Final = frozenset({"text_seed"})
"""Drawn for each run: equal texts would be in the prefix cache of the server."""

_ALWAYS_SENT: Final = frozenset({"user-agent", "authorization"})
"""Headers that need no option; a key comes from the environment."""

_COMMAND_LINE: Final = "command line"


def commands_of_page(run: Path, form: str) -> dict[str, str]:
    """The commands that a page shows: `command` makes the page again, `repeat` repeats the run."""
    command = f"{program()} report {printable(str(run))} --format {form}"
    return {"command": command, "repeat": repeat_command(run)}


def repeat_command(log: Path) -> str:
    """The command line that repeats a run; empty for a log of another program or command."""
    from reporter.log.settings import settings

    return command_of(settings(log))


def command_of(settings: Mapping[str, Any]) -> str:
    """The command line of settings; empty where they are not those of `loadgen perf`."""
    if settings.get("command") != "perf" or not isinstance(settings.get("options"), dict):
        return ""
    return shlex.join(["loadgen", "perf", *_words(settings)])


def _words(settings: Mapping[str, Any]) -> Iterator[str]:
    for url in texts(settings.get("urls")) or texts([settings.get("url")]):
        yield from ("--url", url)
    options = members(settings.get("options"))
    for name, read in fields_of(PerfSettings).items():
        if name in options and name not in _DRAWN and options[name] != read.default:
            yield from _option(read, options[name])
    for header in texts(settings.get("headers")):
        if header.lower() not in _ALWAYS_SENT:
            yield from ("--header", f"{header}: VALUE")
    yield from _rules(members(settings.get("ruleset")))
    for skipped in texts(settings.get("skip")):
        yield from ("--skip", skipped)


def _option(read: SettingField, value: Any) -> Iterator[str]:
    """An option with its values; a switch that is off by its other name."""
    if isinstance(value, bool):
        yield read.flag if value else read.flag.replace("--", "--no-", 1)
        return
    for each in value if isinstance(value, list) else [value]:
        yield from (read.flag, f"{each:.15g}" if isinstance(each, float) else str(each))


def _rules(rules: Mapping[str, Any]) -> Iterator[str]:
    """The ruleset, and the targets that `--require` added: they have no source."""
    name = str(rules.get("name") or "")
    ruleset = "" if name == _COMMAND_LINE else name.removesuffix(f" + {_COMMAND_LINE}")
    if ruleset:
        yield from ("--ruleset", _joined("@", ruleset, rules.get("version")))
        if scenario := _joined("/", rules.get("model"), rules.get("scenario")):
            yield from ("--scenario", scenario)
    if name.endswith(_COMMAND_LINE):
        for target in map(members, rules.get("targets") or ()):
            if not ruleset or not target.get("source"):
                yield from ("--require", str(target.get("id")))


def _joined(by: str, *names: Any) -> str:
    """Names in a row, without those that say nothing."""
    return by.join(str(name) for name in names if name and name != "*")
