"""How the load generator's own processes were doing: the readings of workers and of their parent in one."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from recorder import EventType
from tests.conftest import EXAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]

FIGURES = {
    "readings": 0,
    "loop_lag_p50_ms": None,
    "loop_lag_max_ms": None,
    "gc_pause_max_ms": None,
    "cpu_share_mean": None,
    "cpu_share_max": None,
    "cpu_wait_share_mean": None,
    "cpu_wait_share_max": None,
    "in_flight_max": None,
    "backlog_events_max": None,
    "held_up_ms": None,
}
"""What each worker and the whole client have, as it is when nothing was read."""


def with_reading(run: Run, at_ms: float, source: str = "client", **reading: Any) -> Run:
    """The run with one more reading."""
    return run.session(EventType.TELEMETRY, at_ms, source=source, **reading)


def test_one_worker_without_a_name(a_run: NewRun) -> None:
    """A log that names no worker is that of one; only what was read while requests were issued counts."""
    run = a_run().stops(100)
    for at_ms, lag, share in ((10, 1.0, 0.2), (20, 5.0, 0.4), (200, 99.0, 1.0)):
        lags = {"loop_lag_p50_ms": lag / 2, "loop_lag_max_ms": lag}
        with_reading(run, at_ms, **lags, cpu_share=share, gc_pause_max_ms=0.1, in_flight=3)
    figures = {
        **FIGURES,
        "readings": 2,
        "loop_lag_p50_ms": 1.5,
        "loop_lag_max_ms": 5.0,
        "gc_pause_max_ms": 0.1,
        "cpu_share_mean": pytest.approx(0.3),
        "cpu_share_max": 0.4,
        "in_flight_max": 3,
    }
    assert run.ends().report().client.to_dict() == {
        **figures,
        # The readings know of moments only.
        "in_flight_max": None,
        "workers": 1,
        "cpu_share_sum": pytest.approx(0.3),
        "parent_cpu_share_mean": None,
        "per_worker": [{"worker": 0, **figures}],
    }


def test_the_worst_worker_stands_for_all(a_run: NewRun) -> None:
    """Of limits of one worker, the worst is reported; shared resources, such as CPU, are added up."""
    run = a_run()
    for worker, lag, share in ((0, 0.1, 0.5), (1, 4.0, 0.75)):
        for at_ms in (10, 20):
            lags = {"loop_lag_p50_ms": lag, "loop_lag_max_ms": 2 * lag, "gc_pause_max_ms": lag}
            waits = {
                "cpu_wait_share": share / 10 + at_ms / 1000,
                "held_up_ms": lag,
                "backlog_events": 7 * at_ms,
            }
            with_reading(run, at_ms, worker=worker, cpu_share=share, **lags, **waits)
    with_reading(run, 10, "parent", cpu_share=0.25, cpu_wait_share=0.9)
    client = run.ends().report().client.to_dict()
    first, second = client.pop("per_worker")
    assert client == {
        "readings": 4,
        "workers": 2,
        "loop_lag_p50_ms": 4.0,
        "loop_lag_max_ms": 8.0,
        "gc_pause_max_ms": 4.0,
        "cpu_share_mean": 0.75,
        "cpu_share_max": 0.75,
        "cpu_share_sum": 1.5,
        "cpu_wait_share_mean": pytest.approx(0.09),
        "cpu_wait_share_max": pytest.approx(0.095),
        "parent_cpu_share_mean": 0.25,
        "in_flight_max": None,
        "backlog_events_max": 140,
        "held_up_ms": pytest.approx(8.2),
    }
    assert (first["worker"], first["readings"], first["cpu_share_mean"]) == (0, 2, 0.5)
    assert (second["worker"], second["held_up_ms"], second["loop_lag_max_ms"]) == (1, 8.0, 8.0)
    assert list(first) == ["worker", *FIGURES]


def test_the_most_requests_in_flight_are_counted_by_the_requests(a_run: NewRun) -> None:
    """Readings cover single moments; a request that ends when the next is issued does not overlap it."""
    run = (
        a_run()
        .answers(6, 8, at_ms=0)
        .answers(9, at_ms=8)
        .answers(30, at_ms=12)
        .answers(20, at_ms=13)
        .answers(14, at_ms=13)
    )
    for at_ms, worker, in_flight in ((10, 0, 5), (11, 1, 1), (20, 0, 2), (21, 1, 4)):
        with_reading(run, at_ms, worker=worker, in_flight=in_flight)
    client = run.ends().report().client
    assert client.in_flight_max == 3
    assert [worker.in_flight_max for worker in client.per_worker] == [5, 4]


def test_a_run_that_issues_within_a_second_is_not_without_figures(a_run: NewRun) -> None:
    """Then readings count until a second after the last answer; what was read long after it does not."""
    run = a_run().answers(100, 400, at_ms=1).stops(5)
    with_reading(run, 900, cpu_share=0.95, loop_lag_p50_ms=4.0, loop_lag_max_ms=5.0)
    with_reading(run, 1500, cpu_share=0.01, loop_lag_p50_ms=0.1, loop_lag_max_ms=0.2)
    client = run.ends(1600).report().client
    assert (client.readings, client.cpu_share_mean, client.loop_lag_max_ms) == (1, 0.95, 5.0)


def test_without_readings_there_is_nothing_to_say(a_run: NewRun) -> None:
    """A run that was over before a worker could tell has no figures of the client, rather than zeros."""
    assert with_reading(a_run(), 5, "parent", cpu_share=0.1).ends().report().client.to_dict() == {}


READINGS = st.lists(
    st.fixed_dictionaries(
        {"at_ms": st.integers(0, 50)},
        optional={
            "source": st.sampled_from(["client", "client", "parent"]),
            "worker": st.integers(0, 3),
            "cpu_share": st.integers(0, 1000).map(lambda n: n / 1000),
            "cpu_wait_share": st.none() | st.integers(0, 1000).map(lambda n: n / 1000),
            "loop_lag_p50_ms": st.integers(0, 10_000).map(lambda n: n / 1000),
            "loop_lag_max_ms": st.integers(0, 10_000).map(lambda n: n / 1000),
            "in_flight": st.integers(0, 99),
            "backlog_events": st.integers(0, 99),
            "held_up_ms": st.integers(0, 10_000).map(lambda n: n / 1000),
        },
    ),
    max_size=20,
)


@pytest.mark.slow
@settings(max_examples=3 * EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(readings=READINGS, shuffle=st.integers())
def test_readings_of_workers_come_in_any_order(
    a_run: NewRun, readings: list[dict[str, Any]], shuffle: int
) -> None:
    """However the readings of workers are mixed into the log, the report is the same to the last bit."""

    def report(order: list[dict[str, Any]]) -> Any:
        run = a_run().answers(5, usage=(1, 1))
        for reading in order:
            with_reading(run, **reading)
        return run.ends().report()

    shuffled = list(readings)
    Random(shuffle).shuffle(shuffled)  # noqa: S311 (an order, not a secret)
    assert report(shuffled) == report(readings)
