"""What the interval of a change leaves open: only a large change for the worse is a reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reporter.compare.compare_sides import shortcomings
from reporter.compare.comparison import Cell, ComparisonRow, MetricChange, Rules

if TYPE_CHECKING:
    from rulesets.quantity import Better

CELL = Cell(100.0, 90.0, 110.0, 50, None, (100.0,))


def reasons(
    better: Better,
    low: float | None,
    high: float | None,
    detectable: float | None = 5.0,
    *,
    points: bool = False,
) -> list[str]:
    """The reasons of a metric whose change has that interval."""
    change = MetricChange("B", "no significant difference", 0.0, low, high, 0.5, 0.5, detectable)
    row = ComparisonRow(
        "m", "", better, decides=True, in_points=points, figures=(CELL, CELL), changes=(change,)
    )
    return list(shortcomings(row, Rules(), by_runs=False))


@pytest.mark.parametrize(
    ("better", "low", "high", "is_open"),
    [
        ("lower", -0.99, 0.5, False),
        ("lower", -0.99, -0.01, False),
        ("lower", -0.1, 0.95, True),
        ("higher", -0.4, 9.0, False),
        ("higher", 0.01, 9.0, False),
        ("higher", -0.6, 0.1, True),
        ("neither", -0.6, 0.1, True),
        ("neither", -0.1, 0.95, True),
        ("neither", -0.4, 0.8, False),
    ],
)
def test_only_the_worse_end_counts(better: Better, low: float, high: float, is_open: bool) -> None:  # noqa: FBT001 (a row of the table)
    """90 % more of a latency, or a rate that is 1.9 times smaller, must be excluded."""
    assert bool(reasons(better, low, high)) == is_open


def test_the_reason_has_the_end_and_the_number_of_requests() -> None:
    """The distance to the end shrinks with the root of the number: log 3.61 is twice log 1.9."""
    assert reasons("lower", -0.1, 2.61) == [
        (
            "m of B: a change of +261 % is not excluded; "
            "take about 201 requests a side, or leave it out (--metric)"
        )
    ]
    assert reasons("higher", -0.4, 0.1, points=True) == [
        (
            "m of B: a change of -40 points is not excluded; "
            "take about 89 requests a side, or leave it out (--metric)"
        )
    ]


def test_an_interval_without_an_end() -> None:
    """Anything is open, but where the change that would be found is small all the same."""
    assert reasons("lower", -0.1, None) == [
        "m of B: a change of any size is not excluded; take more requests a side, or leave it out (--metric)"
    ]
    assert reasons("lower", None, 0.1) == []
    assert reasons("higher", None, None, detectable=0.0, points=True) == []


def test_a_share_changes_by_a_hundred_points_at_most() -> None:
    """An interval of few requests may reach beyond what a share can do; the reason does not."""
    (reason,) = reasons("lower", -0.1, 5.5, points=True)
    assert reason.startswith("m of B: a change of any size is not excluded; take about ")
