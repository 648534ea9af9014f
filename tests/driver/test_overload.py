"""An endpoint that falls behind is noticed; one that keeps up, and a run that fills up, are left alone."""

from __future__ import annotations

import heapq
import random
from bisect import bisect_right
from typing import TYPE_CHECKING

import pytest

from loadgen.driver import overload_detection
from loadgen.driver.overload_detection import APART_NS, MOST_LOOKS, Look, OverloadWatch, growth
from tests.driver.manual_clock import open_loop

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

SLOTS = 8
SERVICE_S = 0.2
CAPACITY = SLOTS / SERVICE_S


def poisson(rate: float, seconds: float, seed: int) -> list[float]:
    """Arrivals at random."""
    draw, moment, result = random.Random(seed), 0.0, []  # noqa: S311 (arrivals, not a secret)
    while (moment := moment + draw.expovariate(rate)) < seconds:
        result.append(moment)
    return result


def served(arrivals: Sequence[float], slots: int, service: Callable[[], float]) -> list[float]:
    """When requests end that this many are served of at once, the others in the order of arrival."""
    free = [0.0] * slots
    ends = []
    for arrival in arrivals:
        end = max(arrival, heapq.heappop(free)) + service()
        heapq.heappush(free, end)
        ends.append(end)
    return sorted(ends)


def noticed_s(arrivals: Sequence[float], ends: Sequence[float], seconds: float) -> float | None:
    """When it is noticed, with a look every quarter of a second."""
    looks: list[Look] = []
    for quarter in range(int(seconds * 4)):
        moment = quarter / 4
        looks.append(Look(int(moment * 1e9), bisect_right(arrivals, moment), bisect_right(ends, moment)))
        if growth(looks) is not None:
            return moment
    return None


@pytest.mark.parametrize("seed", range(8))
def test_twice_the_capacity_is_noticed_within_seconds(seed: int) -> None:
    """The backlog grows by as much as is served."""
    arrivals = poisson(2 * CAPACITY, 10, seed)
    result = noticed_s(arrivals, served(arrivals, SLOTS, lambda: SERVICE_S), 10)
    assert result is not None
    assert result < 6


@pytest.mark.parametrize("seed", range(8))
def test_a_busy_endpoint_that_keeps_up_is_left_alone(seed: int) -> None:
    """At 95 % of its capacity, with arrivals and services at random, queues come and go."""
    draw = random.Random(seed)  # noqa: S311 (services, not a secret)
    arrivals = poisson(0.95 * CAPACITY, 40, seed)
    ends = served(arrivals, SLOTS, lambda: draw.expovariate(1 / SERVICE_S))
    assert noticed_s(arrivals, ends, 40) is None


@pytest.mark.parametrize("seed", range(8))
def test_a_run_that_fills_up_with_long_answers_is_left_alone(seed: int) -> None:
    """As long as more requests begin than end because answers take their time, ever more end."""
    draw = random.Random(seed)  # noqa: S311 (services, not a secret)
    arrivals = poisson(40, 30, seed)
    ends = sorted(index + draw.lognormvariate(1.0, 0.8) for index in arrivals)
    assert noticed_s(arrivals, ends, 30) is None


def test_a_burst_is_not_an_overload() -> None:
    """Two seconds of four times the capacity, and time to work it off."""
    arrivals = sorted(
        [*poisson(0.4 * CAPACITY, 60, 1), *(10 + index for index in poisson(4 * CAPACITY, 2, 2))],
    )
    assert noticed_s(arrivals, served(arrivals, SLOTS, lambda: SERVICE_S), 60) is None


def test_few_requests_are_not_evaluated() -> None:
    """An endpoint that has ended next to nothing may only be slow to begin."""
    assert growth([Look(k * 10**9, 100 * k, k) for k in range(30)]) is None
    assert growth([]) is None


def test_bursty_arrivals_need_more_to_be_seen() -> None:
    """What chance can bring depends on the arrival process."""
    looks = [Look(k * 10**8, 30 * k, 20 * k) for k in range(41)]
    assert growth(looks) is not None
    assert growth(looks, variance=10.0) is None


def test_a_long_run_keeps_few_looks() -> None:
    """Memory is bounded, and the start is never let go of."""
    watch = OverloadWatch(open_loop("poisson", 10.0))
    for number in range(5 * MOST_LOOKS):
        assert watch.look(number * APART_NS, number, number) is None
    assert len(watch._looks) <= MOST_LOOKS
    assert watch._looks[0] == Look(0, 0, 0)


def test_the_finding_has_the_figures() -> None:
    """It makes the run invalid, and says by how much the endpoint fell behind."""
    event = overload_detection.finding(overload_detection.Growth(5.0, 300, 200, 120), at_ns=7)
    assert event.data is not None
    assert (event.data["code"], event.data["severity"]) == ("overloaded", "error")
    assert "200 of 300 requests ended in the last 5.0 s" in event.data["message"]
