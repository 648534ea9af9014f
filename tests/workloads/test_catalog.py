"""Every line of the catalog leads to a benchmark that says what it is and where its definition is from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.for_each import for_each
from workloads.catalog import names, workload
from workloads.errors import TaskError

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
UNOFFICIAL = frozenset({"loghub", "natural_reasoning", "wildchat"})
"""Questions without a published rule: their first scorer says what it is."""

HEADLINES = re.compile(r"[a-z0-9_@^-]+")


@for_each("name", names())
def test_a_line(name: str) -> None:
    """It is imported under the name that it calls itself by; the first scorer is official, if any is."""
    result = workload(name)
    assert result.name == name
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name), "rules write accuracy.NAME:value"
    assert result.title
    assert result.source.files or result.source.own
    assert (result.scorers[0].name == "official") == (name not in UNOFFICIAL)
    names = [scorer.name for scorer in result.scorers]
    assert len(set(names)) == len(names)


@for_each("name", names())
def test_scorers(name: str) -> None:
    """Each says where its definition is from, and has figures of a run that rules can name."""
    for scorer in workload(name).scorers:
        assert scorer.definition
        assert scorer.headlines
        headlines = [headline.name for headline in scorer.headlines]
        assert len(set(headlines)) == len(headlines)
        assert [column for column in headlines if not HEADLINES.fullmatch(column)] == []
        assert (scorer.ask is None) == (not scorer.judge), "who asks a judge names it"


@for_each("name", names())
def test_a_line_is_documented(name: str) -> None:
    """The page of benchmarks has it, its scorers and its options as code."""
    page = PAGE.read_text(encoding="utf-8")
    result = workload(name)
    words = [name, *(scorer.name for scorer in result.scorers), *result.options]
    assert [
        word for word in words if not re.search(rf"`[^`\n]*(?<![\w-]){re.escape(word)}(?![\w-])", page)
    ] == []


def test_no_line() -> None:
    """The message has a name that is near."""
    with pytest.raises(TaskError, match=r"Unknown task 'gsm8'. Did you mean 'gsm8k'"):
        workload("gsm8")


@pytest.mark.parametrize(
    ("name", "form"),
    [("swefficiency", "swefficiency"), ("work-arena", "workarena"), ("lifelong-agent", "lifelong-agent")],
)
def test_a_benchmark_that_another_program_runs_leads_to_import(name: str, form: str) -> None:
    """By its name, or nearly; a misspelt task is still a task."""
    with pytest.raises(
        TaskError, match=f"another program; import the results: loadgen import {form} RESULTS"
    ):
        workload(name)
    with pytest.raises(TaskError, match="Did you mean 'gsm8k'"):
        workload("gsm9k")
