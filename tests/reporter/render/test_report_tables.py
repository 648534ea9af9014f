"""Reports and comparisons as Markdown and CSV."""

from __future__ import annotations

import csv
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.sessions.formats import format_called, formats_of, render
from reporter.render.csv_text import as_csv, no_formula

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.report import Report

HOSTILE = "=HYPERLINK(1)|<script>[a](b)"


@pytest.fixture(scope="module")
def report(a_run: Callable[..., Any]) -> Report:
    """Two classes of requests, one with a hostile name, and a failure."""
    run = a_run()
    for number in range(20):
        run.answers(
            *(20 * number + 10 + 5 * chunk for chunk in range(4)),
            at_ms=20 * number,
            usage=(7, 4),
            issue={"about": {"tags": {"class": (HOSTILE, "chat")[number % 2]}}},
        )
    run.fails(HOSTILE, at_ms=300, failed=310)
    return run.stops(400).ends(500).report()  # type: ignore[no-any-return]


def test_the_same_formats_everywhere() -> None:
    """Of reports, comparisons and series; Markdown by both of its names."""
    for subject in ("report", "comparison", "series"):
        assert {"html", "md", "csv"} <= set(formats_of(subject))  # type: ignore[arg-type]
    assert [format_called(name) for name in ("markdown", "md", "html")] == ["md", "md", "html"]


def test_a_csv_has_every_figure(report: Report) -> None:
    """A row each, of the run and of its parts; no text is a formula."""
    rows = list(csv.DictReader(StringIO(render("report", "csv", report))))
    figures = {(row["part"], row["metric"], row["statistic"]): row["value"] for row in rows}
    assert len(figures) == len(rows)
    assert report.ttft_ms is not None
    assert float(figures["", "ttft", "p99"]) == pytest.approx(report.ttft_ms.p99, abs=1e-6)
    assert float(figures["", "qps", "value"]) == pytest.approx(report.throughput.qps, abs=1e-6)
    assert figures["class=chat", "requests", "issued"] == "10"
    assert figures["", "errors", f"'{HOSTILE}"] == "1"
    assert {row["unit"] for row in rows if row["metric"] == "ttft" and row["statistic"] != "count"} == {"ms"}


def test_markdown_has_what_the_page_has(report: Report) -> None:
    """Its tables and findings; whatever a server or a user wrote is text."""
    text = render("report", "md", report)
    assert text.startswith("### ")
    for part in ("req/s", "**Latencies**", "| TTFT |", "**Parts of the run**", "**Client overhead**"):
        assert part in text, part
    assert "<script>" not in text
    assert "&#60;script&#62;" in text
    headings = [line for line in text.splitlines() if line.startswith("|") and set(line) <= set("|-: ")]
    assert len(headings) >= 2
    assert len(render("report", "md", report, most_bytes=500).encode()) <= 500


def test_numbers_stay_numbers() -> None:
    """Also negative ones; texts that begin as a formula get an apostrophe."""
    assert as_csv([{"a": -1.5, "b": "-1"}, {"c": "@x", "a": True}]) == "a,b,c\r\n-1.5,-1,\r\ntrue,,'@x\r\n"
    assert no_formula("=1") == "'=1"
