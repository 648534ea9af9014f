"""Time limits on the silence of a server, which few runs have."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, NamedTuple, Protocol

from loadgen.driver.client.failure import Failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.timeouts import Timeouts

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
    """Detects silent servers, by at least one limit.

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
        self._shortest_ns = round(min(timeouts.silences) * _SECOND)
        self._listener = listener
        self._on_silent = on_silent
        self._timers: dict[Exchange, asyncio.TimerHandle] = {}

    def start(self, exchange: Exchange) -> None:
        """Begin to look after a request."""
        self._look_at(exchange, time.monotonic_ns() + self._shortest_ns)

    def start_again(self, exchange: Exchange) -> None:
        """Restart the limit for a repeated request."""
        self.stop(exchange)
        self.start(exchange)

    def stop(self, exchange: Exchange) -> None:
        """Stop the limit of an ended request."""
        if (timer := self._timers.pop(exchange, None)) is not None:
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
