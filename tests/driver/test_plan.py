"""Plans that cannot be carried out are refused before anything is sent, naming the option."""

from typing import Any

import pytest

from loadgen.driver.arrivals.rate_profile import Flat, LinearRamp
from loadgen.driver.arrivals.rate_text import profile
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import PlanError
from loadgen.driver.load import (
    Closed,
    Load,
    Offline,
    Open,
    TraceArrivals,
    expected_arrivals,
    later,
)
from loadgen.driver.plan import ErrorBudget, Plan
from tests.driver.manual_clock import open_loop


def plan(load: Load | None = None, generation: Generation | None = None, **changes: Any) -> Plan:
    """A plan that is sound but for the changes."""
    settings = {
        "requests": 10,
        "duration_s": None,
        "warmup": 0,
        "protocol": "chat",
        "seed": 0,
        "timeouts": Timeouts(60.0),
    }
    return Plan(
        load=load or Closed(2),
        generation=generation or Generation("m"),
        **(settings | changes),
    )


def staged() -> Load:
    """Five seconds, ten of silence, and five more."""
    return open_loop("poisson", Stages((Stage(0, 5, Flat(9)), Stage(15, 5, Flat(9)))))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"requests": None}, "nothing ends the run: give --requests or --duration"),
        ({"requests": 0}, "--requests 0: must be from 1 to 1,000,000,000,000"),
        ({"requests": None, "duration_s": -1.0}, "--duration -1: must be from 0.001 to 31,622,400"),
        ({"requests": None, "duration_s": float("inf")}, "--duration inf: must be from 0.001 to 31,622,400"),
        ({"warmup": -1}, "--warmup -1: must be from 0 to 1,000,000,000,000"),
        ({"timeouts": Timeouts(0.0)}, "--timeout 0: must be from 0.001 to 31,622,400"),
        (
            {"timeouts": Timeouts(60.0, idle_timeout_s=0.0)},
            "--idle-timeout 0: must be from 0.001 to 31,622,400",
        ),
        ({"retries": -1}, "--retry -1: must be from 0 to 1,000"),
        ({"budget": ErrorBudget(errors=0)}, "--max-errors 0: must be from 1 to 1,000,000,000,000"),
        ({"budget": ErrorBudget(rate=1.5)}, "--max-error-rate 1.5: must be from 0 to 1"),
        ({"max_response_bytes": 1}, "--max-response 1: must be from 1,024 to 1,073,741,824"),
        (
            {"load": Closed(0)},
            "--concurrency 0: must be from 1 to 1,000,000,000,000",
        ),
        ({"load": open_loop("poisson", 0)}, "--rate 0: must be from 0.000001 to 1,000,000"),
        ({"load": Offline(limit=0)}, "--max-concurrency 0: must be from 1 to 1,000,000"),
        (
            {"load": open_loop("gamma", 5.0, 0.0)},
            "--burstiness 0: must be from 0.001 to 1,000",
        ),
        (
            {"load": Open(TraceArrivals(0.0))},
            "--trace-speed 0: must be from 0.001 to 1,000",
        ),
        ({"sessions": 0}, "--sessions 0: must be from 1 to 1,000,000,000,000"),
        ({"warmup_s": 0.0}, "--warmup 0: must be from 0.001 to 31,622,400"),
        ({"drain_s": -1.0}, "--drain -1: must be from 0 to 31,622,400"),
        (
            {"load": staged(), "duration_s": 21.0},
            "--duration 21: the stages end after 20 s: leave it out, or add a stage",
        ),
        (
            {"load": staged(), "duration_s": 15.0},
            "--duration 15: stage 2 begins at 15 s, and so never would: leave it out, or the stage",
        ),
        (
            {"load": open_loop("constant", LinearRamp(0.0, 0.0, 5.0)), "duration_s": 9.0},
            "the rate never brings a request: give a higher --rate, or longer --stages",
        ),
        (
            {"load": open_loop("poisson", 0.01), "duration_s": 2.5},
            (
                "--duration 2.5: with --seed 0 the first request is due after 186 s: measure for longer, or "
                "give a higher --rate"
            ),
        ),
        (
            {"generation": Generation("m", max_tokens=0)},
            "--max-tokens 0: must be from 1 to 1,000,000,000,000",
        ),
        ({"generation": Generation("m", temperature=-0.1)}, "--temperature -0.1: must be from 0 to 1,000"),
        (
            {"generation": Generation("m", temperature=float("inf"))},
            "--temperature inf: must be from 0 to 1,000",
        ),
        ({"schedule_seed": -1}, "--schedule-seed -1: must be from 0 to 18,446,744,073,709,551,615"),
        (
            {"seed": 2**70},
            "--seed 1,180,591,620,717,411,303,424: must be from 0 to 18,446,744,073,709,551,615",
        ),
        (
            {"load": Offline(), "requests": None, "duration_s": 5.0},
            "--offline sends a fixed number of requests at once: give --requests",
        ),
    ],
)
def test_an_impossible_plan_names_the_option(changes: dict[str, Any], complaint: str) -> None:
    """Each message says which option and what it must be."""
    with pytest.raises(PlanError) as caught:
        plan(**changes)
    assert str(caught.value) == complaint


