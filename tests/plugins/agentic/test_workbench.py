"""The workbench: what is due first is made first, in pieces between which the event loop goes on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.agentic.workbench import PIECE_NS, Workbench

if TYPE_CHECKING:
    from loadgen.plugins.agentic.workbench import Steps


def _work(name: str, steps: int, made: list[str]) -> Steps[str]:
    for _ in range(steps):
        until_ns = time.monotonic_ns() + PIECE_NS
        while time.monotonic_ns() < until_ns:
            pass
        yield
    made.append(name)
    return name


def test_what_is_due_first_is_made_first() -> None:
    """Jobs that come later overtake; one that is hurried goes first; one that is dropped is never made."""

    async def main() -> list[str]:
        bench, made = Workbench(), list[str]()
        idle = bench.begin(_work("idle", 3, made))
        late, soon = (bench.begin(_work(name, 2, made), due) for name, due in (("late", 9), ("soon", 2)))
        dropped = bench.begin(_work("dropped", 1, made), 1)
        dropped.drop()
        assert await bench.result(soon, 2) == "soon"
        first = bench.begin(_work("first", 1, made), 1)
        assert await bench.result(idle, 0) == "idle"
        assert await asyncio.gather(bench.result(late, 9), bench.result(first, 1)) == ["late", "first"]
        await asyncio.sleep(0)
        assert not bench.is_busy
        return made

    assert asyncio.run(main()) == ["soon", "idle", "first", "late"]


def test_turns_of_the_loop_come_between_pieces() -> None:
    """Other tasks go on while a long job is made, and a waiter that is cancelled leaves the job as it is."""

    async def main() -> None:
        bench, turns = Workbench(), 0
        job = bench.begin(_work("long", 20, []))
        waiting = asyncio.create_task(job.result())
        while not job.is_over:
            turns += 1
            await asyncio.sleep(0)
            if turns == 5:
                waiting.cancel()
        assert turns > 20
        assert job.finish() == "long"
        cut = bench.begin(_work("cut", 20, []))
        await asyncio.sleep(0)
        assert cut.finish() == "cut"

    asyncio.run(main())


def test_an_error_is_raised_where_the_result_is_awaited() -> None:
    """The other jobs are made all the same."""

    def broken() -> Steps[str]:
        yield
        raise ValueError("broken")

    async def main() -> None:
        bench = Workbench()
        jobs = bench.begin(broken(), 1), bench.begin(_work("whole", 1, []), 2)
        assert await jobs[1].result() == "whole"
        with pytest.raises(ValueError, match="broken"):
            await jobs[0].result()

    asyncio.run(main())
