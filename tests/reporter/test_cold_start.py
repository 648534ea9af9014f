"""First requests that met a server that was not ready, and all the beginnings that are ordinary."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reporter.findings.cold_start import (
    FEWEST,
    MOST_TOGETHER,
    First,
    Usual,
    cold_requests,
    cold_start,
    first_turns,
)
from reporter.log.database import open_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.reporter.conftest import Run

COLD_MS = 60_000.0
"""Longer than any queue of these servers."""


def usual(later: Sequence[float]) -> Usual:
    """The TTFT of later requests."""
    values = sorted(later)
    percentiles = {f"p{p}": values[min(len(values) - 1, len(values) * p // 100)] for p in (50, 95, 99)}
    return Usual(len(values), percentiles["p50"], percentiles["p95"], percentiles["p99"])


def cold(requests: Sequence[First]) -> int:
    """What is found of a run: its first half is looked at, its second half is what is usual."""
    half = len(requests) // 2
    return cold_requests(requests[:half], usual([each.ttft_ms for each in requests[half:]]))


def served(
    arrivals: Sequence[float], prefills: Sequence[float], slots: int, ready_ms: float = 0.0
) -> list[First]:
    """A server with slots that takes requests in their order, a prefill each, once it is ready."""
    free = [ready_ms] * slots
    heapq.heapify(free)
    requests = []
    for arrival, prefill in zip(arrivals, prefills, strict=True):
        first_token = max(arrival, heapq.heappop(free)) + prefill
        heapq.heappush(free, first_token)
        requests.append(First(arrival, first_token - arrival))
    return requests


prefills = st.lists(st.floats(20.0, 60.0), min_size=2 * FEWEST, max_size=200)
gaps = st.floats(0.0, 200.0)


@given(prefills, gaps, st.integers(1, 64), st.integers(1, 200))
def test_a_queue_is_not_a_cold_start(prefills: list[float], gap: float, slots: int, together: int) -> None:
    """However many come at once or too quickly: the first of a queue is answered as fast as any."""
    arrivals = [max(0, number - together) * gap for number in range(len(prefills))]
    assert cold(served(arrivals, prefills, slots)) == 0


@given(prefills, st.integers(1, 64))
def test_a_closed_loop_is_not_a_cold_start(prefills: list[float], users: int) -> None:
    """All users begin at once, and continue one by one."""
    free, ready = [0.0] * users, 0.0
    requests = []
    for prefill in prefills:
        arrival = heapq.heappop(free)
        ready = max(ready, arrival) + prefill
        requests.append(First(arrival, ready - arrival))
        heapq.heappush(free, ready + 10 * prefill)
    assert cold(requests) == 0


@given(st.integers(1, MOST_TOGETHER), st.floats(1.0, 100.0), st.floats(1.0, 100.0))
def test_a_first_batch_is_not_a_cold_start(users: int, fixed_ms: float, each_ms: float) -> None:
    """A server that prefills simultaneous requests in one batch answers none of them earlier."""
    first = [First(0.0, fixed_ms + users * each_ms)] * users
    assert cold([*first, *(First(1000.0 * n, fixed_ms + each_ms) for n in range(1, 200))]) == 0


@given(prefills, gaps, st.integers(1, 64), st.integers(1, 8))
def test_a_server_that_is_not_ready_is_found(
    prefills: list[float], gap: float, slots: int, together: int
) -> None:
    """Whatever its queue is afterwards, as long as it gets over it before the second half."""
    later = [COLD_MS * 10 + number * (200.0 + gap) for number in range(len(prefills) - together)]
    requests = served([0.0] * together + later, prefills, slots, ready_ms=COLD_MS)
    assert cold(requests) == together


def test_requests_that_come_while_it_warms_up() -> None:
    """Of a rate of 100/s all wait that come in the first 2.8 s, each a little less; 270 are far off."""
    requests = [First(10.0 * n, max(40.0, 2800.0 - 10.0 * n)) for n in range(1000)]
    assert cold(requests) == 268


def test_too_few_requests_have_nothing_usual() -> None:
    """Of fewer than 20 nothing is said."""
    requests = [First(0, 2800), *(First(3000 + 50 * n, 40) for n in range(FEWEST))]
    assert cold(requests) == 1
    assert cold(requests[: FEWEST - 2]) == 0
    assert cold_requests([], Usual(0, 0, 0, 0)) == 0


def test_an_outlier_later_on_makes_the_first_one_ordinary() -> None:
    """A server that is slow now and then may be slow at first."""
    slow = [First(1000 * n, 2800 if n % 20 == 0 else 40) for n in range(200)]
    assert cold(slow) == 0


def run_of(a_run: Callable[..., Run], ttfts: Sequence[float], **load: object) -> Run:
    """A run that asks one after the other."""
    run, at_ms = a_run(**(load or {"kind": "closed", "concurrency": 1})), 0.0
    for ttft in ttfts:
        run.answers(at_ms + ttft, at_ms + ttft + 10, at_ms=at_ms, usage=(2, 2))
        at_ms += ttft + 20
    return run.stops(at_ms).ends(at_ms + 10)


def test_a_report_says_so(a_run: Callable[..., Run]) -> None:
    """How many, how far off, what the figures would be without them, and what to do."""
    report = run_of(a_run, [2800.0, 1200.0, *[40.0] * 98], kind="closed", concurrency=4).report()
    (finding,) = [item for item in report.findings if item.code == "cold_start"]
    assert finding.severity == "warning"
    assert report.validity.valid
    assert finding.message == (
        "The first 2 requests had a TTFT of 2,800 ms, later ones 40.0 ms (medians): a cold start. "
        "Without them TTFT p99 would be 40.0 ms instead of 1,216 ms, and the mean 40.0 ms instead of 79.2 ms."
    )
    assert finding.remedy.endswith("--warmup 4.")
    assert report.ttft_ms is not None
    assert report.ttft_ms.p99 == pytest.approx(1216)


@pytest.mark.parametrize(
    "ttfts", [[40.0] * 100, [40.0] * 50 + [2800.0] + [40.0] * 49, [100.0] * 5 + [40.0] * 95, [2800.0] * 50]
)
def test_an_ordinary_report_says_nothing(a_run: Callable[..., Run], ttfts: list[float]) -> None:
    """A hiccup in the middle, a start that is a little slower, a server that is slow all the time."""
    with open_log(run_of(a_run, ttfts).write()) as log:
        assert cold_start(log, first_turns(log, "closed", 0), "linear", min(ttfts)) is None


@pytest.mark.slow
def test_loads_without_a_usual_start_are_not_checked(a_run: Callable[..., Run]) -> None:
    """Offline, and after a warm-up."""
    ttfts = [2800.0, *[40.0] * 99]
    with open_log(run_of(a_run, ttfts).write()) as log:
        assert cold_start(log, first_turns(log, "closed", 0), "linear", min(ttfts)) is not None
        assert not first_turns(log, "offline", 0)
    warm = run_of(a_run, ttfts).answers(-50, at_ms=-100, uuid="before", issue={"phase": "warmup"})
    report = warm.report()
    assert report.counts.warmup == 1
    assert "cold_start" not in {finding.code for finding in report.findings}
