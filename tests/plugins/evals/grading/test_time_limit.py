"""A time limit for what might never end."""

from __future__ import annotations

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import count
from typing import Final

import pytest

from loadgen.plugins.evals.grading.time_limit import TimeUpError, time_limit

SHORT_S: Final = 0.05
LONG_S: Final = 60.0


def without_end() -> None:
    """Compute without an end."""
    for _ in count():
        pass


def swallowing() -> None:
    """Compute without an end, and take the first interruption for a failure of what is computed."""
    with suppress(BaseException):
        without_end()
    without_end()


def limited() -> str:
    """Say how it ended."""
    try:
        with time_limit(SHORT_S):
            without_end()
    except TimeUpError:
        return "time is up"
    return "at its end"


def test_an_endless_computation_is_ended() -> None:
    """Also where the first exception is swallowed, and in the midst of arithmetic with huge numbers."""
    with pytest.raises(TimeUpError), time_limit(SHORT_S):
        without_end()
    with pytest.raises(TimeUpError), time_limit(SHORT_S):
        swallowing()
    with pytest.raises(TimeUpError), time_limit(SHORT_S):
        9**9**9


def test_in_another_thread_too() -> None:
    """Where no signal can be had."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(limited).result() == "time is up"


def test_another_thread_leaves_nothing_behind() -> None:
    """A function can be profiled afterwards: an interpreter in an endless search for an exception cannot."""
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(in_time).result() == 45
    called: list[str] = []
    sys.setprofile(lambda frame, kind, _: called.append(frame.f_code.co_name) if kind == "call" else None)
    try:
        in_time()
    finally:
        sys.setprofile(None)
    assert called[0] == "in_time"


def in_time() -> int:
    """Compute what is soon done, with a limit."""
    with time_limit(LONG_S):
        return sum(range(10))


def test_what_ends_in_time_has_nothing_to_fear_later() -> None:
    """The clock stops with the block, and the signal is as it was."""
    before = signal.getsignal(signal.SIGVTALRM)
    with time_limit(SHORT_S):
        payload = sum(range(10))
    assert payload == 45
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before
