"""Waiting for a moment: never early, and without holding up the event loop."""

import asyncio
import sys
import time
from collections.abc import Callable

import pytest

from loadgen.driver.system.clock import Clock, TimerClock
from tests.driver.manual_clock import ManualClock

CLOCKS = [Clock, *([TimerClock] if sys.platform == "linux" else [])]


@pytest.mark.parametrize("make", CLOCKS)
def test_a_sleeper_is_never_early(make: Callable[[], Clock]) -> None:
    """A request must not leave before its time."""

    async def sleep() -> list[int]:
        clock = make()
        early = []
        for delay_ns in (0, 10_000, 300_000, 1_000_000, 5_000_000):
            due_ns = clock.now_ns() + delay_ns
            await clock.sleep_until(due_ns)
            early.append(min(0, clock.now_ns() - due_ns))
        clock.close()
        return early

    assert asyncio.run(sleep()) == [0] * 5


@pytest.mark.parametrize("make", CLOCKS)
def test_others_run_while_one_sleeps(make: Callable[[], Clock]) -> None:
    """Waiting yields, also for a moment that has passed."""

    async def count() -> int:
        clock, turns = make(), 0

        async def other() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        task = asyncio.create_task(other())
        await clock.sleep_until(clock.now_ns() + 2_000_000)
        await clock.sleep_until(clock.now_ns() - 1)
        task.cancel()
        clock.close()
        return turns

    assert asyncio.run(count()) >= 2


@pytest.mark.parametrize("make", CLOCKS)
def test_a_cancelled_sleep_leaves_the_clock_usable(make: Callable[[], Clock]) -> None:
    """A stop in the middle of a wait does not spoil the next one."""

    async def sleep() -> int:
        clock = make()
        task = asyncio.create_task(clock.sleep_until(clock.now_ns() + 10**12))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        due_ns = clock.now_ns() + 1_000_000
        await clock.sleep_until(due_ns)
        late_ns = clock.now_ns() - due_ns
        clock.close()
        return late_ns

    assert asyncio.run(sleep()) >= 0


@pytest.mark.parametrize("make", CLOCKS)
def test_many_can_sleep_at_once(make: Callable[[], Clock]) -> None:
    """Each wakes, and not too early, in any order, and when some are cancelled."""

    async def sleep() -> tuple[list[int], list[int]]:
        clock, woken, early = make(), [], []
        start_ns = clock.now_ns()

        async def sleeper(name: int) -> None:
            due_ns = start_ns + (name + 1) * 1_000_000
            await clock.sleep_until(due_ns)
            woken.append(name)
            early.append(min(0, clock.now_ns() - due_ns))

        tasks = [asyncio.create_task(sleeper(name)) for name in (4, 0, 3, 1, 2, 6, 5)]
        await asyncio.sleep(0)
        tasks[1].cancel()
        tasks[5].cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        clock.close()
        return sorted(woken), early

    assert asyncio.run(sleep()) == ([1, 2, 3, 4, 5], [0] * 5)


def test_the_manual_clock_jumps_to_the_first_sleeper() -> None:
    """Time passes only when it is advanced, and sleepers wake in the order of their moments."""

    async def sleep() -> tuple[list[int], float]:
        clock, woken = ManualClock(0), []

        async def sleeper(at_ns: int) -> None:
            await clock.sleep_until(at_ns)
            woken.append(clock.now_ns())

        tasks = [asyncio.create_task(sleeper(at_ns)) for at_ns in (3 * 10**12, 10**12, 2 * 10**12)]
        started = time.monotonic()
        await asyncio.sleep(0)
        while clock.advance():
            await asyncio.sleep(0)
            await asyncio.sleep(0)
        await asyncio.gather(*tasks)
        return woken, time.monotonic() - started

    woken, took_s = asyncio.run(sleep())
    assert woken == [10**12, 2 * 10**12, 3 * 10**12]
    assert took_s < 100  # of 3,000 s
