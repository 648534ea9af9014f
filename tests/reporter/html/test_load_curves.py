"""The runs of series on chosen axes, and the page with the curves."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from reporter.render.html.load_curves import section
from reporter.render.html.page import Tables
from reporter.render.html.page_writer import write
from reporter.render.html.series_page import page_of
from reporter.render.series_overview import SeriesOverview
from reporter.render.table import Link
from reporter.run_row import Figures

if TYPE_CHECKING:
    from reporter.render.html.curve_values import LoadCurves

HOSTILE = "</script><b>x"


def row(axes: dict[str, Any], *, valid: bool = True, **figures: float) -> dict[str, Any]:
    """A run of a series with given figures."""
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


def series(rows: list[dict[str, Any]], results: list[str] | None = None, **more: Any) -> SeriesOverview:
    """A sweep of given runs."""
    return SeriesOverview("s", "sweep", "", rows, results or [""] * len(rows), **more)


def made(*overviews: SeriesOverview) -> LoadCurves:
    """The section of curves; fails without one."""
    curves = section(overviews)
    assert curves is not None
    return curves


ROWS = [
    row({"concurrency": 8}, output_tps=300.0, latency_p50_ms=90.0, error_rate=0.5, output_tps_margin=9.0),
    row({"concurrency": 1}, output_tps=50.0, latency_p50_ms=70.0, error_rate=0.0),
    row({"concurrency": 16}, valid=False, output_tps=310.0, latency_p50_ms=500.0),
]


def test_points_are_in_the_order_of_the_load_with_intervals_and_results() -> None:
    """Axes are figures of at least two runs; targets are bounds in the unit of the axis."""
    targets = ["latency:p(50)<100ms", "error<1%", "ttft:p(99)<1s", "no target"]
    curves = made(series(ROWS, ["pass", "missed", "invalid"], targets=targets))
    assert list(curves.axes) == ["concurrency", "output_tps", "latency_p50_ms", "error_rate"]
    assert curves.chosen == ("output_tps", "latency_p50_ms")
    assert [bound for _, _, bound, _ in curves.targets] == [100.0, 1.0]
    (curve,) = curves.curves
    assert [(point.label, point.result, point.is_valid) for point in curve.points] == [
        ("1", "missed", True),
        ("8", "meets its targets", True),
        ("16", "", False),
    ]
    assert curve.points[1].values == {
        "concurrency": (8, None, None),
        "output_tps": (300.0, 291.0, 309.0),
        "latency_p50_ms": (90.0, None, None),
        "error_rate": (50.0, None, None),
    }


def test_runs_that_differ_in_more_than_the_load_are_on_their_own_lines() -> None:
    """Lines are named after the difference, and of several series after the series."""
    rows = [
        row({"rate": rate, "max-tokens": tokens}, output_tps=rate * tokens, latency_p50_ms=1.0)
        for tokens in (64, 128)
        for rate in (1.0, 2.0)
    ]
    assert [curve.name for curve in made(series(rows)).curves] == ["max-tokens 64", "max-tokens 128"]
    both = made(series(ROWS), replace(series(ROWS), name=HOSTILE))
    assert [curve.name for curve in both.curves] == ["s", HOSTILE]
    assert section((series(rows[:1]),)) is None


def test_the_page_of_a_sweep_says_what_was_run_and_leads_to_its_runs() -> None:
    """Model, endpoint, load and date are below the title; a row of the table links to the run's report."""
    lines = ("llama at http://127.0.0.1:8000/v1", "concurrency 1, 8, 16", "2026-01-01 10:00 UTC")
    notes = ("concurrency-16: a < 20 ms; lower --rate",)
    links = {"concurrency-8": "/run/sweep/02-concurrency-8"}
    shown = series(ROWS, ["", "", "invalid"], notes=notes, lines=lines, links=links)
    page = page_of(replace(shown, name=HOSTILE, status="INVALID"))
    assert page.lines == (*lines[:-1], f"3 runs, {lines[-1]}")
    assert page.answer == notes[0]
    (runs,) = (section for section in page.sections if isinstance(section, Tables))
    assert runs.tables[0].rows[0][0] == Link("concurrency-8", "/run/sweep/02-concurrency-8")
    assert runs.tables[0].rows[1][0] == "concurrency-1"
    html = write(page)
    assert '<a href="/run/sweep/02-concurrency-8">concurrency-8</a>' in html
    assert "<b>x" not in html
    assert '<span class="whole">&lt; 20 ms</span>' in html
    assert 'lower <span class="whole">--rate</span>' in html
