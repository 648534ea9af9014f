"""A time limit for code that might never end."""

from __future__ import annotations

import ctypes
import signal
from contextlib import contextmanager
from threading import Event, Timer, current_thread, get_ident, main_thread
from time import sleep
from typing import TYPE_CHECKING, Final, NoReturn

if TYPE_CHECKING:
    from collections.abc import Iterator

_AGAIN_S: Final = 0.1
"""What swallowed the exception gets it again after so long."""

_PATIENCE: Final = 100


class TimeUpError(BaseException):
    """The time is up. Not an `Exception`, so that the interrupted code does not catch the error."""


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """End the enclosed code after a time limit.

    In the main thread of a process, where graders run, the time is the CPU time of the process, so that the
    end does not depend on how busy a machine is, and arithmetic with huge numbers is ended too. In another
    thread it is the time of the clock, and only what runs as Python code is ended.

    Raises:
        TimeUpError: It has taken longer.
    """
    limited = _in_main_thread if current_thread() is main_thread() else _in_another
    with limited(seconds):
        yield


@contextmanager
def _in_main_thread(seconds: float) -> Iterator[None]:
    def up(_number: int, _frame: object) -> NoReturn:
        raise TimeUpError

    before = signal.signal(signal.SIGVTALRM, up)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, _AGAIN_S)
    try:
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    finally:  # once more, for the time may have been up just before
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _in_another(seconds: float) -> Iterator[None]:
    thread = ctypes.c_ulong(get_ident())
    rung = Event()

    def ring() -> None:
        rung.set()
        ctypes.pythonapi.PyThreadState_SetAsyncExc(thread, ctypes.py_object(TimeUpError))

    timer = Timer(seconds, ring)
    timer.daemon = True
    timer.start()
    arrived = False
    try:
        yield
    except TimeUpError:
        arrived = True
        raise
    finally:
        timer.cancel()
        timer.join()
        # What was thrown comes with one of the next instructions, and must not come later. It cannot be taken
        # back: CPython 3.11 would look for it without end.
        for _ in range(_PATIENCE if rung.is_set() and not arrived else 0):
            sleep(0)
