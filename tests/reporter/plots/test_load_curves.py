"""The runs of a series against their load, and the page that shows them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from reporter.plots.load_curves import load_curves
from reporter.plots.plot_value import NoPlot, Plot
from reporter.render.html.page import Tables
from reporter.render.html.page_writer import write
from reporter.render.html.series_page import page_of
from reporter.render.series_overview import SeriesOverview
from reporter.render.table import Link
from reporter.run_row import Figures


def row(axes: dict[str, Any], *, valid: bool = True, **figures: float) -> dict[str, Any]:
    """A run of a series, with these figures."""
    none: dict[str, Any] = dict.fromkeys(Figures.__dataclass_fields__)
    name = "-".join(f"{axis}-{value}" for axis, value in axes.items())
    of_run = {
        "name": name,
        "folder": name,
        "axes": axes,
        "valid": valid,
        "accepted": False,
        "scores": [],
        "warnings": [],
    }
    return of_run | asdict(Figures(**none | figures))


ROWS = [
    row(
        {"concurrency": 8}, output_tps=300.0, latency_p50_ms=90.0, latency_p99_ms=200.0, output_tps_margin=9.0
    ),
    row({"concurrency": 1}, output_tps=50.0, latency_p50_ms=70.0, latency_p99_ms=80.0),
    row({"concurrency": 16}, valid=False, output_tps=310.0, latency_p50_ms=500.0, latency_p99_ms=800.0),
]


def test_points_are_joined_in_the_order_of_the_load_and_labeled() -> None:
    """Throughput by load with its interval, latency by throughput; a run that is not valid is marked."""
    throughput, latency, ttft, _ = load_curves(ROWS)
    assert isinstance(throughput, Plot)
    assert isinstance(latency, Plot)
    line, invalid = throughput.series
    assert (line.kind, line.x, line.y) == ("line", (1, 8, 16), (50.0, 300.0, 310.0))
    assert (line.low, line.labels) == ((50.0, 291.0, 310.0), ("1", "8", "16"))
    assert (invalid.name, invalid.x, invalid.y) == ("invalid", (16,), (310.0,))
    assert [(series.name, series.x) for series in latency.series if series.kind == "line"] == [
        ("p50", (50.0, 300.0, 310.0)),
        ("p99", (50.0, 300.0, 310.0)),
    ]
    assert isinstance(ttft, NoPlot)


def test_runs_that_differ_in_more_than_the_load_are_on_lines_of_their_own() -> None:
    """Lines are named after the difference; a load that does not vary gives no plot."""
    rows = [
        row({"rate": rate, "max-tokens": tokens}, output_tps=rate * tokens)
        for tokens in (64, 128)
        for rate in (1.0, 2.0)
    ]
    throughput = load_curves(rows)[0]
    assert isinstance(throughput, Plot)
    assert [(series.name, series.y) for series in throughput.series] == [
        ("max-tokens 64", (64.0, 128.0)),
        ("max-tokens 128", (128.0, 256.0)),
    ]
    assert load_curves(rows[:1]) == load_curves([row({"model": "a"}), row({"model": "b"})]) == ()


def test_the_page_of_a_sweep_says_what_was_run_and_leads_to_its_runs() -> None:
    """Model, endpoint, load and date below the title; a row of the table links to the report of its run."""
    lines = ("llama at http://127.0.0.1:8000/v1", "concurrency 1, 8, 16", "2026-01-01 10:00 UTC")
    notes = ("concurrency-16: invalid",)
    links = {"concurrency-8": "/run/sweep/02-concurrency-8"}
    series = SeriesOverview("s", "sweep", "INVALID", ROWS, ["", "", "invalid"], (), notes, (), lines, links)
    page = page_of(series)
    assert page.lines == (*lines, "3 runs")
    assert page.answer == notes[0]
    (runs,) = (section for section in page.sections if isinstance(section, Tables))
    assert runs.tables[0].rows[0][0] == Link("concurrency-8", "/run/sweep/02-concurrency-8")
    assert runs.tables[0].rows[1][0] == "concurrency-1"
    html = write(page)
    assert '<a href="/run/sweep/02-concurrency-8">concurrency-8</a>' in html
    assert "Throughput against concurrency" in html
