"""How often the search for a steady state is right: simulated queues with fixed seeds, of known truth."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator
from random import Random

import pytest

from reporter.report import Moment, SteadyState
from reporter.windows.steady_state import steady_state

pytestmark = pytest.mark.slow

Request = tuple[float, float]
"""When it was issued and when it completed, in s."""

Rate = Callable[[float], float]
"""How many a second at a time in s; or, of a closed loop's server, how many seconds."""

Simulation = Callable[[Random], tuple[list[Request], float]]
"""Draws the requests of a run, and tells how long it lasts."""

ROWS = 120


def open_loop(random: Random, rate: Rate, slots: int, service: Rate, lasts_s: float) -> list[Request]:
    """Poisson arrivals at a rate over time, first come, first served."""
    now, free, done = 0.0, [0.0] * slots, []
    while (now := now + random.expovariate(rate(now))) < lasts_s:
        begins = max(now, heapq.heappop(free))
        ends = begins + random.expovariate(service(begins))
        heapq.heappush(free, ends)
        done.append((now, ends))
    return done


def closed_loop(users: int, slots: int, service: Rate, lasts_s: float) -> list[Request]:
    """Each user asks again at once; first come, first served."""
    asking, free, done = [0.0] * users, [0.0] * slots, []
    while asking:
        now = heapq.heappop(asking)
        begins = max(now, heapq.heappop(free))
        ends = begins + service(begins)
        heapq.heappush(free, ends)
        done.append((now, ends))
        if ends < lasts_s:
            heapq.heappush(asking, ends)
    return done


def moments(requests: list[Request], lasts_s: float) -> list[Moment]:
    """The moments of these requests, as the reporter computes them."""
    width_s = lasts_s / ROWS
    issued = [0] * (int(max(end for _, end in requests) / width_s) + 1)
    completed, latencies = issued[:], [0.0] * len(issued)
    for start, end in requests:
        issued[int(start / width_s)] += 1
        completed[int(end / width_s)] += 1
        latencies[int(start / width_s)] += 1e3 * (end - start)
    computed, in_flight = [], 0
    for number, (begun, ended, ms) in enumerate(zip(issued, completed, latencies, strict=True)):
        in_flight += begun - ended
        mean = ms / begun if begun else None
        rates = (begun / width_s, ended / width_s, 10 * ended / width_s)
        counts = (begun, begun, ended, 0, 0, in_flight)
        computed.append(Moment(1, number * width_s, width_s, *counts, *rates, begun, *[mean] * 6))
    return computed


def queue(load: float, lasts_s: float, slots: int = 8) -> Simulation:
    """M/M/c at `load` times what it can serve, from an empty queue on."""
    return lambda random: (
        open_loop(random, lambda _: load * 10 * slots, slots, lambda _: 10.0, lasts_s),
        lasts_s,
    )


def ramp(random: Random) -> tuple[list[Request], float]:
    """From 10 to 60 req/s, all of which are served."""
    return open_loop(random, lambda second: 10 + 50 * second / 60, 64, lambda _: 10.0, 60), 60


def users(slots: int, service: Callable[[Random, float], float]) -> Simulation:
    """A closed loop of 16 users for a minute."""
    return lambda random: (closed_loop(16, slots, lambda second: service(random, second), 60), 60)


STEADY: dict[str, tuple[Simulation, int]] = {
    "M/M/8 at half of its capacity": (queue(0.5, 60), 91),
    "M/M/8 at 70 %": (queue(0.7, 60), 94),
    "M/M/8 at 90 %": (queue(0.9, 60), 88),
    "M/M/8 for ten seconds": (queue(0.7, 10), 84),
    "M/M/1 and 300 requests": (queue(0.5, 60, slots=1), 90),
    "users who never wait": (users(16, lambda random, _: random.expovariate(2)), 97),
    "users who wait for each other": (users(8, lambda random, _: random.expovariate(2)), 96),
    "users in step": (users(16, lambda _, __: 1.0), 100),
    "users nearly in step": (users(16, lambda random, _: random.uniform(0.95, 1.05)), 99),
    "a cold start of 8 s": (
        users(16, lambda random, second: random.expovariate(2) * (1 + 3 * max(0, 1 - second / 8))),
        96,
    ),
}
"""What is steady, but for its start, and in how many of 100 runs that must be found."""

DRIFTING: dict[str, tuple[Simulation, int]] = {
    "5 % too much": (queue(1.05, 60), 25),
    "10 % too much": (queue(1.1, 60), 3),
    "25 % too much, for 20 s": (queue(1.25, 20), 0),
    "twice too much": (queue(2, 20), 0),
    "a ramp": (ramp, 2),
    "a server that slows down by a third": (users(16, lambda _, second: 0.5 * (1 + second / 180)), 0),
    "a server that is half as quick after 40 s": (
        users(16, lambda random, second: random.expovariate(1 if second > 40 else 2)),
        25,
    ),
}
"""What is not steady, and in how many of 100 runs it may be taken for that."""


def searched(simulation: Simulation) -> Iterator[SteadyState]:
    """What is found in 100 runs."""
    for seed in range(100):
        requests, lasts_s = simulation(Random(seed))  # noqa: S311 (figures, not secrets)
        yield steady_state(moments(requests, lasts_s), lasts_s)


def times_steady(simulation: Simulation) -> int:
    """In how many of 100 runs a steady state is found."""
    return sum(state.found for state in searched(simulation))


@pytest.mark.parametrize("name", STEADY)
def test_a_steady_state_is_found(name: str) -> None:
    """Nearly always, where there is one."""
    simulation, least = STEADY[name]
    assert times_steady(simulation) >= least


@pytest.mark.parametrize("name", DRIFTING)
def test_a_drift_is_not_taken_for_a_steady_state(name: str) -> None:
    """Nearly never, unless it is small relative to the noise."""
    simulation, limit = DRIFTING[name]
    assert times_steady(simulation) <= limit


def test_the_interval_holds_the_truth() -> None:
    """Of the intervals for the rate of a queue about 95 % hold it, and of those for its latency."""
    held = [
        (
            abs(state.qps.mean - 40) <= state.qps.margin,
            abs(state.latency_ms.mean - LATENCY_MS) <= state.latency_ms.margin,
        )
        for state in searched(queue(0.5, 60))
        if state.qps and state.latency_ms
    ]
    assert len(held) > 85
    assert all(sum(of) > 0.85 * len(held) for of in zip(*held, strict=True))


LATENCY_MS = 100 + 0.0590 * 25
"""Of M/M/8 at half of its capacity, served in 100 ms: by Erlang's C formula 5.9 % wait, for 25 ms each."""
