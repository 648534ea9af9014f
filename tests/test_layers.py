"""The laws of the house: files and folders import each other in one direction."""

from __future__ import annotations

import ast
from functools import cache
from typing import TYPE_CHECKING, Final

from tests.conftest import ROOT
from workloads.registry import load, manifests

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ROOMS: Final = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")


def files() -> Iterator[Path]:
    """Every file of the product."""
    for room in ROOMS:
        yield from (ROOT / room).rglob("*.py")


def module(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@cache
def imports() -> Mapping[str, frozenset[str]]:
    """The modules of the product that each module imports, in functions and for types as well."""
    paths = {module(path): path for path in files()}
    graph = {}
    for name, path in paths.items():
        imported: set[str] = set()
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                imported |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                members = (f"{node.module}.{alias.name}" for alias in node.names)
                imported |= {each if each in paths else str(node.module) for each in members}
        graph[name] = frozenset(imported & paths.keys() - {name})
    return graph


def units(folder: str) -> dict[str, set[str]]:
    """The files and folders directly in a folder, and which of the others each imports."""
    graph: dict[str, set[str]] = {}
    for name, imported in imports().items():
        if (unit := _unit(folder, name)) is not None:
            others = {_unit(folder, other) for other in imported} - {None, unit}
            graph.setdefault(unit, set()).update(map(str, others))
    return graph


def _unit(folder: str, name: str) -> str | None:
    """The part of a folder that a module is in; None for a module elsewhere, and for the folder's own."""
    start = f"{folder}." if folder else ""
    if not name.startswith(start):
        return None
    return name.removeprefix(start).partition(".")[0] or None


def in_circles(graph: Mapping[str, set[str]]) -> frozenset[str]:
    """The units that reach themselves."""
    reached: dict[str, set[str]] = {}
    for unit in graph:
        seen: set[str] = set()
        left = list(graph[unit])
        while left:
            if (other := left.pop()) not in seen:
                seen.add(other)
                left += graph.get(other, ())
        reached[unit] = seen
    return frozenset(unit for unit, others in reached.items() if unit in others)


def test_no_circle_of_folders() -> None:
    """At any depth, imports in functions and those for types included."""
    folders = {"", *(".".join(name.split(".")[:depth]) for name in imports() for depth in range(1, 9))}
    circles = {folder: circle for folder in folders if (circle := in_circles(units(folder)))}
    assert circles == {}


def plugin_of(name: str) -> str | None:
    """The plug-in that a module belongs to; None for a module of the heart."""
    parts = name.split(".")
    return parts[2] if parts[:2] == ["loadgen", "plugins"] and len(parts) > 2 else None


def test_the_heart_imports_no_plugin() -> None:
    """The heart asks the registry by name; only modules that re-export names for Python import plug-ins."""
    breaches = {
        (name, other)
        for name, imported in imports().items()
        for other in imported
        if plugin_of(name) is None and plugin_of(other) is not None
    }
    assert {name for name, _ in breaches} == {
        "loadgen",
        "loadgen.agents",
        "loadgen.data",
        "loadgen.extensions",
        "loadgen.grading",
    }


def test_a_plugin_imports_what_its_manifest_needs() -> None:
    """Another plug-in is imported only where `needs` names that plug-in."""
    needed = {(plugin.name, other) for plugin in manifests() for other in plugin.needs}
    used = {
        (plugin_of(name), plugin_of(other))
        for name, imported in imports().items()
        for other in imported
        if plugin_of(name) and plugin_of(other) not in {None, plugin_of(name)}
    }
    assert used == needed


def test_every_entry_of_a_manifest_is_there() -> None:
    """Each name leads to a value that can be imported."""
    for plugin in manifests():
        for entry in plugin.entries:
            assert load(entry) is not None


def test_a_circle_is_found() -> None:
    """Also one over a third unit; a unit that leads to a circle is not in it."""
    assert in_circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}, "e": set()}) == {"a", "b", "c"}


def test_the_driver_imports_no_episodes() -> None:
    """Episodes come with the plan, as every further kind of sessions (`loadgen.driver.session_kind`)."""
    for name, imported in imports().items():
        if name.startswith("loadgen.driver."):
            assert "workloads.episode_program" not in imported, name
