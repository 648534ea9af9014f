"""Exceptions: one tree per room, drawn where its root is defined, and what is outside of the trees."""

from __future__ import annotations

import ast
import builtins
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

from tests.for_each import for_each

ROOT = Path(__file__).parents[1]
ROOTS = {
    "loadgen.sessions": "LoadgenError",
    "loadgen.driver": "DriverError",
    "loadgen.mock_endpoint": "MockError",
    "recorder": "RecorderError",
    "reporter": "ReporterError",
    "rulesets": "RulesetError",
    "workloads": "WorkloadError",
}
"""The root of each room, in its `errors`."""

_PLUGINS = "loadgen.plugins."

CONTROL_FLOW = {
    "loadgen.plugins.agents.agent_process.AgentsLostError": "ends a worker, which is then lost",
    "loadgen.mock_endpoint.ask.RefusedRequest": "an answer to a client",
    "loadgen.plugins.tool_selection.optimization.training._Unanswered": "passes GEPA's `except Exception`",
    "loadgen.sessions.settings.option.OptionValueError": "ends a sentence that names the option",
    "recorder.sensors.exposition.UnreadableError": "a page of metrics that is left out, with a finding",
    "recorder.sensors.scrape.ScrapeError": "likewise",
    "loadgen.plugins.agents.toolset.Refusal": "an observation for the agent",
    "loadgen.plugins.evals.grading.json_calls.UndecodableError": "an answer that is not a call: a score",
    "loadgen.plugins.evals.grading.prm800k._OddError": "where the official code gives up: the answer stays",
    "loadgen.plugins.evals.grading.time_limit.TimeUpError": "must pass by `except Exception` of what it ends",
    "loadgen.plugins.sandbox.container_programs.UncleanError": "a container that is replaced by a new one",
    "loadgen.plugins.sandbox.program_runner.ProgramVerdict": "how a program ended; it imports nothing",
    "loadgen.plugins.sandbox.program_runner.ProgramTimeUpError": "how a program ended; it imports nothing",
}
"""Exceptions that are caught where they are raised for, and why each is outside its room's tree."""


_HAS_BASES = re.compile(r"^\s*class \w+\(", re.MULTILINE)


class Definition(NamedTuple):
    """A class, by its module, with the names of its bases."""

    module: str
    name: str
    bases: tuple[str, ...]


@cache
def exceptions() -> list[Definition]:
    """All exceptions that are defined in the rooms, the roots included."""
    definitions = [
        Definition(
            ".".join(path.relative_to(ROOT).with_suffix("").parts),
            node.name,
            tuple(base.id for base in node.bases if isinstance(base, ast.Name)),
        )
        for package in sorted({room.partition(".")[0] for room in ROOTS})
        for path in sorted((ROOT / package).rglob("*.py"))
        # Few modules have a class with bases, and parsing all takes long.
        if _HAS_BASES.search(text := path.read_text())
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ClassDef)
    ]
    names = {name for name in dir(builtins) if _is_exception(getattr(builtins, name))}
    while more := {each.name for each in definitions if names & {*each.bases}} - names:
        names |= more
    return [each for each in definitions if names & {*each.bases}]


def _is_exception(value: object) -> bool:
    return isinstance(value, type) and issubclass(value, BaseException)


def ancestors(name: str, bases: dict[str, tuple[str, ...]]) -> set[str]:
    """A class and all that it descends from."""
    return {name}.union(*(ancestors(base, bases) for base in bases.get(name, ())))


def test_each_room_has_one_tree() -> None:
    """Every exception descends from the root of its room, a plug-in's from any root, or is in the list."""
    defined = exceptions()
    bases = {each.name: each.bases for each in defined}
    outside = {
        f"{each.module}.{each.name}"
        for each in defined
        for room in ROOTS
        if each.module.startswith(f"{room}.") and ROOTS[room] not in ancestors(each.name, bases)
    } | {
        f"{each.module}.{each.name}"
        for each in defined
        if each.module.startswith(_PLUGINS) and not ancestors(each.name, bases) & {*ROOTS.values()}
    }
    assert outside == CONTROL_FLOW.keys()
    rooms = (_PLUGINS, *(f"{room}." for room in ROOTS))
    elsewhere = {each.module for each in defined if not each.module.startswith(rooms)}
    assert elsewhere == set()


@for_each(("room", "root"), ROOTS.items())
def test_the_tree_is_drawn(room: str, root: str) -> None:
    """The docstring of a room's errors names each exception of the tree."""
    path = ROOT.joinpath(*room.split("."), "errors.py")
    drawing = ast.get_docstring(ast.parse(path.read_text())) or ""
    defined = exceptions()
    bases = {each.name: each.bases for each in defined}
    names = {each.name for each in defined if each.module.startswith(f"{room}.")}
    assert {name for name in names if root in ancestors(name, bases) and name not in drawing} == set()
