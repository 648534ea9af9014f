"""docs/adding-a-benchmark.md does what it says."""

from __future__ import annotations

import sys
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest

from tests.recipe import blocks
from workloads.benchmark import dataset
from workloads.registry import Entry, entries
from workloads.task import parse

if TYPE_CHECKING:
    from types import ModuleType

ROOT = Path(__file__).parents[2]


BLOCKS = blocks("adding-a-benchmark.md")


def module(name: str, path: str, folder: Path) -> ModuleType:
    """Import a block of the page as a module."""
    file = folder / Path(path).name
    file.write_text(BLOCKS[path], encoding="utf-8")
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    made = module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def capitals(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The benchmark of the page, in the catalog."""
    made = module("loadgen.plugins.evals.tasks.capitals", "loadgen/plugins/evals/tasks/capitals.py", tmp_path)
    monkeypatch.setitem(sys.modules, "loadgen.plugins.evals.tasks.capitals", made)
    (name, target), *_ = tomllib.loads(BLOCKS["loadgen/plugins/evals/plugin.toml"]).items()
    entry = Entry("benchmarks", name, target)
    monkeypatch.setitem(entries("benchmarks"), name, entry)  # type: ignore[arg-type]
    return made


@pytest.mark.usefixtures("capitals")
def test_its_questions(tmp_path: Path) -> None:
    """The page's data becomes the page's questions, with its option."""
    (tmp_path / "capitals").mkdir()
    (tmp_path / "capitals" / "test.jsonl").write_text(BLOCKS["capitals/test.jsonl"], encoding="utf-8")
    read = dataset([parse("capitals:short=true")], tmp_path)
    assert [question.id for question in read.questions] == ["fr", "bo", "jp"]
    assert read.samples[0].prompt.endswith("`Capital: NAME`. Say nothing else.")
    assert read.tasks[0]["rows"] == read.tasks[0]["published"]


@pytest.mark.usefixtures("capitals")
def test_its_scores() -> None:
    """The page's examples of scores are right."""
    exec(BLOCKS["tests/plugins/evals/tasks/test_capitals.py"], {})  # noqa: S102 (the example itself)


def test_its_headlines(capitals: ModuleType) -> None:
    """They are aggregates that DuckDB can compute of rows as the view `scores` has them."""
    rows = (
        "SELECT * FROM (VALUES (1.0, MAP {'continent': 'Europe'}, MAP {'words': 2.0}),"
        " (0.0, MAP {'continent': 'Asia'}, MAP {'words': 4.0})) AS scores (value, tags, metrics)"
    )
    figures = [
        duckdb.sql(f"SELECT {headline.sql} FROM ({rows})").fetchall()[0][0]  # noqa: S608 (of the page)
        for headline in capitals.WORKLOAD.scorers[0].headlines
    ]
    assert figures == [0.5, 1.0, 3.0]


@pytest.mark.usefixtures("capitals")
def test_its_conformance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The definition agrees with what was recorded, and the shortcut does not."""
    monkeypatch.syspath_prepend(ROOT)
    made = module("capitals_conformance", "tests/conformance/capitals.py", tmp_path)
    recorded = tmp_path / made.NEEDS[0]
    recorded.parent.mkdir()
    recorded.write_text(BLOCKS["capitals/recorded.jsonl"], encoding="utf-8")
    official, anywhere = made.agreements(tmp_path)
    assert (official.agree, official.passes) == (2, True)
    assert (anywhere.agree, anywhere.passes) == (1, True)
