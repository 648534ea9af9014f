"""One request on the wire, with the observations. Times are ns of CLOCK_MONOTONIC."""

from __future__ import annotations

import asyncio
from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.memory_bounds import MAX_ERROR_BYTES
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.client._wire import Body
    from loadgen.driver.client.head import Head
    from loadgen.driver.client.stream import ResponseStream

SENDING_NS: Final = 100_000
"""Sending that took no longer leaves no doubt worth keeping about when the request was sent."""

_EXACT: Final[Mapping[int, Late]] = {}


@dataclass(frozen=True, slots=True)
class Setup:
    """The set-up of a request's connection."""

    reused: bool
    dns_ms: float | None = None  #: looking the host up; None when it was known
    connect_ms: float | None = None  #: the TCP handshake; None for a reused connection
    tls_ms: float | None = None  #: the TLS handshake; None without TLS and for a reused connection
    #: The request had been sent before, on a kept connection that the server had closed by then.
    retried: bool = False
    #: How many connections were closed since the request before, because a response came on them that no
    #: request had asked for.
    unasked: int = 0


REUSED: Final = Setup(reused=True)


class Exchange:
    """The observations of a transport.

    It calls in this order: `sent`, `head`, any number of `body` or `received`, then `ended` or `failed`;
    `failed` at any point, and a server may answer before it was `sent` everything. After the `failed` of a
    deadline may come what had been read before it.
    """

    def __init__(
        self,
        stream: ResponseStream,
        on_sent: Callable[[Exchange], None],
        on_first_token: Callable[[int], None],
    ) -> None:
        self.stream = stream
        self.finished: asyncio.Future[None] = asyncio.Future()
        self.setup: Setup | None = None
        self.upload: Mapping[str, Any] = {}  #: of a large request, the members of the payload on it
        self.response: Head | None = None
        self.sent_ns: int | None = None
        #: By when the last byte was sent for sure, where that is later than `sent_ns` by more than
        #: `SENDING_NS`: the process lost its CPU meanwhile. None where it is not.
        self.sent_high_ns: int | None = None
        self.first_byte_ns: int | None = None
        #: When nothing of the response had arrived, where its first byte may have come before
        #: `first_byte_ns`; None where it did not.
        self.first_byte_low_ns: int | None = None
        self.ended_ns: int | None = None
        #: When its time is over, on the event loop's clock; None where the transport is to count it from the
        #: moment at which it is asked.
        self.due_s: float | None = None
        #: From when on nothing counts that arrives, once that moment is past; None before.
        self.deadline_ns: int | None = None
        self.framed = False
        #: How long the server asks to be left alone, from its answer on; None where it does not.
        self.retry_after_s: float | None = None
        #: Closes the connection, which was kept for another request, unless one has it; None where none was
        #: kept. For who finds out later that the answer was not whole: its rest may come.
        self.drop_connection: Callable[[], None] | None = None
        self.failure: str | None = None  #: the failure's name, None for a response that came through whole
        self.message = ""
        self._ok = True
        self._latest_ns = 0
        self._on_sent = on_sent
        self._on_first_token = on_first_token

    def sent(self, at_ns: int, by_ns: int = 0) -> None:
        """Note the moment, unless the response came first and said so."""
        if self.sent_ns is None:
            self.sent_ns = at_ns
            if by_ns - at_ns > SENDING_NS:
                self.sent_high_ns = by_ns
            self._on_sent(self)

    def head(self, head: Head, at_ns: int) -> None:
        """Note the head; a response proves that the server has the request."""
        if self.deadline_ns is not None:
            at_ns = min(at_ns, self.deadline_ns)
        self.sent(at_ns)
        assert self.sent_ns is not None  # noqa: S101 (`sent` has just done it)
        self.response = head
        # A server may answer before it has the last byte of the request; what comes before the first byte
        # left is not an answer, and never gets here.
        self.first_byte_ns = self._latest_ns = max(at_ns, self.sent_ns)
        self._ok = head.ok
        if not head.ok:
            from loadgen.driver.client.retry_after import retry_after_s

            self.retry_after_s = retry_after_s(head)
        if head.ok:
            self.stream.start(event_stream=head.event_stream, media_type=head.media_type)

    def body(
        self, pieces: Sequence[bytes], moments: Sequence[int], late: Mapping[int, Late] = _EXACT
    ) -> bool:
        """Store pieces of the body, of an HTTP error only for a message, or raise the failure of a piece.

        Return whether the next piece is urgent: the first token is announced when it arrives.
        """
        if not self._ok and self.stream.bytes >= MAX_ERROR_BYTES:
            raise RequestFailedError(
                Failure.TOO_LARGE, f"the text of an error takes more than {MAX_ERROR_BYTES} bytes"
            )
        if self.deadline_ns is not None:
            # What arrived before our deadline counts, also where it is only looked at after it.
            in_time = bisect_right(moments, self.deadline_ns)
            pieces, moments = pieces[:in_time], moments[:in_time]
            if not moments:
                return False
        if late and moments[0] == self.first_byte_ns and 0 in late:
            self.first_byte_low_ns = late[0].since_ns
        # The kernel's clock is converted with an offset that is measured repeatedly: order is kept
        # regardless.
        if moments[0] < self._latest_ns or sorted(moments) != moments:
            _, *moments = accumulate(moments, max, initial=self._latest_ns)
        self._latest_ns = moments[-1]
        awaited = not self.stream.answer.token_ns
        try:
            self.stream.receive(pieces, moments, late)
        finally:
            # A token counts also where something bad came with it, in the same piece.
            if awaited and self.stream.answer.token_ns:
                self._on_first_token(self.stream.answer.token_ns[0])
        return self.stream.awaits_token

    def received(self, body: Body) -> bool:
        """Keep a part of the body that compiled code has read; as `body`."""
        stream, taken = self.stream, 0
        if self.deadline_ns is None and self._ok:
            awaited = not stream.answer.token_ns
            if (start := stream.receive_known(body, self._latest_ns)) is not None:
                _, taken, _, first_ns, self._latest_ns, since_ns, _ = start
                if since_ns and first_ns == self.first_byte_ns:
                    self.first_byte_low_ns = since_ns
                if awaited and stream.answer.token_ns:
                    self._on_first_token(stream.answer.token_ns[0])
                if taken == len(body):
                    return stream.awaits_token
        pieces, moments, late = body.lists(taken)
        return self.body(pieces, moments, {place: Late(*bound) for place, bound in late.items()})

    def ended(self, at_ns: int, *, framed: bool) -> None:
        """Note the end of the response."""
        if self.ended_ns is None and (self.deadline_ns is None or at_ns <= self.deadline_ns):
            self.framed = framed
            self._finish(max(at_ns, self._latest_ns))

    def failed(self, failure: str, message: str, at_ns: int) -> None:
        """Record a failure, unless the response is already complete: a deadline may coincide."""
        if self.ended_ns is None:
            self.failure, self.message = failure, message
            self._finish(max(at_ns, self._latest_ns, self.sent_ns or 0))

    def again(self) -> None:
        """Start again: the sent bytes never reached the server."""
        self.finished = asyncio.Future()
        self.sent_ns = self.sent_high_ns = self.ended_ns = self.deadline_ns = self.failure = None
        self.message = ""

    def _finish(self, at_ns: int) -> None:
        self.ended_ns = at_ns
        if not self.finished.done():
            self.finished.set_result(None)
