"""How many workers a load gets, where nobody has said."""

import math

import pytest

from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.plan import Load, LoadKind
from loadgen.driver.workers.sizing import usable_cpus, workers_for


@pytest.mark.parametrize(
    ("load", "requests", "workers"),
    [
        (Load(LoadKind.CLOSED, concurrency=1), None, 1),
        (Load(LoadKind.CLOSED, concurrency=500), None, 1),
        (Load(LoadKind.CLOSED, concurrency=501), None, 2),
        (Load(LoadKind.CLOSED, concurrency=1600), 10, 4),
        (Load(LoadKind.OFFLINE), None, 1),
        (Load(LoadKind.OFFLINE), 1001, 3),
        (Load(LoadKind.POISSON, rate=1000), None, 1),
        (Load(LoadKind.CONSTANT, rate=3500), 10_000, 4),
        (Load(LoadKind.CONSTANT, rate=1e9), None, 15),
        (Load(LoadKind.UNIFORM, profile=profile("bursts:1,3500,60s,1s")), 10_000, 4),
        (Load(LoadKind.TRACE, trace_speed=1.0), None, 1),
        (Load(LoadKind.TRACE, trace_speed=2.0, trace_peak=3500), None, 4),
        (Load(LoadKind.POISSON, rate=700, turns=5.0), None, 4),
        (Load(LoadKind.CLOSED, concurrency=10**12), None, 15),
        # What no plan allows has a number of workers all the same; the plan says what is wrong with it.
        (Load(LoadKind.POISSON, rate=math.nan), None, 1),
        (Load(LoadKind.CLOSED, concurrency=-3), None, 1),
    ],
)
def test_as_many_as_the_load_calls_for(load: Load, requests: int | None, workers: int) -> None:
    """One for each 500 requests in flight or 1,000 requests a second, on a machine with 16 CPUs."""
    assert workers_for(load, requests, 16) == workers


@pytest.mark.parametrize(("cpus", "workers"), [(1, 1), (2, 1), (3, 2), (4, 3)])
def test_one_cpu_is_left_to_the_parent(cpus: int, workers: int) -> None:
    """However big the load is; but there is always one worker."""
    assert workers_for(Load(LoadKind.CLOSED, concurrency=100_000), None, cpus) == workers


def test_there_is_a_cpu() -> None:
    """What the machine lets this process use."""
    assert usable_cpus() >= 1
