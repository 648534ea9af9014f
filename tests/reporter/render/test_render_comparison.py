"""Comparisons as people read them, compared with golden files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from reporter.compare.comparable import Mismatch
from reporter.compare.comparison import Cell, Comparison, ComparisonRow, MetricChange, Rules, SideSummary
from reporter.render import comparison_files
from reporter.render.comparison_tables import render

if TYPE_CHECKING:
    from collections.abc import Callable

HOSTILE = "runs/\x1b[31m|new|\n[x](http://e.vil) @who"


def cell(value: float, low: float | None = None, high: float | None = None, n: int = 500) -> Cell:
    """The figure of one run."""
    return Cell(value, low, high, n, None, (value,))


PAIR = Comparison(
    status="FAIL",
    reasons=("ttft:p(99) of runs/new is worse",),
    test="within_runs",
    rules=Rules(),
    sides=(SideSummary("runs/old", ("runs/old",)), SideSummary("runs/new", ("runs/new",))),
    rows=(
        ComparisonRow(
            *("output_tps", "tok/s", "higher", True, False),
            (cell(12_345.6, 12_101.2, 12_590.0), cell(12_101.5, 11_800.4, 12_402.6)),
            (
                MetricChange(
                    *("runs/new", "worse", -0.0198, -0.0371, -0.0022),
                    p=0.0071,
                    adjusted_p=0.0284,
                    detectable=0.0241,
                ),
            ),
        ),
        ComparisonRow(
            *("ttft:p(99)", "ms", "lower", True, False),
            (cell(182.4, 171.9, 204.4), cell(231.05, 219.8, None)),
            (
                MetricChange(
                    *("runs/new", "worse", 0.2667, 0.112, None, 0.0000213, 0.0000852),
                    detectable=0.17,
                    fails=True,
                ),
            ),
        ),
        ComparisonRow(
            *("latency:p(99)", "ms", "lower", True, False),
            (cell(2051.0, 1990.0, 2177.3), None),
            (MetricChange("runs/new", "not tested"),),
        ),
        ComparisonRow(
            *("error", "", "lower", True, True),
            (cell(0.0, 0.0, 0.00762), cell(0.004, 0.0011, 0.01445)),
            (
                MetricChange(
                    "runs/new", "no significant difference", 0.004, -0.0041, 0.0145, 0.2513, 0.2513, 0.0131
                ),
            ),
        ),
        ComparisonRow(
            *("tpot:p(50)", "ms", "lower", False, False),
            (cell(11.25, 11.2, 11.31), cell(10.9, 10.85, 10.97)),
            (MetricChange("runs/new", "better", -0.0311, -0.0384, -0.0236, 0.0, 0.0, 0.0102),),
        ),
        ComparisonRow(
            *("output_tokens:mean", "tokens", "neither", False, False),
            (cell(128.0, 127.1, 128.9), cell(119.4, 118.2, 120.6)),
            (MetricChange("runs/new", "different", -0.0672, -0.0785, -0.0558, 0.0, 0.0, 0.0161),),
        ),
    ),
    unlike=(
        Mismatch("validity", "invalid", "runs/new", "the client was the limit"),
        Mismatch("settings", "load.concurrency", "runs/new", 8, "runs/old", 16),
        Mismatch("settings", "max_tokens", "runs/new", None, "runs/old", 64),
    ),
    notes=(
        "one run a side: this cannot see how runs differ from each other",
        "p is adjusted for 3 tests (Holm)",
    ),
)


def with_third(pair: Comparison) -> Comparison:
    """The same with a third side, of three runs."""
    rows = tuple(
        replace(
            row,
            figures=(*row.figures, row.figures[0]),
            changes=(*row.changes, replace(row.changes[0], side="C")),
        )
        for row in pair.rows
    )
    return replace(pair, sides=(*pair.sides, SideSummary("runs/third", ("1", "2", "3"))), rows=rows)


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_pair_as_tables(width: int, golden: Callable[[str, str], None]) -> None:
    """What decides and what does not; on a narrow page the interval stays longest but for the finding."""
    golden(f"comparison.{width}.txt", render(PAIR, width=width))


def test_three_sides_as_tables(golden: Callable[[str, str], None]) -> None:
    """All figures next to each other, then each side against the first."""
    golden("comparison_three.txt", render(with_third(PAIR)))


def test_color_says_what_fails(golden: Callable[[str, str], None]) -> None:
    """Red is what fails, yellow what is worse and does not."""
    golden("comparison.color.txt", render(PAIR, color=True))


def test_as_markdown(golden: Callable[[str, str], None]) -> None:
    """For a comment; names of runs are nothing but text in it."""
    sides = (PAIR.sides[0], SideSummary(HOSTILE, (HOSTILE,)))
    golden("comparison.md", comparison_files.render_markdown(replace(PAIR, sides=sides)))


def test_no_name_steers_a_terminal() -> None:
    """Escapes are shown, not obeyed."""
    unlike = (Mismatch("settings", HOSTILE, HOSTILE, HOSTILE, HOSTILE, HOSTILE),)
    page = render(
        replace(PAIR, sides=(PAIR.sides[0], SideSummary(HOSTILE, ())), unlike=unlike, reasons=(HOSTILE,))
    )
    assert "\x1b" not in page
    assert "\\x1b" in page


def test_what_passes_says_that_nothing_differs() -> None:
    """And what was not tested is not called the same."""
    calm = tuple(
        replace(row, changes=(replace(row.changes[0], finding="no significant difference", fails=False),))
        for row in PAIR.rows
    )
    assert "PASS   no significant difference" in render(replace(PAIR, status="PASS", reasons=(), rows=calm))
    untested = tuple(replace(row, changes=(MetricChange("B", "not tested"),)) for row in PAIR.rows)
    assert "INCONCLUSIVE   nothing tested" in render(replace(PAIR, status="INCONCLUSIVE", rows=untested))


def test_a_share_changes_by_a_hundred_points_at_most() -> None:
    """Neither interval nor detectable change of a share is beyond what is possible."""
    change = MetricChange("new", "not tested", 0.01, -5.5, 5.5, 0.9, 0.9, detectable=5.5)
    row = ComparisonRow(
        *("error:rate", "", "lower", True, True), figures=(cell(0.1), cell(0.11)), changes=(change,)
    )
    comparison = replace(PAIR, rows=(row,))
    for page in (render(comparison, width=140), comparison_files.render_markdown(comparison)):
        assert "-100, +100" in page
        assert "over 100 pt" in page
        assert "550" not in page


@pytest.mark.parametrize("width", range(40, 141, 10))
def test_the_page_is_as_wide_as_it_may_be(width: int) -> None:
    """No line is wider, but where the figures themselves are."""
    lines = render(PAIR, width=width).splitlines()
    assert max(map(len, lines)) <= max(width, 60)


@pytest.mark.slow
def test_the_plot_is_the_same_for_the_same_comparison() -> None:
    """With a mark for each difference, and a line where there is an interval."""
    from reporter.render.comparison_figure import render_svg as draw

    drawn = [draw(PAIR), draw(PAIR)]
    assert drawn[0] == drawn[1]
    assert ET.fromstring(drawn[0]).tag.endswith("svg")  # noqa: S314 (we drew it)
    assert drawn[0].count(">ttft:p(99)<") == 1
