"""The shape of the house: which room may know which, how big a room's pieces may be."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ARROWS = {
    "cli": {"loadgen", "reporter", "workloads", "recorder", "rulesets"},
    "loadgen": {"workloads", "recorder"},
    "reporter": {"workloads", "recorder", "rulesets"},
    "workloads": set(),
    "recorder": set(),
    "rulesets": set(),
}
"""Which package may import which: docs/architecture.md draws them."""

DRAWERS = {"utils", "util", "common", "helpers", "types", "manager", "misc"}
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
HEAVY = {
    "asyncio",
    "aiohttp",
    "duckdb",
    "pyarrow",
    "transformers",
    "docker",
    "yaml",
    "rich",
    "adbc_driver_sqlite",
}
FILES = sorted(path for package in ARROWS for path in (ROOT / package).rglob("*.py"))


def module(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree: ast.AST, *, at_run_time: bool) -> Iterator[str]:
    """The modules that a file imports: anywhere in it, or only when it is itself imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif at_run_time and _is_for_later(node):
            continue
        else:
            yield from imports(node, at_run_time=at_run_time)


def _is_for_later(node: ast.AST) -> bool:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return True
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@pytest.mark.parametrize("path", FILES, ids=module)
def test_no_arrow_is_new(path: Path) -> None:
    """A package imports only what the drawing allows, function-level and typing imports included."""
    package = path.relative_to(ROOT).parts[0]
    known = {name.split(".")[0] for name in imports(ast.parse(path.read_text()), at_run_time=False)}
    assert known & set(ARROWS) <= ARROWS[package] | {package}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports at run time make no cycle, within a package either."""
    names = {module(path) for path in FILES}
    graph = {
        module(path): {
            name if name in names else name.rpartition(".")[0]
            for name in imports(ast.parse(path.read_text()), at_run_time=True)
            if names & {name, name.rpartition(".")[0]}
        }
        for path in FILES
    }
    done: set[str] = set()

    def visit(name: str, trail: tuple[str, ...]) -> None:
        assert name not in trail, f"a circle: {' → '.join((*trail, name))}"
        if name not in done:
            for target in graph[name]:
                visit(target, (*trail, name))
            done.add(name)

    for name in graph:
        visit(name, ())


@pytest.mark.parametrize("path", FILES, ids=module)
def test_one_file_is_one_concept(path: Path) -> None:
    """No drawer for odds and ends, no file over 400 lines, no function body over 60."""
    assert path.stem not in DRAWERS
    text = path.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and node.body[1:]:
                first = node.body[1]
            assert (node.end_lineno or 0) - first.lineno < MOST_LINES_OF_A_FUNCTION, node.name


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    """`loadgen --help` answers at once because what measures and reports is loaded on use."""
    import subprocess

    script = (
        "import sys, cli.app\ncli.app.application()\n"
        "print(*sorted({name.split('.')[0] for name in sys.modules}))"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
    ).stdout.split()
    assert "typer" in loaded
    assert not HEAVY - {"rich"} & set(loaded)
