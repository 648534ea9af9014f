"""docs/benchmark-table.md has a row for every benchmark of the catalog, and for those known elsewhere."""

from __future__ import annotations

import re
from typing import Final

from tests.conftest import ROOT
from workloads.catalog import names, task_name

ROW: Final = re.compile(r"^\| (?!benchmark|format|---)([^|]+)\|(.*)\|$", re.MULTILINE)
NAME: Final = re.compile(r"`([\w.-]+)`")
LINK: Final = re.compile(r"\(([\w-]+\.md)#([\w-]+)\)")

ELSEWHERE: Final = (
    # The keys of OpenJarvis' evals, at 620f20cc.
    *("ama-bench", "browser_assistant", "coding_assistant", "coding_task", "daily_digest", "deepplanning"),
    *("deepresearch", "doc_qa", "email_triage", "frames", "gaia", "gpqa", "hle", "ipw", "knowledge_base"),
    *(
        "lifelong-agent",
        "livecodebench",
        "liveresearch",
        "liveresearchbench",
        "loghub",
        "math500",
        "mmlu-pro",
    ),
    *(
        "morning_brief",
        "natural-reasoning",
        "paperarena",
        "pinchbench",
        "research_mining",
        "security_scanner",
    ),
    *("simpleqa", "supergpqa", "swebench", "swefficiency", "taubench", "terminalbench", "toolcall15"),
    *("terminalbench-native", "terminalbench-v2.1", "webchorearena", "wildchat", "workarena"),
)


def rows() -> dict[str, str]:
    """The rest of each row by the names in its first cell."""
    page = (ROOT / "docs" / "benchmark-table.md").read_text(encoding="utf-8")
    return {name: rest for first, rest in ROW.findall(page) for name in NAME.findall(first)}


def test_every_benchmark_has_a_row() -> None:
    """And no row names a benchmark in the words of a link that is not there."""
    named = rows()
    assert set(names()) - set(named) == set()
    assert {name for name in ELSEWHERE if task_name(name) is None and name not in named} == set()
    assert {task_name(name) or name for name in ELSEWHERE} <= set(named)
    assert len(ELSEWHERE) == len(set(ELSEWHERE)) == 40


def test_rows_are_complete_and_their_links_lead_somewhere() -> None:
    """A row has data or rule, how it was checked, and a heading in the page that it links to."""
    page = (ROOT / "docs" / "benchmark-table.md").read_text(encoding="utf-8")
    for first, rest in ROW.findall(page):
        cells = [cell.strip() for cell in rest.split("|")]
        assert cells[0], first
        for file, anchor in LINK.findall(first):
            headings = re.findall(
                r"^#+ (.+)$", (ROOT / "docs" / file).read_text(encoding="utf-8"), re.MULTILINE
            )
            anchors = {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}
            assert anchor in anchors, first
