"""Signals that end a run, short deferrals of such signals, and event loops that survive an interrupt."""

from __future__ import annotations

import signal
import threading
from contextlib import ExitStack, closing, contextmanager
from typing import TYPE_CHECKING, Any, Final, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator

ENDING: Final = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""A terminal sends them to everybody, but only the parent says what they mean."""


@contextmanager
def blocked() -> Iterator[None]:
    """Block the signals in this thread for a moment: a process started meanwhile keeps them blocked."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextmanager
def deferred() -> Iterator[None]:
    """Defer the signals to the end of the block, in all threads, so that the block completes."""
    if threading.current_thread() is not threading.main_thread():
        # Python hears signals in its main thread alone.
        yield
        return
    came: list[int] = []
    before: dict[int, Any] = {
        number: handler for number in ENDING if (handler := signal.getsignal(number)) is not signal.SIG_IGN
    }
    for number in before:
        signal.signal(number, lambda heard, _: came.append(heard))
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler or signal.SIG_DFL)
        for number in came:
            signal.raise_signal(number)


Result = TypeVar("Result")


def run_async(work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
    """`asyncio.run`, but an interrupt cannot leave a half-made event loop or warn of work that never began.

    Such a loop has no attributes to be closed with: its destructor would print a traceback.
    """
    import asyncio  # not on `--help`

    with ExitStack() as ends:
        with deferred():
            runner = ends.enter_context(closing(asyncio.Runner()))
            runner.get_loop()
            begun = ends.enter_context(closing(work()))
        return runner.run(begun)
