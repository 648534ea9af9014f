"""Findings, stages, windows and costs have the queries of their figures."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reporter import MetricsReporter, statements
from reporter.contents import finding_statements
from reporter.contents.run_contents import run_contents
from reporter.log.query import queries, query
from reporter.measured_run import measured
from reporter.render.html.run_page import page_of
from reporter.report import Finding
from rulesets.definitions import Definitions

if TYPE_CHECKING:
    from collections.abc import Callable

PAGE = (Path(__file__).parents[3] / "docs" / "findings.md").read_text()
CODES = re.findall(
    r"`(\w+)`", " ".join(re.findall(r"^\| (`.+?) \| (?:error|warning|info)", PAGE, re.MULTILINE))
)

STEPS = {"kind": "poisson", "profile": "steps:10..30x3,1.2s"}


@pytest.fixture(scope="module")
def stepped(a_run: Callable[..., Any]) -> Path:
    """Sixty requests in three steps of 400 ms; every tenth fails."""
    run = a_run(**STEPS).begins()
    for number in range(60):
        at_ms = 20 * number
        if number % 10 == 9:
            run.fails("http_503", at_ms=at_ms, failed=at_ms + 5, message="busy")
        else:
            run.answers(*(at_ms + 10 + 7 * chunk for chunk in range(5)), at_ms=at_ms, usage=(7, 5))
    return run.stops(1200).ends(1400).write()  # type: ignore[no-any-return]


@pytest.mark.slow
def test_every_finding_has_queries_that_answer(stepped: Path) -> None:
    """For each code of docs/findings.md; those of the load generator share a view."""
    assert len(CODES) > 60
    with MetricsReporter(stepped) as reporter:
        report = reporter.create_report()
    of_codes = {code: finding_statements.of_finding(Finding(code, "warning", ""), report) for code in CODES}
    distinct = sorted({sql for named in of_codes.values() for _, sql in named})
    assert "" not in distinct
    assert [answer.columns for answer in queries(stepped, distinct) if not answer.columns] == []
    (many,) = [finding for finding in report.findings if finding.code == "many_failures"]
    ((_, sql),) = finding_statements.of_finding(many, report)
    assert query(stepped, sql).rows == [("http_503", "busy", 6)]


def test_stages_and_windows_are_in_their_queries(stepped: Path) -> None:
    """Rates over the time of each stage, and over another window than the run's own."""
    definitions = Definitions(throughput_window="last_issued_done", tpot_end="complete")
    with measured(stepped, definitions) as (report, evidence):
        page = page_of(report, run_contents(report, evidence))
        stages = run_contents(report, evidence).stages
    defined = "SET VARIABLE tpot_end = 'complete';\n"
    assert (
        statements.variables(report)
        == f"{defined}-- Rates are over the window last_issued_done, which the log has.\n"
    )
    variables = page.variables
    assert variables.startswith(f"{defined}CREATE OR REPLACE TEMP TABLE windows AS")
    whole, tpot, parts, own = queries(
        stepped,
        [
            variables + statements.rates_of(report),
            variables + statements.latencies(report, [("tpot_ms", "TPOT")]),
            variables + stages,
            "SELECT kind, start_ns, end_ns FROM measured_window",
        ],
    )
    window = report.window
    assert own.rows == [(window.kind, window.start_ns, window.end_ns)]
    assert report.tpot_ms is not None
    assert whole.rows[0][:2] == pytest.approx((report.throughput.qps, report.throughput.output_tps))
    assert tpot.rows[0][2] == pytest.approx(report.tpot_ms.mean)
    rows = {row[0]: dict(zip(parts.columns, row, strict=True)) for row in parts.rows}
    assert len(rows) == 3
    for part in report.breakdown["stage"]:
        assert part.value is not None
        row = rows[part.value]
        assert part.ttft_ms is not None
        assert (row["issued"], row["failed"], row["ttft_p99_ms"]) == (
            *(part.issued, part.failed),
            pytest.approx(part.ttft_ms.p99),
        )
        assert (row["requests_per_s"], row["output_tokens_per_s"]) == pytest.approx(
            (part.qps, part.output_tps)
        )
