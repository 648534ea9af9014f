"""Every line of the catalog leads to a benchmark that says what it is and where its definition is from."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests import golden
from tests.for_each import for_each
from workloads.catalog import names, task_name, workload
from workloads.errors import TaskError

if TYPE_CHECKING:
    from workloads.workload import Workload

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


def section(result: Workload) -> str:
    """A benchmark as a section of the page."""
    source = result.source
    data = f"`{source.hub}`" if source.hub else "in the package" if source.packaged else ""
    facts = [
        f"Data: {', '.join(filter(None, (data, source.rows and f'{source.rows:,}', source.licence)))}",
        f"tier {result.tier}",
        *(f"needs the extra `{extra}`" for extra in (result.extra,) if extra),
    ]
    scorers = "; ".join(
        f"`{scorer.name}`{' (judge)' * (scorer.ask is not None)}{' (runs code)' * scorer.runs_code} by "
        f"{scorer.definition}"
        for scorer in result.scorers
    )
    checks = [f"*Checked*: {result.checked}."]
    if result.unverified:
        checks.append(f"*Not verified*: {result.unverified}.")
    title = f"{result.title[0].upper()}{result.title[1:]}. {'; '.join(facts)}."
    options = ", ".join(f"`{name}={value}`" for name, value in result.options.items())
    parts = [
        f"## `{result.name}`",
        title,
        result.about.strip(),
        f"Scorers: {scorers}.{f' Options: {options}.' * bool(options)} {' '.join(checks)}",
    ]
    return "\n\n".join(parts)


def test_the_page_has_every_benchmark() -> None:
    """The page has every benchmark with scorers and options; `make golden` writes the page."""
    own = [workload(name) for name in names()]
    assert [result.name for result in own if not (result.about and result.checked)] == []
    sections = "\n\n".join(map(section, own))
    golden.check_part(PAGE, "<!-- benchmarks -->\n", "<!-- /benchmarks -->", f"\n{sections}\n\n")


ELSEWHERE = (
    # The keys of OpenJarvis' evals, at 620f20cc.
    *("ama-bench", "browser_assistant", "coding_assistant", "coding_task", "daily_digest", "deepplanning"),
    *("deepresearch", "doc_qa", "email_triage", "frames", "gaia", "gpqa", "hle", "ipw", "knowledge_base"),
    *("lifelong-agent", "livecodebench", "liveresearch", "liveresearchbench", "loghub", "math500"),
    *("mmlu-pro", "morning_brief", "natural-reasoning", "paperarena", "pinchbench", "research_mining"),
    *("security_scanner", "simpleqa", "supergpqa", "swebench", "swefficiency", "taubench", "terminalbench"),
    *("toolcall15", "terminalbench-native", "terminalbench-v2.1", "webchorearena", "wildchat", "workarena"),
)


def test_benchmarks_known_elsewhere_are_tasks_or_documented() -> None:
    """Names other than tasks are in the tables of rules or of importers."""
    pages = "".join(
        (PAGE.parent / name).read_text(encoding="utf-8") for name in ("agent-rules.md", "import.md")
    )
    assert [name for name in ELSEWHERE if task_name(name) is None and f"`{name}`" not in pages] == []
    assert len(ELSEWHERE) == len(set(ELSEWHERE)) == 40


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
