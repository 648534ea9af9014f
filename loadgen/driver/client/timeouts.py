"""Time limits of a plan, of one block of code, and of many requests at once."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from lazy_dataclasses import asdict, dataclass, replace

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Self


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each part of a request may take."""

    #: From the request's issue to the end of its response, all attempts and waits included.
    timeout_s: float = 600.0
    connect_timeout_s: float = 10.0  #: for looking the host up and both handshakes together (`TimeLimit`)
    first_byte_timeout_s: float | None = None  #: from the request's last byte to the response's first
    idle_timeout_s: float | None = None
    named: str = "--timeout"  #: the option that sets `timeout_s`, for messages

    @property
    def silences(self) -> Sequence[float]:
        """The limits on the silence of a server, in s."""
        limits = (self.first_byte_timeout_s, self.idle_timeout_s)
        return [limit for limit in limits if limit is not None]

    @property
    def too_late(self) -> str:
        """The message about a request without a response in time."""
        return f"no complete response within {self.timeout_s:g} s ({self.named})"

    def unconnected(self, where: str) -> str:
        """The message about a connection that was not opened in time; `where`: to host and port."""
        return f"no connection to {where} within {self.connect_timeout_s:g} s (--connect-timeout)"

    def within(self, timeout_s: float) -> Timeouts:
        """The timeouts with a smaller total."""
        return replace(self, timeout_s=min(timeout_s, self.timeout_s))

    def settings(self) -> Mapping[str, float | None]:
        """The timeouts for the log."""
        return {name: value for name, value in asdict(self).items() if name != "named"}

    def by_option(self) -> Mapping[str, float | None]:
        """The timeouts by option."""
        return {
            f"--{name.removesuffix('_s').replace('_', '-')}": value for name, value in self.settings().items()
        }


_T = TypeVar("_T")


class Deadlines(Generic[_T]):
    """Calls back for a request that is not done in time."""

    def __init__(self, after_s: float, on_expired: Callable[[_T, float], None]) -> None:
        self._after_s = after_s
        self._on_expired = on_expired
        self._due_s: dict[_T, float] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._apart: dict[_T, asyncio.TimerHandle] = {}

    def start(self, who: _T, due_s: float | None = None) -> None:
        """Start a request's time limit now, or continue one, on the event loop's clock."""
        if due_s is not None:
            self._apart[who] = asyncio.get_running_loop().call_at(due_s, self._expire_apart, who, due_s)
            return
        # The event loop's clock is CLOCK_MONOTONIC.
        due_s = self._due_s[who] = time.monotonic() + self._after_s
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(due_s, self._expire, loop)

    def after(self, begun_ns: int) -> float:
        """The end of the time limit of a request that began at a time, on the event loop's clock."""
        return begun_ns / 1e9 + self._after_s

    def stop(self, who: _T) -> None:
        """A request is done."""
        self._due_s.pop(who, None)
        if self._apart and (timer := self._apart.pop(who, None)) is not None:
            timer.cancel()

    def close(self) -> None:
        """Forget everybody."""
        self._due_s.clear()
        while self._apart:
            self._apart.popitem()[1].cancel()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _expire_apart(self, who: _T, due_s: float) -> None:
        del self._apart[who]
        self._on_expired(who, due_s)

    def _expire(self, loop: asyncio.AbstractEventLoop) -> None:
        # A timer of asyncio's may go off early by as much as its clock's resolution.
        now_s = loop.time() + 1e-6
        try:
            while self._due_s and next(iter(self._due_s.values())) <= now_s:
                who = next(iter(self._due_s))
                self._on_expired(who, self._due_s.pop(who))
        finally:
            due_s = next(iter(self._due_s.values()), None)
            self._timer = None if due_s is None else loop.call_at(due_s, self._expire, loop)


TICKS: Final = 16
"""The parts of a time limit: a process that is held up, however long, loses one of them."""


class TimeLimit:
    """Cancels a block of code after some time, and raises TimeoutError: `ticks` are of a part (`TICKS`)."""

    __slots__ = ("_before", "_is_over", "_left", "_task", "_ticks")

    def __init__(self, ticks: Deadlines[TimeLimit]) -> None:
        self._ticks = ticks
        self._left = TICKS
        self._is_over = False

    def __enter__(self) -> Self:
        self._task: Any = asyncio.current_task()
        self._before = self._task.cancelling()  # type: ignore[union-attr]  # who awaits is a task
        self._ticks.start(self)
        return self

    def __exit__(self, _: object, error: BaseException | None, trace: object) -> None:
        self._ticks.stop(self)
        was_over, self._is_over = self._is_over, True
        if was_over and self._task.uncancel() <= self._before and isinstance(error, asyncio.CancelledError):
            raise TimeoutError from error

    def end(self) -> None:
        """Cancel the block now, unless it is over."""
        if not self._is_over:
            self._is_over = True
            self._task.cancel()

    def tick(self, _: float) -> None:
        """Count a part of the time."""
        self._left -= 1
        if self._left:
            self._ticks.start(self)
        else:
            # After what has just arrived: its callbacks are first in the queue.
            self._task.get_loop().call_soon(self.end)
