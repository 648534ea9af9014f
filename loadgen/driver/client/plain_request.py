"""A request that compiled code follows to the end (`_plain.c`), unless the response is unusual."""

from __future__ import annotations

from asyncio import Future
from typing import TYPE_CHECKING, Any, Protocol

from loadgen.driver.client.exchange import REUSED

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from loadgen.driver.client.endpoint import Request
    from loadgen.driver.client.exchange import Exchange

PlainEnd = tuple[int, int, int, int, bytes | None]
"""The end of a plain request, whose rows are written: connection, TTFT in ns, tokens, time in ns, answer."""


class PlainTurn(Protocol):
    """The turn of a plain request."""

    @property
    def request(self) -> Request:
        """The request."""

    @property
    def sent_members(self) -> str:
        """JSON members of the event of the sending, with a comma after each."""


class NextTurns(Protocol):
    """The turns that compiled code issues where plain requests end (`loadgen.driver.requests.relay`)."""

    def fill(self, limit: int) -> bool:
        """Prepare at most `limit` turns; tell whether there is room for more."""

    def handed_over(self, before: Any, ticket: int, issued_ns: int, ttft_ns: int, tokens: int) -> PlainTurn:
        """Count a turn that has ended and the next one, which has left; return the latter."""


class PlainRequest:
    """The observer of a connection while compiled code follows the response.

    `leave` has compiled code leave the rest to an exchange, which `resumed` makes of the turn and whether the
    log has the first chunk; `is_over` is called then, or at the end. `handed_over` is called when the request
    has ended and a prepared one has left on the connection, of which the object is the observer from then on.

    Attributes:
        turn: What the request belongs to.
        finished: The end of the request; None where an exchange follows the rest.
        exchange: What follows the rest; None before.
        sent_ns: When the request was sent, ns of CLOCK_MONOTONIC; 0 while it is not sent whole.
        deadline_ns: From when on nothing counts that arrives; None before that moment is past.
    """

    __slots__ = (
        *("_is_over", "_leave", "_resumed"),
        *("deadline_ns", "exchange", "finished", "handed_over", "sent_ns", "turn"),
    )

    def __init__(
        self,
        turn: Any,
        leave: Callable[[], None],
        resumed: Callable[[Any, bool], Exchange],
        is_over: Callable[[PlainRequest], None],
        handed_over: Callable[..., None],
        loop: AbstractEventLoop,
    ) -> None:
        self.turn = turn
        self.finished: Future[PlainEnd | None] = Future(
            loop=loop
        )  # without the loop, it asks for the process id
        self.exchange: Exchange | None = None
        self.sent_ns = 0
        self.deadline_ns: int | None = None
        self._leave = leave
        self._resumed = resumed
        self._is_over = is_over
        self.handed_over = handed_over

    def ended(self, end: PlainEnd | None) -> None:
        """Note the end of the request, or None for one with an exchange."""
        self._is_over(self)
        if not self.finished.done():
            self.finished.set_result(end)

    def resume(self, *, announced: bool) -> Exchange:
        """Return an exchange that follows the rest; `announced`: the log has the first chunk."""
        exchange = self.exchange = self._resumed(self.turn, announced)
        exchange.setup = REUSED
        exchange.sent_ns = self.sent_ns or None
        exchange.deadline_ns = self.deadline_ns
        self.ended(None)
        return exchange

    def give_up(self) -> Exchange | None:
        """Return an exchange with what has arrived; None after the end."""
        if self.exchange is None:
            self._leave()
        return self.exchange
