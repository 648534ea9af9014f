"""Every line of the catalogue leads to a benchmark that says what it is and where its definition is from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from workloads.catalog import TASKS, workload
from workloads.errors import TaskError

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
UNOFFICIAL = frozenset({"wildchat"})
"""Questions for which nobody has published a rule: their first scorer says what it is."""

HEADLINES = re.compile(r"[a-z0-9_@^-]+")


@pytest.mark.parametrize("name", TASKS)
def test_a_line(name: str) -> None:
    """It is imported under the name that it calls itself by; the first scorer is official, if any is."""
    found = workload(name)
    assert found.name == name
    assert re.fullmatch(r"[a-z][a-z0-9_]*", name), "rules write accuracy.NAME:value"
    assert found.title
    assert found.source.files or found.source.own
    assert (found.scorers[0].name == "official") == (name not in UNOFFICIAL)
    names = [scorer.name for scorer in found.scorers]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", TASKS)
def test_scorers(name: str) -> None:
    """Each says where its definition is from, and has figures of a run that rules can name."""
    for scorer in workload(name).scorers:
        assert scorer.definition
        assert scorer.headlines
        headlines = [headline.name for headline in scorer.headlines]
        assert len(set(headlines)) == len(headlines)
        assert [one for one in headlines if not HEADLINES.fullmatch(one)] == []
        assert (scorer.ask is None) == (not scorer.judge), "who asks a judge names it"


@pytest.mark.parametrize("name", TASKS)
def test_a_line_is_documented(name: str) -> None:
    """The page of benchmarks has it, its scorers and its options as code."""
    page = PAGE.read_text(encoding="utf-8")
    found = workload(name)
    words = [name, *(scorer.name for scorer in found.scorers), *found.options]
    assert [
        word for word in words if not re.search(rf"`[^`\n]*(?<![\w-]){re.escape(word)}(?![\w-])", page)
    ] == []


def test_no_line() -> None:
    """A name that is near one is told it."""
    with pytest.raises(TaskError, match="gsm8: no task of this name; did you mean 'gsm8k'"):
        workload("gsm8")
