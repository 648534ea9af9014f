"""A load is described in words, as it was asked for."""

from typing import Any

import pytest

from reporter.render.heading import load_in_words


@pytest.mark.parametrize(
    ("load", "words"),
    [
        ({}, []),
        ({"kind": "closed", "concurrency": 1000}, ["closed loop with 1,000 in flight"]),
        (
            {"kind": "closed", "concurrency": 8, "think": "exponential:2s"},
            ["closed loop with 8 in flight", "users pausing for exponential:2s"],
        ),
        ({"kind": "constant", "rate": 20.0}, ["open loop at a constant 20 req/s"]),
        ({"kind": "poisson", "rate": 0.5}, ["open loop, Poisson arrivals at 0.5 req/s"]),
        (
            {"kind": "gamma", "rate": 20.0, "burstiness": 0.25},
            ["open loop, gamma arrivals of burstiness 0.25 at 20 req/s"],
        ),
        (
            {"kind": "constant", "rate": None, "profile": "ramp:1..50,60s"},
            ["open loop, equal distances at ramp:1..50,60s req/s"],
        ),
        ({"kind": "uniform", "stages": [{}, {}]}, ["open loop, uniform distances in 2 stages"]),
        ({"kind": "trace", "trace_speed": 1.0}, ["open loop, a trace replayed"]),
        ({"kind": "trace", "trace_speed": 2.5}, ["open loop, a trace replayed 2.5 times as fast"]),
        ({"kind": "offline"}, ["offline, all requests at once"]),
        ({"kind": "a newer one"}, ["a newer one"]),
    ],
)
def test_loads_in_words(load: dict[str, Any], words: list[str]) -> None:
    """Each kind of load, also one that this version does not know."""
    assert list(load_in_words(load)) == words


def test_the_load_of_sessions() -> None:
    """Concurrency and rate count sessions."""
    assert list(load_in_words({"kind": "closed", "concurrency": 8}, "sessions")) == [
        "closed loop with 8 sessions open"
    ]
    (words,) = load_in_words({"kind": "poisson", "rate": 2}, "sessions")
    assert words == "open loop, Poisson arrivals at 2 sessions/s"
