"""Requests to stop a session: the first starts the drain, the second cancels requests in flight."""

from __future__ import annotations

import asyncio
import signal
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final, TypeVar

from loadgen.driver.errors import StoppedEarlyError
from loadgen.driver.system.signals import ENDING, run_async

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

Result = TypeVar("Result")

DRAIN_OVER: Final = "drain_over"
OVERLOADED: Final = "overloaded"
GATE_LOST: Final = "gate_lost"
ERROR_BUDGET: Final = "error_budget"
"""The reasons of early ends, and the codes of the findings on them."""


class Stop:
    """The request to stop."""

    def __init__(self) -> None:
        #: Why it stops: `interrupted`, or the name of a condition such as a spent budget.
        self.reason: str | None = None
        self.draining = asyncio.Event()  #: set: issue nothing more, await requests in flight
        self.aborting = asyncio.Event()  #: set: cancel requests in flight too
        #: Set: a user or a signal has asked, not only a condition of the session.
        self.asked = asyncio.Event()

    def ask(self) -> None:
        """Ask to stop; a second call aborts."""
        if self.draining.is_set():
            self.aborting.set()
        self.asked.set()
        self.drain("interrupted")

    def drain(self, reason: str) -> None:
        """Let the session drain; the first reason counts."""
        self.reason = self.reason or reason
        self.draining.set()

    def from_any_thread(self) -> Callable[[], None]:
        """`ask` for use from any thread, on the running loop; without effect once the loop is closed."""
        loop = asyncio.get_running_loop()

        def ask() -> None:
            with suppress(RuntimeError):  # the loop is closed: the session has ended
                loop.call_soon_threadsafe(self.ask)

        return ask

    def on_failure(self) -> Callable[[Exception], None]:
        """Abort from the writer's thread, where nothing can be recorded any more."""
        ask = self.from_any_thread()

        def abort(_: Exception) -> None:
            ask()
            ask()

        return abort

    async def unless_asked(self, work: Coroutine[Any, Any, Result]) -> Result:
        """Await work that a request to stop cancels at once, to raise `StoppedEarlyError`."""
        task, asked = asyncio.create_task(work), asyncio.create_task(self.asked.wait())
        await asyncio.wait([task, asked], return_when=asyncio.FIRST_COMPLETED)
        for waiting in (task, asked):
            waiting.cancel()
        await asyncio.gather(task, asked, return_exceptions=True)
        if self.asked.is_set():
            raise StoppedEarlyError
        return task.result()

    @contextmanager
    def on_signals(self) -> Iterator[None]:
        """Let SIGINT, SIGTERM and SIGHUP request a stop; an ignored one (`nohup`) stays ignored.

        Outside the main thread signals stay with the program, which calls `ask` itself.
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


def run_unless_interrupted(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """Run work without a session in a new event loop; any of the signals cancels the work.

    Raises:
        StoppedEarlyError: A signal came.
        KeyboardInterrupt: SIGINT came before the loop ran.
    """
    return run_async(lambda: _unless_interrupted(work))


async def _unless_interrupted(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    stop = Stop()
    with stop.on_signals():
        return await stop.unless_asked(work())
