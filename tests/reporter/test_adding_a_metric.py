"""docs/adding-a-metric.md does what it says, in a copy of the repository."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.conftest import ROOT
from tests.recipe import NO_PLUGINS, blocks
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.reporter.conftest import Run

PAGE = (ROOT / "docs" / "adding-a-metric.md").read_text(encoding="utf-8")
ROWS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
COLUMN = blocks("adding-a-metric.md")["reporter/sql/samples.sql"]
COPIED = (
    *(
        "lazy_dataclasses",
        "loadgen",
        "recorder",
        "reporter",
        "rulesets",
        "workloads",
        "docs",
        "pyproject.toml",
    ),
    *(f"tests/{path.name}" for path in sorted((ROOT / "tests").glob("*.py"))),
    *("tests/reporter/conftest.py", "tests/reporter/test_metric_columns.py"),
)
TABLE, SQL = "rulesets/request_metrics.py", "reporter/sql/samples.sql"
CHECKS = ("tests/reporter/test_metric_columns.py", "tests/test_metric_files.py")
COMMANDS = """
import json, sys
from typer.testing import CliRunner
from loadgen.cli.typer_application import application

def run(arguments):
    ended = CliRunner().invoke(application(), arguments)
    return [ended.exit_code, ended.output]

print(json.dumps([run(arguments) for arguments in json.loads(sys.argv[1])]))
"""
SCHEMAS = """
from reporter.report_schema import report_schema
from rulesets.reading.ruleset_schema import schema
print(report_schema())
print(schema())
"""


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A copy of what the recipe changes and of the checks that guard it."""
    folder = tmp_path / "clone"
    for name in COPIED:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy2
        copy(ROOT / name, folder / name)
    return folder


def add_row(clone: Path, row: str) -> None:
    """Write a row at the end of the table."""
    file = clone / TABLE
    source = file.read_text(encoding="utf-8")
    end = source.index("\n)\n", source.index("\nREQUEST_METRICS")) + 1
    file.write_text(f"{source[:end]}{row}{source[end:]}", encoding="utf-8")


def add_column(clone: Path, column: str) -> None:
    """Write a column into the view, where the page says."""
    file = clone / SQL
    before, place, after = file.read_text(encoding="utf-8").partition("    -- The least and the most")
    file.write_text(f"{before}{column}{place}{after}", encoding="utf-8")


def python(clone: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the copy, which imports the copy's modules."""
    environment = os.environ | {"PYTHONPATH": str(clone), "COLUMNS": "200", **NO_PLUGINS}
    return subprocess.run(
        [sys.executable, *arguments], cwd=clone, env=environment, capture_output=True, text=True, check=False
    )


def checked(clone: Path) -> str:
    """The output of the tests that guard the table; empty where they pass."""
    ended = python(clone, "-m", "pytest", "-q", "-p", "no:cacheprovider", *CHECKS)
    return f"{ended.stdout}{ended.stderr}" if ended.returncode else ""


@pytest.mark.slow
def test_the_recipe_adds_two_metrics(clone: Path, a_run: Callable[..., Run]) -> None:
    """After the page's blocks and its command, each place that the page lists has both metrics."""
    add_row(clone, ROWS[0])
    add_column(clone, COLUMN)
    add_row(clone, ROWS[1])
    made = python(clone, "-m", "tests.metric_files")
    assert made.returncode == 0, made.stderr
    assert checked(clone) == ""
    runs = [str(reasoning_run(a_run)) for _ in range(2)]
    shown, verbose, compared, passed, listed = commands(
        clone,
        ["report", runs[0], "--json"],
        ["report", runs[0], "--verbose"],
        ["compare", *runs, "--metric", "reasoning:p(50)", "--metric", "reasoning_tokens:mean"],
        ["gate", runs[0], "--require", "reasoning:p(99)<2s", "--require", "reasoning_tokens:p(99)<=40"],
        ["list", "metrics"],
    )
    report = json.loads(shown[1])
    assert (report["reasoning_ms"]["p50"], report["reasoning_tokens"]["p50"]) == (30.0, 4.0)
    assert re.search(r"^ *Reasoning +30", verbose[1], re.MULTILINE)
    assert "reasoning:p(50)" in compared[1]
    assert "reasoning_tokens:mean" in compared[1]
    assert passed[0] == 0, passed[1]
    assert "time from the first token to the first that is not reasoning" in listed[1]
    schemas = python(clone, "-c", SCHEMAS).stdout.splitlines()
    assert ["reasoning_tokens" in schema for schema in schemas] == [True, True]


@pytest.mark.slow
def test_a_forgotten_place_is_named(clone: Path) -> None:
    """A row without its column or texts, a column without a row, a file that `make golden` has not made."""
    add_row(clone, ROWS[0])
    add_row(clone, re.sub(r"use=.*\n", 'use="",\n', ROWS[1]))
    add_column(clone, COLUMN.replace("reasoning_ms", "thinking_ms"))
    named = checked(clone)
    assert "metric 'reasoning': reporter/sql/samples.sql has no column reasoning_ms" in named
    assert f"column thinking_ms of {SQL}: no metric of {TABLE} has it" in named
    assert "metric 'reasoning_tokens' has no meaning, definition or use, which the docs print" in named
    for path in ("reporter/report.py", "docs/metrics.md", "docs/sql.md", "docs/rulesets.md"):
        assert f"{path} is not what its table makes: make golden" in named
    assert "+     reasoning_ms: Summary | None" in named
    assert "+ | `reasoning_ms` | first output" in named


def commands(clone: Path, *arguments: list[str]) -> list[tuple[int, str]]:
    """The exit code and the output of each command, in one process of the copy."""
    ended = python(clone, "-c", COMMANDS, json.dumps(arguments))
    assert ended.returncode == 0, ended.stderr
    return [(code, output) for code, output in json.loads(ended.stdout)]


def reasoning_run(a_run: Callable[..., Run]) -> Path:
    """Answers whose first token is 30 ms before their first output."""
    run: Any = a_run()
    for number in range(20):
        at_ms = 40.0 * number
        output = {
            "first_output_ns": ns(at_ms + 35),
            "first_visible_ns": ns(at_ms + 35),
            "reasoning_tokens": 4,
        }
        run.answers(at_ms + 5, at_ms + 35, at_ms + 36, at_ms=at_ms, usage=(7, 9), **output)
    folder: Path = run.ends().write()
    return folder
