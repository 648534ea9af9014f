"""The measured transport: keep-alive connections over sockets that know when bytes arrived."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING, ClassVar, Final

from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.dialing import Dialer, refused
from loadgen.driver.client.exchange import Setup
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.timeouts import Deadlines, Silence, SilenceTimeouts
from loadgen.driver.client.wire_connection import WireConnection, WireLoop
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.connection import Connection
    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.ready import Ready
    from loadgen.driver.client.timeouts import Timeouts

    AnyConnection = Connection | WireConnection

_REUSED: Final = Setup(reused=True)
_SECOND: Final = 1_000_000_000
_DIALS_AT_ONCE: Final = 64
"""How many connections are opened at a time ahead of the load: few servers listen with a longer queue."""


class HttpTransport:
    """Sends requests to one endpoint.

    Connections are opened as they are needed and kept; the one used last is used first. A request whose kept
    connection ends without a byte of a response (`may_have_crossed`) is sent once more, on a new one, and the
    exchange's `setup` says so (RFC 9112, 9.3.1): generating an answer changes nothing on the server, so this
    holds for POST too. Nothing else is retried.
    """

    #: Whether plain connections are read in compiled code; TLS always is in Python.
    compiled: ClassVar[bool] = COMPILED

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self.endpoint = endpoint
        self._too_late = timeouts.too_late
        self._idle: list[AnyConnection] = []
        self._unasked = 0
        self._carriers: dict[Exchange, AnyConnection] = {}
        self._dialer = Dialer(endpoint, timeouts)
        self._reader: Ready | WireLoop | None = None
        in_c = self.compiled and endpoint.scheme == "http"
        self._interpreted = None if in_c else _interpreted_connection()
        self._deadlines: Deadlines[Exchange] = Deadlines(timeouts.timeout_s, self._late)
        self._silence = SilenceTimeouts(timeouts, self._carriers.get, self._silent)

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished, which a cancelled one never is."""
        data = self.endpoint.http1(request)
        connection: AnyConnection | None = None
        self._deadlines.start(exchange, exchange.due_s)
        self._silence.start(exchange)
        try:
            connection, exchange.setup = self._idle_connection() or await self._dialed(exchange)
            if self._begin(data, exchange, connection):
                await exchange.finished
            if connection.stale and exchange.setup.reused:
                exchange.again()
                self._silence.start_again(exchange)
                connection, exchange.setup = await self._dialed(exchange, retried=True)
                if self._begin(self.endpoint.http1(request.resent()), exchange, connection):
                    await exchange.finished
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        finally:
            self._deadlines.stop(exchange)
            self._silence.stop(exchange)
            if connection is not None:
                self._carriers.pop(exchange, None)
                self._release(connection, exchange)

    def _begin(self, data: bytes, exchange: Exchange, connection: AnyConnection) -> bool:
        """Start a request on a connection, unless the time limit has passed."""
        if exchange.ended_ns is not None:
            return False
        self._carriers[exchange] = connection
        connection.request(data, exchange)
        return True

    async def open_ahead(self, connections: int) -> None:
        """Open connections for the next requests; the request that lacks one will say why."""
        left = deque(range(connections))

        async def dial() -> None:
            while left:
                left.popleft()
                try:
                    connection, _ = await self._open()
                except RequestFailedError:
                    return
                self._idle.append(connection)

        await asyncio.gather(*(dial() for _ in range(min(connections, _DIALS_AT_ONCE))))

    async def caught_up(self) -> int | None:
        """Take all received data for the exchanges; return the moment up to which data was taken."""
        # Without connections, nothing can have arrived.
        return time.monotonic_ns() if self._reader is None else await self._reader.caught_up()

    async def close(self) -> None:
        """Close the idle connections."""
        self._deadlines.close()
        self._silence.close()
        while self._idle:
            self._idle.pop().close()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _late(self, exchange: Exchange, due_s: float) -> None:
        # The event loop's clock is CLOCK_MONOTONIC.
        self._give_up(exchange, Failure.TOTAL_TIMEOUT, self._too_late, round(due_s * _SECOND))

    def _silent(self, exchange: Exchange, silence: Silence) -> None:
        self._give_up(exchange, *silence)

    def _give_up(self, exchange: Exchange, failure: Failure, message: str, due_ns: int) -> None:
        """End a request after the time limit; received data counts, and may be a whole response."""
        exchange.deadline_ns = due_ns
        if carrier := self._carriers.get(exchange):
            carrier.read_on()
        exchange.failed(failure, message, due_ns)

    def _release(self, connection: AnyConnection, exchange: Exchange) -> None:
        is_whole = exchange.ended_ns is not None and exchange.failure is None
        if is_whole and connection.reusable and self.endpoint.keep_alive:
            self._idle.append(connection)
            exchange.drop_connection = connection.close_if_idle
        else:
            connection.close()
            self._unasked += connection.unasked

    def _idle_connection(self) -> tuple[AnyConnection, Setup] | None:
        """A connection from an earlier request, if one is left that the server has not closed."""
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and not connection.is_stale():
                return connection, self._noting_unasked(_REUSED) if self._unasked else _REUSED
            connection.close()
            self._unasked += connection.unasked
        return None

    async def _dialed(self, exchange: Exchange, *, retried: bool = False) -> tuple[AnyConnection, Setup]:
        """A new connection."""
        try:
            async with asyncio.timeout_at(self._deadlines.due_s(exchange)):
                connection, setup = await self._open()
        except TimeoutError:
            raise RequestFailedError(Failure.TOTAL_TIMEOUT, self._too_late) from None
        return connection, self._noting_unasked(replace(setup, retried=True) if retried else setup)

    def _noting_unasked(self, setup: Setup) -> Setup:
        """The set-up of a request, with the number of unasked responses since the request before."""
        if not self._unasked:
            return setup
        unasked, self._unasked = self._unasked, 0
        return replace(setup, unasked=unasked)

    async def _open(self) -> tuple[AnyConnection, Setup]:
        if self._reader is None:
            self._reader = self._new_reader()
        if isinstance(self._reader, WireLoop):
            sock, _, setup = await self._dialer.dial(self._reader.connect)
            return WireConnection(sock, self._reader), setup
        assert self._interpreted is not None  # noqa: S101 (else the reader is a WireLoop)
        sock, tls, setup = await self._dialer.dial()
        return self._interpreted[0](sock, tls, self._reader), setup

    def _new_reader(self) -> Ready | WireLoop:
        try:
            return WireLoop() if self._interpreted is None else self._interpreted[1]()
        except OSError as error:
            raise refused(error, self._dialer.where) from error


def _interpreted_connection() -> tuple[type[Connection], Callable[[], Ready]]:
    """The interpreted connection and reader: for TLS, and without the compiled loop."""
    from loadgen.driver.client.connection import Connection
    from loadgen.driver.client.ready import ready

    return Connection, ready


class InterpretedTransport(HttpTransport):
    """The transport with all I/O in Python: for platforms without the compiled loop, and for comparison."""

    compiled = False
