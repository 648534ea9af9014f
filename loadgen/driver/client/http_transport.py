"""The measured transport: keep-alive connections over sockets that know when bytes arrived."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Final

from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.dialing import Dialer, loop_connect, refused
from loadgen.driver.client.exchange import REUSED, Setup
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.plain_request import PlainRequest, PlainStart
from loadgen.driver.client.timeouts import Deadlines, TimeLimit
from loadgen.driver.client.wire_connection import WireConnection, WireLoop
from loadgen.driver.errors import RequestFailedError
from recorder.schema import row
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.connection import Connection
    from loadgen.driver.client.endpoint import Endpoint, Request
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.plain_protocols import NextTurns
    from loadgen.driver.client.ready import Ready
    from loadgen.driver.client.silence_timeouts import Silence, SilenceTimeouts
    from loadgen.driver.client.timeouts import Timeouts
    from recorder.schema import Row

    AnyConnection = Connection | WireConnection

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

    #: Whether compiled code reads connections, those by TLS where it can (`tls.is_compiled`).
    compiled: ClassVar[bool] = COMPILED

    def __init__(self, endpoint: Endpoint, timeouts: Timeouts) -> None:
        self.endpoint = endpoint
        self._too_late = timeouts.too_late
        self._idle: list[AnyConnection] = []
        self._unasked = 0
        self._carriers: dict[Exchange, AnyConnection] = {}
        self._dials: dict[Exchange, TimeLimit] = {}
        self._opened: dict[Exchange, tuple[AnyConnection, Setup]] = {}
        self._dialer = Dialer(endpoint, timeouts)
        self._reader: Ready | WireLoop | None = None
        in_c = self.compiled and self._dialer.in_c
        self._interpreted = None if in_c else _interpreted_connection(endpoint.scheme)
        self._deadlines: Deadlines[Exchange | PlainRequest] = Deadlines(timeouts.timeout_s, self._late)
        self._silence: SilenceTimeouts | None = None
        if timeouts.silences:
            from loadgen.driver.client.silence_timeouts import SilenceTimeouts

            self._silence = SilenceTimeouts(timeouts, self._carriers.get, self._silent)
        self._taught = 0
        self._relay: NextTurns | None = None
        self._relaying: tuple[int, int] | None = None

    def plain(self, start: PlainStart) -> PlainRequest | None:
        """Send a request that compiled code follows, or return None; `send` follows a resumed exchange."""
        if self._unasked or self._silence is not None or not (self._idle and start.shapes.version):
            return None
        connection = self._idle[-1]
        members = start.turn.sent_members
        plain = self._plain(start, connection, row(start.issued), members) if connection.reusable else None
        if plain is not None:
            self._idle.pop()
        return plain

    def dials_plain(self, start: PlainStart) -> bool:
        """Whether a request needs a new connection, where compiled code can follow it (`plain_dialed`)."""
        is_usual = not (self._idle or self._unasked) and self._silence is None
        return is_usual and start.shapes.version > 0 and type(self._reader) is WireLoop

    async def plain_dialed(
        self, start: PlainStart, exchange: Exchange, members: Callable[[], str]
    ) -> PlainRequest | None:
        """Send a request on a new connection, as `plain` does; return None where `send` goes on.

        The `exchange` has the time limit and the setup of the connection, and its failure; `members` makes
        those of the event of the sending.
        """
        assert isinstance(self._reader, WireLoop)  # noqa: S101 (`dials_plain` has looked)
        self._reader.wire.issued(row(start.issued))
        self._deadlines.start(exchange)
        try:
            opened = connection, exchange.setup = await self._dialed(exchange)
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
            return None
        finally:
            self._deadlines.stop(exchange)
        plain, without_row = None, (0, *start.issued[1:3], None, None, None)
        if exchange.ended_ns is None:
            plain = self._plain(start, connection, without_row, members(), exchange.setup)
        if plain is None:
            self._opened[exchange] = opened
        return plain

    def _plain(
        self, start: PlainStart, connection: AnyConnection, issued: Row, members: str, setup: Setup = REUSED
    ) -> PlainRequest | None:
        reader, relay = self._reader, None if start.answers else self._relay
        if type(connection) is not WireConnection or type(reader) is not WireLoop:
            return None
        if self._taught != start.shapes.version:
            self._taught = start.shapes.version
            reader.wire.teach(start.shapes.source())
        over = partial(self._plain_over, connection)
        plain = PlainRequest(start, connection, over, relay, reader.loop, setup)
        data, relays = self.endpoint.http1(start.turn.request), relay is not None
        if not connection.plain(data, issued, members, plain, answers=start.answers, relays=relays):
            return None
        self._deadlines.start(plain, None if setup.reused else self._deadlines.after(plain.issued_ns))
        if not plain.sent_ns:
            plain.give_up()
        elif relay is not None:
            relay.sent()
        return plain

    def begin_relay(self, relay: NextTurns, until_ns: int, few: int) -> None:
        """Have prepared requests leave where plain ones end, until a moment; with `few` left, wake Python."""
        self._relay, self._relaying = relay, (until_ns, few)

    def prepare(self, ticket: int, request: Request, *row_parts: Any) -> bool:
        """Prepare a request of a relay; tell whether the request can leave where a plain one ends."""
        assert isinstance(self._reader, WireLoop)  # noqa: S101 (a plain request has been sent)
        if self._relaying is not None:
            self._reader.wire.relay(*self._relaying)
            self._reader.relay(self._relay)
            self._relaying = None
        return self._reader.wire.prepare(ticket, self.endpoint.http1(request), *row_parts)

    def withdraw(self) -> int | None:
        """Take the first prepared request back; return the ticket, or None."""
        return self._reader.wire.withdraw() if isinstance(self._reader, WireLoop) else None

    def end_relay(self) -> None:
        """Count the requests that have left by the relay; the rest is withdrawn."""
        if isinstance(self._reader, WireLoop):
            self._reader.deliver(0)
            self._reader.relay(None)
        self._relay = None

    def abandon(self, plain: PlainRequest) -> Exchange | None:
        """Give a plain request up; return an exchange with what has arrived, or None after the end."""
        if (exchange := plain.give_up()) is not None:
            self._carriers.pop(exchange).close()
        return exchange

    def _plain_over(self, connection: WireConnection, plain: PlainRequest) -> None:
        """Keep the connection of a request that ended, or let the exchange have it."""
        if (exchange := plain.exchange) is None:
            self._idle.append(connection)
        else:
            exchange.due_s = self._deadlines.after(plain.issued_ns)
            self._carriers[exchange] = connection
        self._deadlines.stop(plain)

    def plain_rows(self, kind: int) -> tuple[bytes, int] | None:
        """The rows of plain requests, as a worker's message of a kind, and how many; None without any."""
        return self._reader.wire.rows(kind) if isinstance(self._reader, WireLoop) else None

    async def send(self, request: Request, exchange: Exchange) -> None:
        """Send one request; return when the exchange is finished, which a cancelled one never is."""
        connection = self._carriers.get(exchange)
        self._deadlines.start(exchange, exchange.due_s)
        if self._silence is not None:
            self._silence.start(exchange)
        try:
            if connection is not None:
                await exchange.finished  # it goes on from a plain request
            else:
                data = self.endpoint.http1(request)
                connection, exchange.setup = await self._connection(exchange)
                if self._begin(data, exchange, connection):
                    await exchange.finished
            if connection.stale and exchange.setup is not None and exchange.setup.reused:
                exchange.again()
                if self._silence is not None:
                    self._silence.start_again(exchange)
                connection, exchange.setup = await self._dialed(exchange, retried=True)
                if self._begin(self.endpoint.http1(request.resent()), exchange, connection):
                    await exchange.finished
        except RequestFailedError as error:
            exchange.failed(error.failure, str(error), time.monotonic_ns())
        finally:
            self._deadlines.stop(exchange)
            if self._silence is not None:
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
        if self._silence is not None:
            self._silence.close()
        while self._idle:
            self._idle.pop().close()
        if self._reader is not None:
            self._reader.close()
            self._reader = None

    def _late(self, late: Exchange | PlainRequest, due_s: float) -> None:
        # The event loop's clock is CLOCK_MONOTONIC.
        if not isinstance(late, PlainRequest):
            self._give_up(late, Failure.TOTAL_TIMEOUT, self._too_late, round(due_s * _SECOND))
            return
        ticket, issued_ns, _ = late.connection.relayed()
        due_s = self._deadlines.after(issued_ns or late.issued_ns)
        if due_s > time.monotonic():
            self._deadlines.start(late, due_s)  # the connection carries a later request
            return
        late.deadline = ticket, round(due_s * _SECOND)
        exchange = late.give_up()
        if exchange is not None and late.ticket == ticket:
            self._give_up(exchange, Failure.TOTAL_TIMEOUT, self._too_late, late.deadline[1])

    def _silent(self, exchange: Exchange, silence: Silence) -> None:
        self._give_up(exchange, *silence)

    def _give_up(self, exchange: Exchange, failure: Failure, message: str, due_ns: int) -> None:
        """End a request after the time limit; received data counts, and may be a whole response."""
        exchange.deadline_ns = due_ns
        if carrier := self._carriers.get(exchange):
            carrier.read_on()
        exchange.failed(failure, message, due_ns)
        if limit := self._dials.get(exchange):
            limit.end()

    def _release(self, connection: AnyConnection, exchange: Exchange) -> None:
        is_whole = exchange.ended_ns is not None and exchange.failure is None
        if is_whole and connection.reusable and self.endpoint.keep_alive:
            self._idle.append(connection)
            exchange.drop_connection = connection.close_if_idle
        else:
            connection.close()
            self._unasked += connection.unasked

    async def _connection(self, exchange: Exchange) -> tuple[AnyConnection, Setup]:
        if exchange.failure is not None:
            raise RequestFailedError(exchange.failure, exchange.message)  # `plain_dialed` could open none
        return self._opened.pop(exchange, None) or self._idle_connection() or await self._dialed(exchange)

    def _idle_connection(self) -> tuple[AnyConnection, Setup] | None:
        """A connection from an earlier request, if one is left that the server has not closed."""
        while self._idle:
            connection = self._idle.pop()
            if connection.reusable and not connection.is_stale():
                return connection, self._noting_unasked(REUSED) if self._unasked else REUSED
            connection.close()
            self._unasked += connection.unasked
        return None

    async def _dialed(self, exchange: Exchange, *, retried: bool = False) -> tuple[AnyConnection, Setup]:
        """A new connection."""
        limit = self._dials[exchange] = TimeLimit(self._dialer.ticks)
        try:
            connection, setup = await self._open(limit)
        finally:
            del self._dials[exchange]
        return connection, self._noting_unasked(replace(setup, retried=True) if retried else setup)

    def _noting_unasked(self, setup: Setup) -> Setup:
        """The set-up of a request, with the number of unasked responses since the request before."""
        if not self._unasked:
            return setup
        unasked, self._unasked = self._unasked, 0
        return replace(setup, unasked=unasked)

    async def _open(self, limit: TimeLimit | None = None) -> tuple[AnyConnection, Setup]:
        if self._reader is None:
            self._reader = self._new_reader()
        if isinstance(self._reader, WireLoop):
            connect = self._reader.connect if self._dialer.tls is None else loop_connect
            sock, tls, setup = await self._dialer.dial(connect, limit)
            return WireConnection(sock, self._reader, tls), setup
        assert self._interpreted is not None  # noqa: S101 (else the reader is a WireLoop)
        sock, tls, setup = await self._dialer.dial(limit=limit)
        return self._interpreted[0](sock, tls, self._reader), setup

    def _new_reader(self) -> Ready | WireLoop:
        try:
            return WireLoop() if self._interpreted is None else self._interpreted[1]()
        except OSError as error:
            raise refused(error, self._dialer.where) from error


def _interpreted_connection(scheme: str) -> tuple[type[Connection], Callable[[], Ready]]:
    """The interpreted connection and reader: for gRPC, and for connections that compiled code cannot read."""
    from loadgen.driver.client.connection import Connection
    from loadgen.driver.client.ready import ready

    return service("grpc_connection")() if scheme.startswith("grpc") else Connection, ready


class InterpretedTransport(HttpTransport):
    """The transport with all I/O in Python: for platforms without the compiled loop, and for comparison."""

    compiled = False