def test_the_log_keeps_all_that_is_needed_to_repeat_the_run() -> None:
    """Every field of the plan is among the settings."""
    stored = plan(
        generation=Generation("m", 5, 0.5, extra_body={"top_p": 1}),
        timeouts=Timeouts(60.0, 5.0, 4.0, 3.0),
        retries=2,
        budget=ErrorBudget(7, 0.5),
        max_response_bytes=10**6,
    ).settings()
    assert {name: value for name, value in stored["load"].items() if value is not None} == {
        "kind": "closed",
        "concurrency": 2,
    }
    assert (stored["model"], stored["max_tokens"], stored["temperature"]) == ("m", 5, 0.5)
    assert stored["extra_body"] == {"top_p": 1}
    times = ("timeout_s", "connect_timeout_s", "first_byte_timeout_s", "idle_timeout_s")
    assert [stored[name] for name in times] == [60, 5, 4, 3]
    assert [stored[name] for name in ("retry", "max_errors", "max_error_rate")] == [2, 7, 0.5]
    assert stored["max_response_bytes"] == 10**6
    assert {"protocol", "requests", "duration_s", "warmup", "seed", "timeout_s", "stream"} <= set(stored)


@pytest.mark.parametrize(
    ("load", "stored"),
    [
        (open_loop("gamma", 5.0, 0.5), {"kind": "gamma", "rate": 5.0, "burstiness": 0.5}),
        (
            open_loop("uniform", profile("ramp:1..50,1m")),
            {"kind": "uniform", "profile": "ramp:1..50,60s"},
        ),
        (
            Open(TraceArrivals(2.0), think="2s"),
            {"kind": "trace", "trace_speed": 2.0, "think": "2s"},
        ),
        (
            staged(),
            {
                "kind": "poisson",
                "stages": [
                    {"name": None, "start_s": 0, "duration_s": 5, "rate": "9"},
                    {"name": None, "start_s": 15, "duration_s": 5, "rate": "9"},
                ],
            },
        ),
    ],
)
def test_the_log_keeps_the_load(load: Load, stored: dict[str, Any]) -> None:
    """What says how requests leave, and nothing else."""
    payload = plan(load=load).settings()["load"]
    assert {name: value for name, value in payload.items() if value is not None} == stored
    assert set(payload) >= {
        "kind",
        "concurrency",
        "rate",
        "profile",
        "stages",
        "burstiness",
        "think",
        "trace_speed",
    }


def test_what_is_left_of_a_load_goes_on_where_it_was() -> None:
    """A rate that changes does not begin again when a run is resumed; one that does not is the same."""
    ramp = open_loop("constant", profile("ramp:0..10,10s"))
    rest = later(ramp, 5.0).rate
    assert rest is not None
    assert (rest.rate(0.0), rest.rate(9.0), rest.end_s) == (5.0, 10.0, 5.0)
    for same in (open_loop("poisson", 3.0), Closed(3), Offline(), Open(TraceArrivals())):
        assert later(same, 5.0) == same


def test_the_size_of_a_load() -> None:
    """The highest rate and the number of requests, where a load has a rate."""
    loads = (
        open_loop("poisson", 3.0),
        staged(),
        Closed(5),
        Open(TraceArrivals()),
    )
    assert [load.peak_rate for load in loads if isinstance(load, Open)] == [3.0, 9.0, None]
    assert [expected_arrivals(load, 16.0) for load in loads] == [48.0, 54.0, None, None]


def test_arrivals_can_have_their_own_seed() -> None:
    """Of 64 bits, as the other one; without it they are drawn with the other one."""
    load = open_loop("poisson", 5.0)
    both = plan(load, seed=7, schedule_seed=2**64 - 1)
    assert (both.settings()["seed"], both.settings()["schedule_seed"]) == (7, 2**64 - 1)
    assert (plan(load, seed=7).arrivals_seed, plan(load, seed=7).settings()["schedule_seed"]) == (7, 7)
    with pytest.raises(PlanError, match="with --schedule-seed 5 the first request"):
        plan(load, schedule_seed=5, duration_s=0.001)
