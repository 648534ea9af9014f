"""Reads first, the rest bit by bit; and no bug in one stops the others."""

from __future__ import annotations

import asyncio
import socket
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import ready as module
from loadgen.driver.system.linux import LINUX

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

READIES = [module.Ready, *([module.EpollReady] if LINUX else [])]


def run_quietly(scenario: Coroutine[Any, Any, Any]) -> tuple[Any, list[dict[str, Any]]]:
    """Run a scenario; its result, and what the event loop had to complain of."""
    complaints: list[dict[str, Any]] = []

    async def watched() -> Any:
        asyncio.get_running_loop().set_exception_handler(lambda _, context: complaints.append(context))
        async with asyncio.timeout(60):
            return await scenario

    return asyncio.run(watched()), complaints


@pytest.mark.parametrize("make", READIES)
def test_what_was_put_off_is_done_in_order_whatever_happens(make: Callable[[], module.Ready]) -> None:
    """A piece of work that fails is reported, and the others are done all the same."""

    async def scenario() -> list[int]:
        done: list[int] = []
        over = asyncio.Event()
        ready = make()
        for number in range(100):
            ready.put_off(lambda number=number: done.append(number // (number - 7) and number))
        ready.put_off(over.set)
        await over.wait()
        ready.close()
        return done

    done, complaints = run_quietly(scenario())
    assert [number for number in done if number > 7] == list(range(8, 100))
    assert len(done) == 99
    assert [type(complaint["exception"]) for complaint in complaints] == [ZeroDivisionError]


@pytest.mark.skipif(
    not LINUX,
    reason="tests EpollReady, which needs epoll and a timerfd: only Linux has them",
)
def test_who_rests_is_woken_although_a_reader_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    """Under much traffic a timer asks the epoll, and asks it again after a bug."""
    monkeypatch.setattr(module, "MUCH", 1)
    monkeypatch.setattr(module, "LITTLE", -1)
    monkeypatch.setattr(module, "_WINDOW_NS", 0)

    async def scenario() -> tuple[bool, int]:
        ours, theirs = socket.socketpair()
        ours.settimeout(0)
        ready = module.EpollReady()
        reads = 0
        enough = asyncio.Event()

        def read() -> None:
            nonlocal reads
            ours.recv(1)
            reads += 1
            if reads == 6:
                enough.set()
            if reads in (2, 3):
                raise ZeroDivisionError

        ready._since_ns = module.time.monotonic_ns() + 10**9
        ready.watch(ours.fileno(), read)
        theirs.send(b"......")
        ready._rests = True
        ready._loop.remove_reader(ready._epoll.fileno())
        ready._timer.set(1)
        await enough.wait()
        rests = ready._rests
        ready.forget(ours.fileno())
        ready.close()
        ours.close()
        theirs.close()
        return rests, reads

    (rests, reads), complaints = run_quietly(scenario())
    assert (rests, reads) == (True, 6)
    assert len(complaints) == 2


@pytest.mark.skipif(not LINUX, reason="tests EpollReady, which needs epoll: only Linux has it")
def test_who_has_caught_up_has_read_what_had_arrived() -> None:
    """And has done with it what is done with it later."""

    async def scenario() -> None:
        ready, done = module.EpollReady(), list[bytes]()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            ours.settimeout(0)
            ready.watch(ours.fileno(), lambda: ready.put_off(partial(done.append, ours.recv(100))))
            for number in range(20):
                theirs.send(b"%d" % number)
                sent_ns = time.monotonic_ns()
                until_ns = await ready.caught_up()
                assert until_ns is not None
                assert sent_ns < until_ns < time.monotonic_ns()
                assert done.pop() == b"%d" % number
            ready.forget(ours.fileno())
        ready.close()

    run_quietly(scenario())


@pytest.mark.skipif(not LINUX, reason="tests EpollReady, which needs epoll: only Linux has it")
def test_who_has_left_something_has_not_caught_up() -> None:
    """The moment stays that of the last turn that has read everything."""

    async def scenario() -> None:
        ready = module.EpollReady()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            before_ns = await ready.caught_up()
            ready.watch(ours.fileno(), ready.left_unread)
            theirs.send(b"more than is read at once")
            assert await ready.caught_up() == before_ns
            ready.forget(ours.fileno())
        ready.close()

    run_quietly(scenario())
