"""One timer for many deadlines."""

from __future__ import annotations

import asyncio

from loadgen.driver.client.timeouts import Deadlines

AFTER_S = 0.02
AFTERS_S = {"b": 0.02, "c": 0.01, "d": 0.005}


def test_late_ones_are_called_in_order() -> None:
    """Those who stop in time are not among them, and who comes after an empty time is waited for again."""

    async def scenario() -> list[str]:
        late: asyncio.Queue[str] = asyncio.Queue()
        deadlines = Deadlines(AFTER_S, lambda who, _: late.put_nowait(who))
        for who in ("a", "b", "c", "d"):
            deadlines.start(who)
        deadlines.stop("a")
        deadlines.stop("c")
        first = [await late.get(), await late.get()]
        deadlines.start("e")
        deadlines.start("f")
        return [*first, await late.get(), await late.get()]

    assert asyncio.run(scenario()) == ["b", "d", "e", "f"]


def test_a_deadline_is_the_time_that_was_given() -> None:
    """The callback of a deadline has the time limit, counted from the start."""

    async def scenario() -> None:
        late: asyncio.Queue[float] = asyncio.Queue()
        deadlines = Deadlines[str](AFTER_S, lambda _, due_s: late.put_nowait(due_s))
        loop = asyncio.get_running_loop()
        before_s = loop.time()
        deadlines.start("a")
        after_s = loop.time()
        assert before_s + AFTER_S <= await late.get() <= after_s + AFTER_S
        deadlines.stop("b")
        deadlines.close()

    asyncio.run(scenario())


def test_none_is_late_after_the_end() -> None:
    """Closing forgets everybody, and lets the event loop end."""

    async def scenario() -> list[str]:
        late: list[str] = []
        deadlines = Deadlines(AFTER_S, lambda who, _: late.append(who))
        deadlines.start("a")
        deadlines.close()
        await asyncio.sleep(2 * AFTER_S)
        return late

    assert asyncio.run(scenario()) == []


def test_one_whose_time_began_earlier_has_its_own_end() -> None:
    """A continued time limit ends before those that were started earlier, and can be stopped."""

    async def scenario() -> list[tuple[str, float]]:
        late: asyncio.Queue[tuple[str, float]] = asyncio.Queue()
        deadlines = Deadlines[str](60.0, lambda who, due_s: late.put_nowait((who, due_s)))
        deadlines.start("a")
        now_s = asyncio.get_running_loop().time()
        dues = {who: now_s + after_s for who, after_s in AFTERS_S.items()}
        for who, due_s in dues.items():
            deadlines.start(who, due_s)
        deadlines.stop("d")
        result = [await late.get(), await late.get()]
        assert result == [("c", dues["c"]), ("b", dues["b"])]
        deadlines.close()
        return result

    assert asyncio.run(scenario())


def test_closing_forgets_those_too() -> None:
    """Whose time began earlier."""
    late: list[str] = []

    async def scenario() -> None:
        deadlines = Deadlines[str](60.0, lambda who, _: late.append(who))
        deadlines.start("a", asyncio.get_running_loop().time() + AFTER_S)
        deadlines.close()
        await asyncio.sleep(2 * AFTER_S)

    asyncio.run(scenario())
    assert late == []
