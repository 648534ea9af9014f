"""A timer with a file descriptor (timerfd, Linux): wakes an epoll with microsecond precision.

`epoll` itself counts in milliseconds. Python has had `os.timerfd_create` since 3.13 only.
"""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import suppress
from typing import Final

_SECOND: Final = 1_000_000_000
_ABSOLUTE: Final = 1


class _Timespec(ctypes.Structure):
    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


class _Timer(ctypes.Structure):
    _fields_ = (("interval", _Timespec), ("value", _Timespec))


class TimerFd:
    """Becomes readable at a moment of CLOCK_MONOTONIC.

    Attributes:
        fd: The descriptor.
    """

    def __init__(self) -> None:
        libc = ctypes.CDLL(None, use_errno=True)
        self.fd: int = libc.timerfd_create(time.CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self.fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._settime = libc.timerfd_settime
        self._timer = _Timer()
        self._moment = self._timer.value
        self._timer_at = ctypes.byref(self._timer)

    def set(self, at_ns: int) -> None:
        """Be readable from a moment on, and not before; 0 is never."""
        self._moment.seconds, self._moment.nanoseconds = divmod(at_ns, _SECOND)
        if self._settime(self.fd, _ABSOLUTE, self._timer_at, None) < 0:
            raise OSError(ctypes.get_errno(), "timerfd_settime")

    def has_gone_off(self) -> bool:
        """Whether the timer has expired; true once. The timer may have been set again meanwhile."""
        with suppress(BlockingIOError):
            os.read(self.fd, 8)
            return True
        return False

    def close(self) -> None:
        """Close the descriptor."""
        os.close(self.fd)
