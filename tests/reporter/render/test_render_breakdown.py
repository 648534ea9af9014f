"""The tables of a report's parts."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from reporter.render import breakdown_tables, console
from reporter.report import Estimate, Moment, PartReport, Report, SteadyState

if TYPE_CHECKING:
    from collections.abc import Callable

    MakeReport = Callable[..., Report]
    Golden = Callable[[str, str], None]


@pytest.fixture
def broken_down(a_report: MakeReport) -> Report:
    """A report with parts of two kinds, moments, and a steady state."""
    of = a_report(100)
    assert of.latency_ms is not None
    times: dict[str, Any] = {
        "ttft_ms": of.ttft_ms,
        "tpot_ms": of.tpot_ms,
        "latency_ms": of.latency_ms,
        "latency_from_schedule_ms": None,
    }
    long = PartReport("long\x1b[31m", 1, 1100, 1000, 90, 10, 0.082, 60.0, 16.67, 2133.3, **times)
    none = PartReport(None, 1, 3, 0, 3, 0, 1.0, 60.0, 0.0, None, **dict.fromkeys(times))
    rest = replace(long, value=None, values=12, failed=0)
    moment = Moment(
        1, -0.5, 0.5, 12, 12, 10, 0, 0, 7, 24.0, 20.0, 1280.5, 12, 52.0, 51.5, 61.0, 1070.0, 1068.2, 1300.0
    )
    later = replace(moment, start_s=0.0, failed=2, answered=0, latency_p50_ms=None, latency_p99_ms=None)
    steady = SteadyState(
        found=True,
        start_s=3.0,
        end_s=60.0,
        blocks=19,
        latency_ms=Estimate(1068.04, 12.31),
        qps=Estimate(123.87, 0.52),
    )
    return a_report(
        breakdown={"class": [long, none, rest], "endpoint": [replace(long, value="http://a")]},
        over_time=[moment, later],
        steady_state=steady,
    )


def test_tables_stand_after_the_report(broken_down: Report, golden: Golden) -> None:
    """One for each that was asked for, in that order."""
    page = console.render(broken_down, by=("time", "class"))
    assert page.startswith(console.render(broken_down)[:500])
    golden("breakdown.txt", page)
    golden("breakdown.60.txt", console.render(broken_down, by=("class",), width=60, summary_only=True))


def test_nothing_is_broken_down_unasked(broken_down: Report) -> None:
    """The tables are there for who wants them."""
    assert "http://a" not in console.render(broken_down)


def test_the_names(broken_down: Report, a_report: MakeReport) -> None:
    """What there is, and the time where it is known."""
    assert breakdown_tables.names(broken_down) == ["class", "endpoint", "time"]
    assert breakdown_tables.names(a_report()) == []


def test_segments_are_numbered(broken_down: Report) -> None:
    """Where there are several, each moment says which one it is in."""
    second = replace(broken_down.over_time[1], segment=2)
    page = console.render(replace(broken_down, over_time=[broken_down.over_time[0], second]), by=("time",))
    assert "\n1: -0.5" in page
    assert "\n2: 0.0" in page
