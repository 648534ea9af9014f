"""docs/adding-a-report-format.md does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import get_args

import orjson
import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.formats import FORMATS, Subject, formats_of, render
from loadgen.sessions.settings.formats import chosen_format
from tests.recipe import blocks, with_line

ROOT = Path(__file__).parents[2]
BLOCKS = blocks("adding-a-report-format.md")
TABLE = "loadgen/sessions/formats.py"
RENDERER = "reporter/render/prometheus.py"


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with copies of `loadgen` and `reporter` that have the page's file and the page's line."""
    folder = tmp_path_factory.mktemp("prometheus")
    for package in ("loadgen", "reporter"):
        shutil.copytree(ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / RENDERER).write_text(BLOCKS[RENDERER], encoding="utf-8")
    source = (folder / TABLE).read_text(encoding="utf-8")
    (folder / TABLE).write_text(with_line(source, "FORMATS", BLOCKS[TABLE]), encoding="utf-8")
    return folder


def report(packages: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run `loadgen report` of the copies."""
    return subprocess.run(
        [sys.executable, "-m", "loadgen", "report", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd=packages,
        env=os.environ | {"PYTHONPATH": str(packages)},
    )


def test_a_run_is_reported_in_it(packages: Path, a_run: Path) -> None:
    """With the figures of report.json."""
    printed = report(packages, a_run, "--format", "prometheus")
    reported = orjson.loads((a_run / "report.json").read_bytes())
    figures = dict(line.rsplit(" ", 1) for line in printed.stdout.splitlines())
    assert figures['loadgen_requests{status="completed"}'] == str(reported["counts"]["completed"])
    assert float(figures['loadgen_ttft_seconds{quantile="0.99"}']) * 1000 == pytest.approx(
        reported["ttft_ms"]["p99"]
    )


def test_it_is_a_choice(packages: Path, a_run: Path) -> None:
    """The help and the message of a wrong name have it."""
    assert "prometheus" in report(packages, "--help").stdout
    wrong = report(packages, a_run, "--format", "prometeus")
    assert wrong.returncode == 2
    assert "did you mean 'prometheus'" in wrong.stderr


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_has_a_subject_and_a_file(name: str) -> None:
    """A row names modules that exist."""
    modules = [getattr(FORMATS[name], subject) for subject in get_args(Subject)]
    assert any(modules)
    assert [
        module for module in modules if module and not (ROOT / f"{module.replace('.', '/')}.py").exists()
    ] == []


def test_a_format_that_a_subject_lacks_is_an_error() -> None:
    """With the nearest name, and all of them."""
    with pytest.raises(
        UsageError, match=re.escape("--format junt: not a format of a verdict; did you mean 'junit'")
    ):
        render("verdict", "junt", [])
    with pytest.raises(UsageError, match="choose from text, json"):
        render("report", "junit", None)
    assert formats_of("comparison") == ["text", "json", "html", "md", "csv", "svg"]


def test_json_is_a_shorthand() -> None:
    """Of `--format json`; with another format it contradicts itself."""
    assert [chosen_format("text", json=True), chosen_format("json", json=True)] == ["json", "json"]
    assert chosen_format("markdown", json=False) == "markdown"
    with pytest.raises(UsageError, match="contradict each other"):
        chosen_format("markdown", json=True)
