"""Time limits of a plan, of one block of code, and of many requests at once."""

from __future__ import annotations

import asyncio
import time
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Final, Generic, NamedTuple, Protocol, TypeVar

from loadgen.driver.client.failure import Failure

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping

    from loadgen.driver.client.exchange import Exchange


@dataclass(frozen=True, slots=True)
class Timeouts:
    """How long each part of a request may take."""

    #: From the request's issue to the end of its response, all attempts and waits included.
    timeout_s: float = 600.0
    connect_timeout_s: float = 10.0  #: for looking the host up and both handshakes together (`time_limit`)
    first_byte_timeout_s: float | None = None  #: from the request's last byte to the response's first
    idle_timeout_s: float | None = None
    named: str = "--timeout"  #: the option that sets `timeout_s`, for messages

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


_TICKS: Final = 16


@asynccontextmanager
async def time_limit(seconds: float) -> AsyncIterator[None]:
    """Cancel the block after this time, and raise TimeoutError."""
    async with asyncio.timeout(None) as limit:
        ticks = _Ticks(limit, seconds / _TICKS)
        try:
            yield
        finally:
            ticks.stop()


class _Ticks:
    def __init__(self, limit: asyncio.Timeout, length_s: float) -> None:
        self._loop = asyncio.get_running_loop()
        self._limit = limit
        self._length_s = length_s
        self._left = _TICKS
        self._next = self._loop.call_later(length_s, self._tick)

    def stop(self) -> None:
        self._next.cancel()

    def _tick(self) -> None:
        self._left -= 1
        if self._left:
            self._next = self._loop.call_later(self._length_s, self._tick)
        else:
            # After what has just arrived: its callbacks are first in the queue.
            self._limit.reschedule(self._loop.time())


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
        """Start or continue a request's time limit, on the event loop's clock."""
        if due_s is not None:
            self._apart[who] = asyncio.get_running_loop().call_at(due_s, self._expire_apart, who, due_s)
            return
        # The event loop's clock is CLOCK_MONOTONIC.
        due_s = self._due_s[who] = time.monotonic() + self._after_s
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_at(due_s, self._expire, loop)

    def due_s(self, who: _T) -> float:
        """The end of a request's time limit, on the event loop's clock; now, if already past."""
        if (timer := self._apart.get(who)) is not None:
            return timer.when()
        return self._due_s.get(who) or asyncio.get_running_loop().time()

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
        self._timer = None
        while self._due_s:
            who, due_s = next(iter(self._due_s.items()))
            if due_s > now_s:
                self._timer = loop.call_at(due_s, self._expire, loop)
                return
            del self._due_s[who]
            self._on_expired(who, due_s)


_SECOND = 1_000_000_000

_EARLY_NS = 1_000
"""A timer of asyncio's may go off early by as much as its clock's resolution."""


class Listener(Protocol):
    """The reader of a response."""

    @property
    def heard_ns(self) -> int:
        """The arrival of the last bytes, within the body the last body bytes; 0 before the first."""

    def read_on(self) -> None:
        """Read and parse the socket's data, without waiting for a turn."""


class Silence(NamedTuple):
    """A server said nothing for too long."""

    failure: Failure
    message: str
    due_ns: int


class SilenceTimeouts:
    """Detects silent servers. Without a limit it costs nothing.

    A stamp is that of the last byte of a read. So whatever has arrived when this process gets round to look
    is a sign of life, though its stamp may be after the time was over: our delay is not blamed on the server.

    Trailers, and whatever else is not part of the body, do not count.
    """

    def __init__(
        self,
        timeouts: Timeouts,
        listener: Callable[[Exchange], Listener | None],
        on_silent: Callable[[Exchange, Silence], None],
    ) -> None:
        self._first_byte_timeout_s = timeouts.first_byte_timeout_s
        self._idle_timeout_s = timeouts.idle_timeout_s
        limits = [
            limit for limit in (timeouts.first_byte_timeout_s, timeouts.idle_timeout_s) if limit is not None
        ]
        self._shortest_ns = round(min(limits) * _SECOND) if limits else None
        self._listener = listener
        self._on_silent = on_silent
        self._timers: dict[Exchange, asyncio.TimerHandle] = {}

    def start(self, exchange: Exchange) -> None:
        """Begin to look after a request."""
        if self._shortest_ns is not None:
            self._look_at(exchange, time.monotonic_ns() + self._shortest_ns)

    def start_again(self, exchange: Exchange) -> None:
        """Restart the limit for a repeated request."""
        self.stop(exchange)
        self.start(exchange)

    def stop(self, exchange: Exchange) -> None:
        """Stop the limit of an ended request."""
        if self._shortest_ns is not None and (timer := self._timers.pop(exchange, None)) is not None:
            timer.cancel()

    def close(self) -> None:
        """Forget everybody."""
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    def _look_at(self, exchange: Exchange, moment_ns: int) -> None:
        loop = asyncio.get_running_loop()
        # The event loop's clock is CLOCK_MONOTONIC.
        self._timers[exchange] = loop.call_at(moment_ns / _SECOND, self._look, exchange)

    def _look(self, exchange: Exchange) -> None:
        listener = self._listener(exchange)
        if listener is not None:
            listener.read_on()
        silence = self._silence(exchange, listener)
        if silence is not None and self._is_due(silence):
            del self._timers[exchange]
            self._on_silent(exchange, silence)
            return
        assert self._shortest_ns is not None  # noqa: S101 (else no timer runs)
        later_ns = time.monotonic_ns() + self._shortest_ns
        self._look_at(exchange, later_ns if silence is None else min(silence.due_ns, later_ns))

    def _is_due(self, silence: Silence) -> bool:
        return silence.due_ns <= time.monotonic_ns() + _EARLY_NS

    def _silence(self, exchange: Exchange, listener: Listener | None) -> Silence | None:
        """The upcoming silence of a request; None while none is possible, or without a limit."""
        heard_ns = listener.heard_ns if listener is not None else 0
        if heard_ns:
            if self._idle_timeout_s is None:
                return None
            message = f"the response paused for {self._idle_timeout_s:g} s (--idle-timeout)"
            return Silence(Failure.IDLE_TIMEOUT, message, heard_ns + round(self._idle_timeout_s * _SECOND))
        if self._first_byte_timeout_s is None or exchange.sent_ns is None:
            return None
        message = f"no byte of a response within {self._first_byte_timeout_s:g} s (--first-byte-timeout)"
        due_ns = exchange.sent_ns + round(self._first_byte_timeout_s * _SECOND)
        return Silence(Failure.FIRST_BYTE_TIMEOUT, message, due_ns)
