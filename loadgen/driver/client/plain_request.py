"""A request that compiled code follows to the end (`_plain.c`), unless the response is unusual."""

from __future__ import annotations

from asyncio import Future
from typing import TYPE_CHECKING, Any, NamedTuple

from loadgen.driver.client.exchange import REUSED

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from loadgen.driver.client.exchange import Exchange, Setup
    from loadgen.driver.client.plain_protocols import Carrier, NextTurns, PlainTurn
    from loadgen.driver.client.plain_shapes import PlainShapes
    from recorder.event import EventType

PlainEnd = tuple[int, int, int, int, bytes | None]
"""The end of a plain request, whose rows are written: connection, TTFT in ns, tokens, time in ns, answer."""


class PlainStart(NamedTuple):
    """A request that compiled code may follow."""

    turn: PlainTurn
    issued: tuple[EventType, int, str, Any]  #: the event of the issue
    shapes: PlainShapes
    resumed: Callable[[Any, bool], Exchange]
    """Makes an exchange for an unusual response, of the turn and whether the log has the first chunk."""
    answers: bool  #: whether the answer is read


class PlainRequest:
    """The observer of a connection while compiled code follows the response.

    `is_over` is called at the end, or where an exchange follows the rest of an unusual response. With a
    `relay`, prepared requests may leave on the connection where the request ends: `learn` makes the object
    the observer of the latest one.

    Attributes:
        turn: What the request belongs to.
        connection: What carries the request.
        finished: The end of the request; None where an exchange follows the rest.
        exchange: What follows the rest; None before.
        setup: How the connection was set up for the request.
        ticket: The ticket of the request in the relay; 0 for a request that Python has issued.
        issued_ns: When the request was issued, ns of CLOCK_MONOTONIC.
        sent_ns: When the request was sent; 0 while it is not sent whole.
        deadline: A ticket, and the moment from which on nothing counts that arrives for that request.
    """

    __slots__ = (
        *("_is_over", "_relay", "_resumed", "connection", "deadline", "exchange", "finished", "issued_ns"),
        *("sent_ns", "setup", "ticket", "turn"),
    )

    def __init__(
        self,
        start: PlainStart,
        connection: Carrier,
        is_over: Callable[[PlainRequest], None],
        relay: NextTurns | None,
        loop: AbstractEventLoop,
        setup: Setup,
    ) -> None:
        self.turn: Any = start.turn
        self.setup = setup
        self.connection = connection
        # Without the loop, a future asks for the process id.
        self.finished: Future[PlainEnd | None] = Future(loop=loop)
        self.exchange: Exchange | None = None
        self.ticket = self.sent_ns = 0
        self.issued_ns = start.issued[1]
        self.deadline: tuple[int, int] | None = None
        self._resumed = start.resumed
        self._is_over = is_over
        self._relay = relay

    def learn(self) -> None:
        """Observe the request that the connection carries by now."""
        if self._relay is None:
            return
        ticket, issued_ns, sent_ns = self.connection.relayed()
        if ticket != self.ticket:
            self.ticket, self.issued_ns, self.sent_ns, self.setup = ticket, issued_ns, sent_ns, REUSED
            self.turn = self._relay.turn(ticket)

    def ended(self, end: PlainEnd | None) -> None:
        """Note the end of the request, or None for one with an exchange."""
        self._is_over(self)
        if not self.finished.done():
            self.finished.set_result(end)

    def resume(self, *, announced: bool) -> Exchange:
        """Return an exchange that follows the rest; `announced`: the log has the first chunk."""
        exchange = self.exchange = self._resumed(self.turn, announced)
        exchange.setup = self.setup
        exchange.sent_ns = self.sent_ns or None
        if self.deadline is not None and self.deadline[0] == self.ticket:
            exchange.deadline_ns = self.deadline[1]
        self.ended(None)
        return exchange

    def give_up(self) -> Exchange | None:
        """Return an exchange with what has arrived; None after the end."""
        if self.exchange is None:
            self.connection.resume()
        return self.exchange
