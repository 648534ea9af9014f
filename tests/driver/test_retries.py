"""Whether another attempt follows one that failed, and when."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client.failure import Failure, http, mendable
from loadgen.driver.requests.attempt import FIRST_WAIT_S, MOST_WAIT_S, Retries

NAMES = [*Failure, *map(http, [*range(300, 309), *range(400, 452), *range(500, 512)])]
NEVER = float("inf")


def test_what_another_attempt_may_mend() -> None:
    """What passes; never what is this side's doing, nor a response that is what it is."""
    mended = {name for name in NAMES if mendable(name)}
    passing = {"http_408", "http_425", "http_429", *map(http, range(500, 512))}
    assert mended == passing | {
        *("refused", "dns", "connect_timeout", "first_byte_timeout", "idle_timeout"),
        *("reset", "truncated", "aborted", "error_frame", "unasked_response"),
    }
    assert {failure.blames for failure in Failure if failure in mended} == {"server", "network"}


def test_how_many_attempts() -> None:
    """How many may follow the first, and none does without the option."""
    assert [Retries(2).wait_s(attempt, "reset", 0.0, NEVER) for attempt in (1, 2, 3)] == [0.0, 0.0, None]
    assert Retries().wait_s(1, "reset", None, NEVER) is None


@given(st.integers(1, 10_000), st.integers())
def test_a_wait_grows_to_its_bound(attempt: int, seed: int) -> None:
    """It doubles until it is long enough; up to half of it is chance, the same for the same seed."""
    wait_s = Retries(10_000, 0, seed).wait_s(attempt, "reset", None, NEVER)
    assert wait_s == Retries(10_000, 0, seed).wait_s(attempt, "reset", None, NEVER)
    assert wait_s is not None
    longest_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2 ** min(attempt - 1, 100))
    assert longest_s / 2 <= wait_s <= longest_s


def test_chance_sets_requests_apart() -> None:
    """Those that failed together do not all come back at once."""
    retries = Retries(1)
    assert len({retries.wait_s(1, "reset", None, NEVER) for _ in range(100)}) > 90


def test_what_the_server_asks_for_counts() -> None:
    """More than the longest wait too, as long as the request has the time for it."""
    assert Retries(1).wait_s(1, "http_429", 50.0, 60.0) == 50
    assert Retries(1).wait_s(1, "http_429", 60.0, 60.0) is None
    assert Retries(1).wait_s(1, "reset", None, 0.2) is None


@pytest.mark.parametrize("stopped", [False, True])
def test_a_wait_ends_with_the_session(stopped: bool) -> None:  # noqa: FBT001 (a case)
    """Nothing begins any more once a stop was asked for, and no wait is left."""

    async def scenario() -> bool:
        retries = Retries(1, 10, 0)
        waiting = asyncio.create_task(retries.pause(30.0 if stopped else 0.0))
        await asyncio.sleep(0)
        if stopped:
            retries.stop()
            assert retries.wait_s(1, "reset", 0.0, NEVER) is None
        return await waiting

    assert asyncio.run(scenario()) is not stopped
