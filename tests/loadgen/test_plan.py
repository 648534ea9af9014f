"""Plans that cannot be carried out are refused before anything is sent, naming the option."""

from typing import Any

import pytest

from loadgen.budget import ErrorBudget
from loadgen.client.codec import Generation
from loadgen.client.timeouts import Timeouts
from loadgen.plan import Load, LoadKind, Plan, PlanError


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
        load=load or Load(LoadKind.CLOSED, concurrency=2),
        generation=generation or Generation("m"),
        **(settings | changes),
    )


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"requests": None}, "nothing ends the run: give --requests or --duration"),
        ({"requests": 0}, "--requests 0: must be from 1 to 1e+12"),
        ({"requests": None, "duration_s": -1.0}, "--duration -1: must be from 0.001 to 3.16224e+07"),
        ({"requests": None, "duration_s": float("inf")}, "--duration inf: must be from 0.001 to 3.16224e+07"),
        ({"warmup": -1}, "--warmup -1: must be from 0 to 1e+12"),
        ({"timeouts": Timeouts(0.0)}, "--timeout 0: must be from 0.001 to 3.16224e+07"),
        (
            {"timeouts": Timeouts(60.0, idle_s=0.0)},
            "--idle-timeout 0: must be from 0.001 to 3.16224e+07",
        ),
        ({"retries": -1}, "--retry -1: must be from 0 to 1000"),
        ({"budget": ErrorBudget(errors=0)}, "--max-errors 0: must be from 1 to 1e+12"),
        ({"budget": ErrorBudget(rate=1.5)}, "--max-error-rate 1.5: must be from 0 to 1"),
        ({"max_response_bytes": 1}, "--max-response 1: must be from 1024 to 1.07374e+09"),
        ({"load": Load(LoadKind.CLOSED, concurrency=0)}, "--concurrency 0: must be from 1 to 1e+12"),
        ({"load": Load(LoadKind.POISSON, rate=-2.0)}, "--rate -2: must be from 1e-06 to 1e+06"),
        ({"load": Load(LoadKind.POISSON, rate=float("nan"))}, "--rate nan: must be from 1e-06 to 1e+06"),
        ({"generation": Generation("m", max_tokens=0)}, "--max-tokens 0: must be from 1 to 1e+12"),
        ({"generation": Generation("m", temperature=-0.1)}, "--temperature -0.1: must be from 0 to 1000"),
        (
            {"generation": Generation("m", temperature=float("inf"))},
            "--temperature inf: must be from 0 to 1000",
        ),
        ({"seed": 2**70}, "--seed 1.18059e+21: must be from 0 to 9.22337e+18"),
        (
            {"load": Load(LoadKind.OFFLINE), "requests": None, "duration_s": 5.0},
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
    kept = plan(
        generation=Generation("m", 5, 0.5, extra_body={"top_p": 1}),
        timeouts=Timeouts(60.0, 5.0, 4.0, 3.0),
        retries=2,
        budget=ErrorBudget(7, 0.5),
        max_response_bytes=10**6,
    ).settings()
    assert kept["load"] == {"kind": "closed", "concurrency": 2, "rate": None}
    assert (kept["model"], kept["max_tokens"], kept["temperature"]) == ("m", 5, 0.5)
    assert kept["extra_body"] == {"top_p": 1}
    times = ("timeout_s", "connect_timeout_s", "first_byte_timeout_s", "idle_timeout_s")
    assert [kept[name] for name in times] == [60, 5, 4, 3]
    assert [kept[name] for name in ("retry", "max_errors", "max_error_rate")] == [2, 7, 0.5]
    assert kept["max_response_bytes"] == 10**6
    assert {"protocol", "requests", "duration_s", "warmup", "seed", "timeout_s", "stream"} <= set(kept)
