"""Which span of a run throughput is counted over."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reporter.log.window import TIMER_NS, Timeline, window
from reporter.report import Window

SECOND = 1_000_000_000

RUN = Timeline(
    ended="completed",
    started_ns=100 * SECOND,
    duration_s=None,
    stopped_ns=104 * SECOND,
    first_issue_ns=101 * SECOND,
    last_completion_ns=105 * SECOND,
    last_end_ns=107 * SECOND,
    last_event_ns=108 * SECOND,
)


def test_without_a_duration_the_window_is_that_of_the_requests() -> None:
    """A run with a number of requests is counted from the first issue to the last completion."""
    assert window(RUN) == Window("requests", 4.0, 101 * SECOND, 105 * SECOND)


def test_where_nothing_completed_the_last_failure_ends_the_window() -> None:
    """Failures alone still took a time, in which nothing completed."""
    assert window(replace(RUN, last_completion_ns=None)) == Window(
        "requests", 6.0, 101 * SECOND, 107 * SECOND
    )


def test_a_duration_lasts_the_time_it_says() -> None:
    """However late the phase was stopped, and whatever completes after it, the window is the duration."""
    run = replace(RUN, duration_s=3.5, stopped_ns=104 * SECOND)
    assert window(run) == Window("duration", 3.5, 100 * SECOND, 103 * SECOND + SECOND // 2)


def test_a_timer_may_go_off_a_little_early() -> None:
    """A phase that was stopped within a timer's tolerance of its duration had its duration."""
    run = replace(RUN, duration_s=4.0, stopped_ns=104 * SECOND - TIMER_NS)
    assert window(run) == Window("duration", 4.0, 100 * SECOND, 104 * SECOND)


@pytest.mark.parametrize("ended", ["interrupted", "worker_lost"])
def test_an_early_end_shortens_the_duration(ended: str) -> None:
    """What is issued no more does not count as time."""
    run = replace(RUN, ended=ended, duration_s=60.0)
    assert window(run) == Window("duration", 4.0, 100 * SECOND, 104 * SECOND)


@pytest.mark.parametrize("ended", ["overloaded", "gate_lost"])
@pytest.mark.parametrize("duration_s", [None, 60.0])
def test_what_gives_up_requests_ends_the_window_with_the_issuing(
    ended: str, duration_s: float | None
) -> None:
    """Whether the run had a duration or not: what was given up afterwards took no time that counts."""
    run = replace(RUN, ended=ended, duration_s=duration_s)
    assert window(run) == Window("duration", 4.0, 100 * SECOND, 104 * SECOND)


def test_requests_that_run_out_before_the_duration_decide() -> None:
    """A run that had no requests left is counted as one with a number of requests."""
    assert window(replace(RUN, duration_s=60.0)) == window(RUN)


@pytest.mark.parametrize(("duration_s", "end_s"), [(None, 108), (60.0, 108), (5.0, 105)])
def test_a_run_that_was_cut_off_ends_with_its_log(duration_s: float | None, end_s: int) -> None:
    """A log without an end is counted to its last event, but never beyond the duration."""
    run = replace(RUN, ended="cut_off", duration_s=duration_s, stopped_ns=None)
    assert window(run) == Window("cut_off", float(end_s - 101), 101 * SECOND, end_s * SECOND)


@pytest.mark.parametrize(
    ("ended", "duration_s", "kind"),
    [("completed", None, "requests"), ("completed", 4.0, "duration"), ("cut_off", 4.0, "cut_off")],
)
def test_nothing_issued_has_no_window(ended: str, duration_s: float | None, kind: Any) -> None:
    """Without a request there is nothing to count, nor a time to count it over."""
    run = replace(
        RUN,
        ended=ended,
        duration_s=duration_s,
        first_issue_ns=None,
        last_completion_ns=None,
        last_end_ns=None,
    )
    assert window(run) == Window(kind, None, None, None)
