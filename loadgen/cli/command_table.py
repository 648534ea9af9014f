"""Every command by name, with the place of the function and of the options."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple

from workloads.registry import Entry, at, entries, load

if TYPE_CHECKING:
    from collections.abc import Callable

_RUNNING = "Measure"
_READING = "Read a run"
_TRYING = "Try it"
_OTHERS = "Of other packages"


class CommandEntry(NamedTuple):
    """The place of a command: `module:name`, loaded on use, since only one command runs.

    Attributes:
        panel: The heading above it in the help.
        does: The function.
        settings: The class that declares its options; without one, its signature does.
        base: The class of another command's options that it takes as well.
        without: Options of `base` that it does not take.
        group: The help of the group, in the first of a plug-in's commands of two words.
        entry: What the registry has of it, if a plug-in's.
    """

    panel: str
    does: str
    settings: str | None = None
    base: str | None = None
    without: str | None = None
    group: str | None = None
    entry: Entry | None = None


_PERF: Final = "loadgen.sessions.settings.perf:PerfSettings"
COMMANDS: Final[Mapping[str, CommandEntry]] = {
    "perf": CommandEntry(_RUNNING, "loadgen.cli.perf:perf", _PERF),
    "accuracy": CommandEntry(
        _RUNNING, "loadgen.cli.accuracy:accuracy", "loadgen.sessions.settings.accuracy:AccuracySettings"
    ),
    "run": CommandEntry(_RUNNING, "loadgen.cli.run:run", "loadgen.sessions.settings.run:RunSettings"),
    "sweep": CommandEntry(
        _RUNNING,
        "loadgen.cli.sweep:sweep",
        "loadgen.sessions.settings.sweep:SweepSettings",
        _PERF,
        without="loadgen.sessions.settings.definition_options:OF_ONE_REPORT",
    ),
    "search": CommandEntry(
        _RUNNING,
        "loadgen.cli.search:search",
        "loadgen.sessions.settings.search:SearchSettings",
        _PERF,
        without="loadgen.sessions.settings.search:REPLACED",
    ),
    "audit output-caching": CommandEntry(
        _RUNNING,
        "loadgen.cli.audit:output_caching",
        "loadgen.sessions.settings.audit:AuditSettings",
        _PERF,
        without="loadgen.sessions.settings.audit:REPLACED",
    ),
    "resume": CommandEntry(
        _RUNNING, "loadgen.cli.resume:resume", "loadgen.sessions.settings.resume:ResumeSettings"
    ),
    "check": CommandEntry(
        _RUNNING, "loadgen.cli.check:check", "loadgen.sessions.settings.endpoint_options:CheckSettings"
    ),
    "report": CommandEntry(_READING, "loadgen.cli.report:report"),
    "score": CommandEntry(
        _READING, "loadgen.cli.score:score", "loadgen.sessions.settings.score:ScoreSettings"
    ),
    "watch": CommandEntry(_READING, "loadgen.cli.watch:watch"),
    "sql": CommandEntry(_READING, "loadgen.cli.sql:sql"),
    "plot": CommandEntry(_READING, "loadgen.cli.plot:plot"),
    "gate": CommandEntry(_READING, "loadgen.cli.gate:gate", "loadgen.sessions.settings.gate:GateSettings"),
    "compare": CommandEntry(
        _READING, "loadgen.cli.compare:compare", "loadgen.sessions.settings.compare:CompareSettings"
    ),
    "archive": CommandEntry(_READING, "loadgen.cli.archive:archive"),
    "rules show": CommandEntry(_READING, "loadgen.cli.rules:show"),
    "rules check": CommandEntry(_READING, "loadgen.cli.rules:check"),
    "init": CommandEntry(_TRYING, "loadgen.cli.init:init"),
    "demo": CommandEntry(_TRYING, "loadgen.cli.demo:demo"),
    "mock": CommandEntry(_TRYING, "loadgen.cli.mock:mock", "loadgen.sessions.settings.mock:MockSettings"),
    "list": CommandEntry(_TRYING, "loadgen.cli.listing:listing"),
}
"""The commands of this program; the first of two words is a group."""

NAMES: Final = frozenset(name.partition(" ")[0] for name in COMMANDS)
"""The first words of the commands."""

GROUPS: Final[Mapping[str, str]] = {
    "audit": "Audit a run for output caching.",
    "rules": "Show rulesets; validate ruleset files.",
}
"""The help of groups."""


def commands() -> Mapping[str, CommandEntry]:
    """Every command, those of plug-ins included."""
    added = {name: _of_plugin(entry) for name, entry in entries("commands").items() if name not in COMMANDS}
    return {**COMMANDS, **added}


def _of_plugin(entry: Entry) -> CommandEntry:
    return CommandEntry(**{"panel": _OTHERS, **entry.facts}, does=entry.target, entry=entry)


def function(entry: CommandEntry) -> Callable[..., None]:
    """The function of a command."""
    value = at(entry.does) if entry.entry is None else load(entry.entry)
    loaded: Callable[..., None] = value
    return loaded
