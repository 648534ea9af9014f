"""A few at a time."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from loadgen.client.doorway import Doorway


@given(
    comers=st.lists(st.integers(0, 6), max_size=12),
    at_once=st.integers(1, 4),
    given_up=st.sets(st.integers(0, 30)),
)
def test_so_many_a_turn(comers: list[int], at_once: int, given_up: set[int]) -> None:
    """However many come, in each turn of the event loop no more than that pass, and nobody is forgotten."""
    passed: list[tuple[int, int]] = []
    turn = 0

    async def come(doorway: Doorway, number: int) -> None:
        await doorway.enter()
        passed.append((turn, number))

    async def scenario() -> set[int]:
        nonlocal turn
        doorway = Doorway(at_once)
        tasks: list[asyncio.Task[None]] = []
        for count in comers:
            tasks += [asyncio.create_task(come(doorway, len(tasks) + n)) for n in range(count)]
            for number in given_up & set(range(len(tasks) - 3, len(tasks))):
                tasks[number].cancel()
            await asyncio.sleep(0)
            turn += 1
        while not all(task.done() for task in tasks):
            await asyncio.sleep(0)
            turn += 1
        return {number for number, task in enumerate(tasks) if not task.cancelled()}

    stayed = asyncio.run(scenario())
    assert sorted(number for _, number in passed) == sorted(stayed)
    assert all([at for at, _ in passed].count(turn) <= 2 * at_once for turn, _ in passed)
