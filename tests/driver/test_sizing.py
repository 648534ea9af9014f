"""How many workers a load gets by default."""

import pytest

from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.load import Closed, Load, Offline, Open, TraceArrivals
from loadgen.driver.workers.launcher import usable_cpus, workers_for
from tests.driver.manual_clock import open_loop


@pytest.mark.parametrize(
    ("load", "requests", "workers"),
    [
        (Closed(1), None, 1),
        (Closed(500), None, 1),
        (Closed(501), None, 2),
        (Closed(1600), 10, 4),
        (Offline(), None, 1),
        (Offline(), 1001, 3),
        (open_loop("poisson", 1000), None, 1),
        (open_loop("constant", 3500), 10_000, 4),
        (open_loop("constant", 1e6), None, 15),
        (open_loop("uniform", profile("bursts:1,3500,60s,1s")), 10_000, 4),
        (Open(TraceArrivals(1.0)), None, 1),
        (Open(TraceArrivals(2.0, 3500)), None, 4),
        (open_loop("poisson", 700, turns=5.0), None, 4),
        (Closed(10**12), None, 15),
        # What no plan allows has a number of workers as well; the plan says what is wrong with it.
        (Closed(-3), None, 1),
    ],
)
def test_as_many_as_the_load_calls_for(load: Load, requests: int | None, workers: int) -> None:
    """One for each 500 requests in flight or 1,000 requests per second, on a machine with 16 CPUs."""
    assert workers_for(load, requests, 16) == workers


@pytest.mark.parametrize(("cpus", "workers"), [(1, 1), (2, 1), (3, 2), (4, 3)])
def test_one_cpu_is_left_to_the_parent(cpus: int, workers: int) -> None:
    """However big the load is; but there is always one worker."""
    assert workers_for(Closed(100_000), None, cpus) == workers


def test_there_is_a_cpu() -> None:
    """What the machine lets this process use."""
    assert usable_cpus() >= 1
