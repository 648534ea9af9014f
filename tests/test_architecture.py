"""The shape of the house: which room may know which, how big a room's pieces may be."""

import ast
import re
import sys
import tomllib
from collections import Counter
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
ARROWS = {
    "loadgen": {
        "loadgen.plugins",
        "loadgen.cli",
        "loadgen.sessions",
        "loadgen.driver",
        "loadgen.mock_endpoint",
        "reporter",
        "workloads",
        "recorder",
        "rulesets",
        "lazy_dataclasses",
    },
    "loadgen.plugins": {
        "loadgen",
        "loadgen.cli",
        "loadgen.sessions",
        "loadgen.driver",
        "loadgen.mock_endpoint",
        "reporter",
        "workloads",
        "recorder",
        "rulesets",
        "lazy_dataclasses",
    },
    "loadgen.cli": {
        "loadgen.sessions",
        "loadgen.driver",
        "loadgen.mock_endpoint",
        "reporter",
        "workloads",
        "recorder",
        "rulesets",
        "lazy_dataclasses",
    },
    "loadgen.sessions": {
        "loadgen.driver",
        "loadgen.mock_endpoint",
        "reporter",
        "workloads",
        "recorder",
        "rulesets",
        "lazy_dataclasses",
    },
    "loadgen.mock_endpoint": {"loadgen.driver", "workloads", "lazy_dataclasses"},
    "loadgen.driver": {"workloads", "recorder", "lazy_dataclasses"},
    "reporter": {"workloads", "recorder", "rulesets", "lazy_dataclasses"},
    "workloads": {"lazy_dataclasses"},
    "recorder": {"lazy_dataclasses"},
    "rulesets": {"lazy_dataclasses"},
    "lazy_dataclasses": set(),
}
"""Which room may import which: docs/architecture.md draws them."""

EXITS = {"sys.exit", "os._exit", "SystemExit", "exit", "quit", "print", "sys.stdout", "sys.stderr"}
DRAWERS = {"utils", "util", "common", "helpers", "types", "manager", "misc"}
MOST_LINES = 400
MOST_LINES_OF_A_FUNCTION = 60
MOST_LINES_OF_THE_COMMAND_LINE = 5000
HEAVY = {
    "asyncio",
    "aiohttp",
    "duckdb",
    "pyarrow",
    "transformers",
    "docker",
    "yaml",
    "rich",
    "jinja2",
    "adbc_driver_sqlite",
}
_MODULES = {"PyYAML": "yaml"}
"""What packages are imported as, where that is another name."""

FILES = sorted(path for room in ARROWS if "." not in room for path in (ROOT / room).rglob("*.py"))


