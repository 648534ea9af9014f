"""How a session is asked to stop: once, it drains; twice, it gives up what is in flight."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from loadgen.driver.errors import StoppedEarlyError
from loadgen.driver.system.signals import ENDING

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator

Result = TypeVar("Result")


class Stop:
    """The request to stop.

    Attributes:
        reason: Why, once it was asked: `interrupted`, or what else has come to pass.
        draining: Set: issue nothing more, await what is in flight.
        aborting: Set: give up what is in flight as well.
        asked: Set: somebody has asked, and it is not only that something has come to pass.
    """

    def __init__(self) -> None:
        self.reason: str | None = None
        self.draining = asyncio.Event()
        self.aborting = asyncio.Event()
        self.asked = asyncio.Event()

    def ask(self) -> None:
        """Ask to stop; while it stops already, at once."""
        if self.draining.is_set():
            self.aborting.set()
        self.asked.set()
        self.drain("interrupted")

    def drain(self, reason: str) -> None:
        """Have the session end in order; the first reason is the one that counts."""
        self.reason = self.reason or reason
        self.draining.set()

    async def unless_asked(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await work that has nothing to end in order: it is given up as soon as somebody asks to stop.

        Raises:
            StoppedEarlyError: Somebody has.
        """
        task, asked = asyncio.create_task(work), asyncio.create_task(self.asked.wait())
        await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
        for one in (task, asked):
            one.cancel()
        await asyncio.gather(task, asked, return_exceptions=True)
        if self.asked.is_set():
            raise StoppedEarlyError
        return task.result()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP ask; one that is ignored (`nohup`) stays so.

        In another thread than the main one signals stay with the program, which calls `ask` itself.
        """
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        loop = asyncio.get_running_loop()
        before = {number: signal.getsignal(number) for number in ENDING}
        heard = [number for number, handler in before.items() if handler is not signal.SIG_IGN]
        for number in heard:
            loop.add_signal_handler(number, self.ask)
        try:
            yield
        finally:
            for number in heard:
                loop.remove_signal_handler(number)
                signal.signal(number, before[number])


async def unless_interrupted(work: Coroutine[Any, Any, Result]) -> Result:
    """Await work without a session; any of the signals ends it.

    Raises:
        StoppedEarlyError: One has.
    """
    stop = Stop()
    with stop.on_signals():
        return await stop.unless_asked(work)
