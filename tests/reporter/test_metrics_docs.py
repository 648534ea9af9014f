"""docs/metrics.md and docs/findings.md leave nothing out."""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass
from pathlib import Path

from loadgen.sessions.vocabulary import finding_rows, findings
from reporter import report
from rulesets.definitions import PERCENTILES
from tests import golden
from tests.for_each import for_each

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
METRICS = (DOCS / "metrics.md").read_text("utf-8")
FINDINGS = (DOCS / "findings.md").read_text("utf-8")
PARTS = METRICS + FINDINGS


@for_each("field", [field.name for field in fields(report.Report)])
def test_every_key_of_the_report_is_documented(field: str) -> None:
    """Each key of report.json is on one of the pages, by itself or with its parts."""
    assert re.search(rf"`{field}[`.]", PARTS)


@for_each("part", ["counts", "window", "throughput", "tokens", "validity"])
def test_every_part_of_a_key_is_documented(part: str) -> None:
    """What is inside a key is documented as `key.part`."""
    kind = {"counts": report.RequestCounts, "throughput": report.ThroughputFigures}.get(part) or getattr(
        report, part.capitalize()
    )
    assert is_dataclass(kind)
    missing = [field.name for field in fields(kind) if f"`{part}.{field.name}`" not in PARTS]
    assert missing == []


def test_every_statistic_is_documented() -> None:
    """The page lists what a summary has."""
    names = [field.name for field in fields(report.Summary)]
    assert f"`{{{', '.join(names)}}}`" in METRICS
    assert set(PERCENTILES) < set(names)


def test_the_page_has_the_table_of_findings() -> None:
    """The page has the table of findings; `make golden` writes the table."""
    rows = (
        f"| {', '.join(f'`{code}`' for code in row['codes'])} | {row['severity']} | {row['when']} |\n"
        for row in finding_rows()
    )
    table = f"\n| code | severity | when |\n|---|---|---|\n{''.join(rows)}\n"
    golden.check_part(DOCS / "findings.md", "<!-- findings -->\n", "<!-- /findings -->", table)


def test_every_finding_is_listed() -> None:
    """Each code of the reporter and of the load generator is in the table of findings, and no other."""
    rooms = ("reporter", "rulesets", "loadgen/driver", "loadgen/sessions")
    sources = "".join(file.read_text() for room in rooms for file in (ROOT / room).rglob("*.py"))
    codes = re.findall(r'(?:Finding\(\s*|"code": )"([a-z_]+)"', sources)
    broken = re.findall(r"THEN '(\w+)'", (ROOT / "reporter" / "sql" / "violations.sql").read_text())
    assert len(codes) >= 30
    assert len(broken) == 6
    assert set(codes + broken) - set(findings()) == set()
    everything = sources + "".join(file.read_text() for file in (ROOT / "loadgen" / "plugins").rglob("*.py"))
    assert [code for code in findings() if code not in broken and f'"{code}"' not in everything] == []