def module(path: Path) -> str:
    """The dotted name of a file."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def room_of(name: str) -> str | None:
    """The room of a module, which is the innermost around it; None for a module of another package."""
    return max((room for room in ARROWS if f"{name}.".startswith(f"{room}.")), key=len, default=None)


class Facts(NamedTuple):
    """What a file has.

    Attributes:
        imports: The modules that it imports, in functions and for types as well.
        lines: Its number of lines.
        functions: The name of each function, and the number of lines of its body.
        classes: The name of each class.
    """

    imports: tuple[str, ...]
    lines: int
    functions: tuple[tuple[str, int], ...]
    classes: tuple[str, ...]


@cache
def facts(path: Path) -> Facts:
    """The facts of a file, which is parsed once for all tests."""
    text = path.read_text()
    imported: list[str] = []
    functions = []
    classes = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            imported += (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            imported += (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            functions.append((node.name, _lines_of_body(node)))
        elif isinstance(node, ast.ClassDef):
            classes.append(node.name)
    return Facts(tuple(imported), len(text.splitlines()), tuple(functions), tuple(classes))


def imports(path: Path) -> tuple[str, ...]:
    """The modules that a file imports, in functions and for types as well."""
    return facts(path).imports


@pytest.mark.slow
def test_every_dependency_is_imported() -> None:
    """What `pip install` brings is used: a package that only an extra needs belongs to that extra."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    names = {re.split(r"[<>=\[]", line)[0] for line in project["dependencies"]}
    modules = {_MODULES.get(name, name).replace("-", "_") for name in names}
    imported = {name.split(".")[0] for path in FILES for name in imports(path)}
    assert not modules - imported


@pytest.mark.slow
def test_no_arrow_is_new() -> None:
    """A room imports only what the drawing allows, function-level and typing imports included."""
    new = {
        f"{module(path)} imports {imported}"
        for path in FILES
        for imported in imports(path)
        if room_of(imported) not in {None, room_of(module(path)), *ARROWS[str(room_of(module(path)))]}
    }
    assert new == set()


def test_a_class_name_has_one_meaning() -> None:
    """The events `Finding` and `Question` of the log's payloads are named as what they record."""
    named = Counter(name for path in FILES for name in {*facts(path).classes})
    assert {name for name, files in named.items() if files > 1} == {"Finding", "Question"}


def test_no_modules_import_each_other_in_a_circle() -> None:
    """Imports make no cycle, those in functions and those for types included."""
    names = {module(path) for path in FILES}
    graph = {
        module(path): {
            name if name in names else name.rpartition(".")[0]
            for name in imports(path)
            if names & {name, name.rpartition(".")[0]}
        }
        - {module(path)}
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


def test_one_file_is_one_concept() -> None:
    """No drawer for odds and ends, no file over 400 lines that people write, no function body over 60."""
    assert [module(path) for path in FILES if path.stem in DRAWERS] == []
    long_files = {module(path) for path in FILES if facts(path).lines > MOST_LINES}
    assert long_files == set()
    long = {
        f"{module(path)}: {name}"
        for path in FILES
        for name, lines in facts(path).functions
        if lines > MOST_LINES_OF_A_FUNCTION
    }
    assert long == set()


def test_the_command_line_declares_and_prints() -> None:
    """What commands do is in `loadgen.sessions`: `loadgen.cli` stays small."""
    lines = sum(len(path.read_text().splitlines()) for path in (ROOT / "loadgen" / "cli").rglob("*.py"))
    assert lines <= MOST_LINES_OF_THE_COMMAND_LINE


def test_sessions_need_no_terminal() -> None:
    """`loadgen.sessions` imports neither typer nor rich, writes to no terminal, and never exits."""
    sessions = [path for path in FILES if room_of(module(path)) == "loadgen.sessions"]
    assert sessions
    terminal = {
        f"{module(path)} imports {name}"
        for path in sessions
        for name in imports(path)
        if name.partition(".")[0] in {"typer", "rich", "click"}
    }
    exits = {
        f"{module(path)}:{node.lineno}"
        for path in sessions
        if not _is_a_program(path)
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node) in EXITS
    }
    assert terminal | exits == set()


def _is_a_program(path: Path) -> bool:
    """Whether a file is run with `python -m`."""
    return '__name__ == "__main__"' in path.read_text()


def _lines_of_body(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Its lines without its docstring."""
    first = function.body[0]
    if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and function.body[1:]:
        first = function.body[1]
    return (function.end_lineno or 0) - first.lineno + 1


def test_help_loads_nothing_heavy(tmp_path: Path) -> None:
    """`loadgen --help` answers at once because what measures and reports is loaded on use."""
    import subprocess

    script = (
        "import sys\nfrom loadgen.cli.typer_application import application\napplication()\n"
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


ONE_PLACE = {
    r"^\s*(import|from) yaml": {
        "workloads.yaml_values",
        "rulesets.document",  # has anchors and merge keys, and reads key by key; a leaf that imports nothing
        "loadgen.sessions.files.plain_files",  # writes
    },
    r"get_close_matches|difflib import SequenceMatcher": {
        "workloads.errors",
        "rulesets.errors",
        "recorder.payload_check",
        "loadgen.plugins.evals.tasks.mrcr",  # a score
    },
    r"\.replace\(path\)": {
        "loadgen.sessions.files.run_folder",
        "reporter.sample_results",  # DuckDB writes the file
    },
    r"subprocess\.Popen\(": {
        "loadgen.driver.system.child_process",
        "loadgen.plugins.sandbox.local",  # runs foreign code, with a separate environment
        "loadgen.plugins.sandbox.local_commands",  # as above
        "loadgen.plugins.sandbox.relay",  # in the sandbox
    },
    r'"h": 3600': {"workloads.units"},
    r"from dataclasses import .*\bdataclass\b": {"lazy_dataclasses"},
    r"x1b\[2?K": {"loadgen.cli.terminal.block", "loadgen.cli.terminal.live"},
}
"""What is written once: a pattern of what it takes, and the modules that have it, one per leaf room."""


@pytest.mark.parametrize(("pattern", "homes"), ONE_PLACE.items())
def test_one_place_for_each_task(pattern: str, homes: set[str]) -> None:
    """YAML, did-you-mean, whole files, child processes, durations, status lines: use what there is."""
    having = {module(path) for path in FILES if re.search(pattern, path.read_text(), re.MULTILINE)}
    assert having == homes
