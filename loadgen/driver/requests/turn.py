"""One measured request, from the schedule to the terminal event."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Final

import orjson

from loadgen.driver.client.endpoint import attempt_id
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.frame_cache import Shapes
from loadgen.driver.client.http_transport import HttpTransport
from loadgen.driver.client.memory_bounds import SHIP_BYTES, Allowance
from loadgen.driver.client.plain_request import PlainRequest, PlainStart
from loadgen.driver.client.redaction import hidden
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.requests.attempt import REFUSALS, Retries, attempt_request
from loadgen.driver.requests.issued_turn import IssuedTurn, TurnMaker
from loadgen.driver.requests.response_payload import response_payload, sent_payload
from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome, outcome_of, reader_of
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.client.transport import Transport
    from loadgen.driver.phase import Phase
    from loadgen.driver.requests.cache_buster import TraceContext
    from loadgen.driver.requests.relay import TurnRelay
    from loadgen.driver.requests.session_headers import SessionHeaders
    from loadgen.driver.requests.turn_protocols import TurnCounts
    from workloads.sample import Sample

    Emit = Callable[[Event], None]
    """Where events go."""


_ISSUED: Final = EventType.LOADGEN_ISSUE_CALLED
_SENT: Final = EventType.REQUEST_SENT
_FIRST_CHUNK: Final = EventType.FIRST_CHUNK
_COMPLETE: Final = EventType.COMPLETE
"""Looked up once: an enumeration takes as long as the rest of an event."""

_SECOND: Final = 1e9
_NOTHING: Final[Mapping[str, Any]] = {}
_INTERRUPTED: Final = "interrupted while the session was stopping"
_MEASURED: Final = AnswerUse.MEASURED
_READ: Final = AnswerUse.READ


class RequestRunner:
    """Takes turns: asks one sample at a time and emits the events.

    Attributes:
        endpoints: How many there are to ask.
        turns: Makes the turns.
    """

    follows_plain: ClassVar[bool] = True  #: whether compiled code may follow requests of this kind of runner
    turn_maker: ClassVar[type[TurnMaker]] = TurnMaker

    def __init__(
        self,
        transport: Transport,
        codec: Codec,
        generation: Generation,
        emit: Emit,
        *,
        retries: Retries | None = None,
        allowance: Allowance | None = None,
        ship: Callable[[], None] = lambda: None,
        further: Sequence[Transport] = (),
        trace_context: bool = False,
        session_headers: SessionHeaders | None = None,
        follows_plain: bool = False,
    ) -> None:
        self._transports = (transport, *further)
        self.endpoints = len(self._transports)
        self.turns: Final = self.turn_maker(
            codec, generation, self.endpoints, session_headers, trace_context=trace_context
        )
        self._codec = codec
        self._shapes: Any = Shapes(codec)
        self._generation = generation
        # All requests carry the same headers, wherever they go: so all have the same secrets.
        self._redacting = transport.endpoint
        self._hides = transport.endpoint.has_secrets
        self._emit = emit
        self._retries = retries or Retries()
        self._allowance = allowance or Allowance()
        self._ship = ship
        self._session_headers = session_headers
        self._in_c: list[HttpTransport] = []
        in_python = (session_headers is not None and session_headers.learns) or hasattr(codec, "reader")
        if (
            follows_plain
            and self.follows_plain
            and codec.announces_end
            and not (in_python or codec.cumulative)
        ):
            from loadgen.driver.client.plain_shapes import PlainShapes

            self._in_c = [each for each in self._transports if isinstance(each, HttpTransport)]
            self._shapes = PlainShapes(codec, transport.endpoint.secrets)
        self._giving_up_for = _INTERRUPTED
        self._open: dict[str, int] = {}
        self._decoding: set[Exchange] = set()

    def prepare(self, sample: Sample, members: Mapping[str, Any] = _NOTHING) -> bytes:
        """Encode a request's body ahead of time, with further members; those of the user win."""
        generation = self._generation
        if members:
            generation = replace(generation, extra_body={**members, **generation.extra_body})
        body = self._codec.request(sample, generation)
        return body if isinstance(body, bytes) else orjson.dumps(body)

    def relay(self, turns: TurnCounts, phase: Phase, *claims: Any) -> TurnRelay | None:
        """Have compiled code issue turns; None where Python follows requests, and for several endpoints."""
        if not self._in_c or self.endpoints > 1:
            return None
        from loadgen.driver.requests.relay import TurnRelay

        return TurnRelay(self.turns, self._in_c[0], turns, phase, *claims)

    def give_up_for(self, reason: str) -> None:
        """Say why requests are given up from now on."""
        self._giving_up_for = reason

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int = 0,
        more: Mapping[str, Any] = _NOTHING,
        use: AnswerUse = _MEASURED,
    ) -> TurnOutcome:
        """Issue one request now, with `more` in the event, and follow the request to the end."""
        turn, data = self.turns.make(sample, body, scheduled_ns, phase, endpoint, more, use)
        opened = turn.request.request_id
        self._open[opened] = issued_ns = time.monotonic_ns()
        issued = _ISSUED, issued_ns, opened, data
        try:
            exchange = None
            if self._in_c and use is not _READ:
                transport = self._in_c[endpoint]
                start = PlainStart(turn, issued, self._shapes, self._resumed, use is not _MEASURED)
                if (plain := transport.plain(start)) is None and transport.dials_plain(start):
                    exchange = self._exchange(opened, 1, turn.trace, self._codec)
                    plain = await self._plain_dialed(transport, start, turn.trace, exchange)
                if plain is not None:
                    try:
                        end = await plain.finished
                    except asyncio.CancelledError:
                        exchange, turn = transport.abandon(plain), plain.turn
                        if exchange is not None:
                            self._emit_cancelled(turn.request.request_id, exchange, 1)
                            exchange.stream.release()
                        raise
                    if end is not None:
                        return outcome_of(end)
                    turn, exchange = plain.turn, plain.exchange
                    self._open[opened] = issued_ns = plain.issued_ns
            if exchange is None:
                self._emit(Event(*issued))
                reader = reader_of(self._codec, sample, turn.request.body if use is _READ else b"")
                exchange = self._exchange(opened, 1, turn.trace, reader)
            return await self._follow(self._transports[endpoint], turn, issued_ns / _SECOND, exchange, use)
        finally:
            del self._open[opened]

    async def _plain_dialed(
        self, transport: HttpTransport, start: PlainStart, trace: TraceContext | None, exchange: Exchange
    ) -> PlainRequest | None:
        request_id = start.issued[2]

        def members() -> str:
            sent = sent_payload(exchange, request_id, 1, None if trace is None else trace.span_id)
            return orjson.dumps(sent)[1:-1].decode()

        try:
            return await transport.plain_dialed(start, exchange, members)
        except asyncio.CancelledError:
            self._emit_cancelled(request_id, exchange, 1)
            exchange.stream.release()
            raise

    def _resumed(self, turn: IssuedTurn, announced: bool) -> Exchange:  # noqa: FBT001
        return self._exchange(turn.request.request_id, 1, turn.trace, self._codec, announced=announced)

    async def _follow(
        self,
        transport: Transport,
        turn: IssuedTurn,
        issued_s: float,
        exchange: Exchange,
        use: AnswerUse,
    ) -> TurnOutcome:
        """Follow an issued request to the end, with all attempts."""
        request, trace, more = turn
        sample_uuid, reader = request.request_id, exchange.stream.reader
        left_out: tuple[str, ...] = ()
        attempt, failure = 1, None
        try:
            while (
                failure := await attempt_request(transport, request, exchange, self._decoding)
            ) is not None:
                # The event loop's clock is CLOCK_MONOTONIC.
                due_s = self._retries.due_s(issued_s)
                if (refused := self._refused_in(request.body, failure, exchange)) is not None:
                    name, body = refused
                    left_out = (*left_out, name)
                    request = request._replace(body=body)
                    self._emit_retry(sample_uuid, exchange, attempt, failure, 0.0)
                elif not await self._goes_on(sample_uuid, exchange, attempt, failure, due_s):
                    break
                exchange.stream.release()
                attempt += 1
                request = request._replace(request_id=attempt_id(sample_uuid, attempt))
                if trace is not None:
                    trace = trace.next_attempt()
                    request = request._replace(traceparent=trace.traceparent)
                exchange = self._exchange(sample_uuid, attempt, trace, reader, due_s)
            if left_out and failure is None and self.turns.refused is not None:
                self.turns.refused.confirm(left_out)
            end = self._emit_end(sample_uuid, exchange, attempt, failure, more)
            outcome = self._outcome(exchange, failure, end, use)
            return self._read(outcome, exchange) if use is _READ else outcome
        except asyncio.CancelledError:
            self._emit_cancelled(sample_uuid, exchange, attempt)
            raise
        finally:
            if exchange.stream.bytes > SHIP_BYTES:
                exchange.stream.forget()
                self._ship()
            exchange.stream.release()

    def _refused_in(
        self, body: bytes, failure: RequestFailedError, exchange: Exchange
    ) -> tuple[str, bytes] | None:
        """The optional member of a request that a failure names, and the body without; None without one."""
        if failure.failure not in REFUSALS:
            return None
        from loadgen.driver.requests.refused_members import RefusedMembers

        refused = self.turns.refused = self.turns.refused or RefusedMembers(self._generation, self._emit)
        name = refused.refused_in(body, failure.failure, exchange.stream.body())
        return None if name is None else (name, refused.without(body, name))

    def _emit_cancelled(self, sample_uuid: str, exchange: Exchange, attempt: int) -> None:
        """Record a request that was given up."""
        with suppress(RequestFailedError):
            deque(exchange.stream.decode(), maxlen=0)
        data = self._end_data(exchange, attempt) | {"reason": self._giving_up_for}
        self._emit(Event(EventType.CANCELLED, time.monotonic_ns(), sample_uuid, data))

    async def caught_up(self) -> int:
        """Emit the end of each request with a complete response; return until when none is missing, in ns."""
        now_ns = time.monotonic_ns()
        moments = [await transport.caught_up() for transport in self._transports]
        # Those whose exchanges are over go on before this does; long answers among them are decoded by parts.
        await asyncio.sleep(0)
        decoding = list(self._decoding)
        while any(exchange in self._decoding for exchange in decoding):  # noqa: ASYNC110 (it takes few turns)
            await asyncio.sleep(0)
        if all(moments):
            return min(moment or 0 for moment in moments)
        # Before the first request that is open was issued, no answer to any of them can have come.
        return min(now_ns, min(self._open.values(), default=now_ns))

    def _exchange(
        self,
        sample_uuid: str,
        attempt: int,
        trace: TraceContext | None,
        reader: Codec,
        due_s: float | None = None,
        *,
        announced: bool = False,
    ) -> Exchange:
        """The observer of an attempt; `due_s`: the end of the time limit, after the first attempt."""
        span_id = None if trace is None else trace.span_id
        exchange = Exchange(
            ResponseStream(self._codec, self._allowance, self._shapes, reader),
            on_sent=lambda sent: self._emit_sent(sample_uuid, attempt, sent, span_id),
            on_first_token=lambda at_ns: (
                None if announced else self._emit(Event(_FIRST_CHUNK, at_ns, sample_uuid))
            ),
        )
        exchange.due_s = due_s
        return exchange

    async def _goes_on(
        self, sample_uuid: str, exchange: Exchange, attempt: int, failure: RequestFailedError, due_s: float
    ) -> bool:
        """Wait after a failed attempt, and record the attempt if another follows."""
        asked_s, left_s = exchange.retry_after_s, due_s - asyncio.get_running_loop().time()
        wait_s = self._retries.wait_s(attempt, failure.failure, asked_s, left_s)
        if wait_s is None or not await self._retries.pause(wait_s):
            return False
        self._emit_retry(sample_uuid, exchange, attempt, failure, wait_s)
        return True

    def _emit_retry(
        self, sample_uuid: str, exchange: Exchange, attempt: int, failure: RequestFailedError, wait_s: float
    ) -> None:
        """Record an attempt that failed, and is followed by another one."""
        from loadgen.driver.requests.retry_payload import retry_payload

        at_ns, named = exchange.ended_ns or time.monotonic_ns(), self._named(failure)
        self._emit(
            Event(EventType.RETRY, at_ns, sample_uuid, retry_payload(exchange, attempt, named, wait_s))
        )

    def _emit_sent(self, sample_uuid: str, attempt: int, exchange: Exchange, span_id: str | None) -> None:
        data = sent_payload(exchange, sample_uuid, attempt, span_id)
        self._emit(Event(_SENT, exchange.sent_ns or 0, sample_uuid, data))

    def _emit_end(
        self,
        sample_uuid: str,
        exchange: Exchange,
        attempt: int,
        failure: RequestFailedError | None,
        more: Mapping[str, Any],
    ) -> Event:
        """Emit the end of a request; return the event."""
        if self._session_headers is not None:
            self._session_headers.learn(more, exchange.response)
        at_ns = exchange.ended_ns or time.monotonic_ns()
        data = self._end_data(exchange, attempt)
        if failure is not None:
            data |= self._named(failure)
        elif exchange.failure is not None:
            # The connection broke after [DONE], or never ended: the answer was complete with its last byte.
            at_ns = exchange.stream.last_ns
            data["unended"] = exchange.failure
        end = Event(_COMPLETE if failure is None else EventType.ERROR, at_ns, sample_uuid, data)
        self._emit(end)
        return end

    def _outcome(
        self, exchange: Exchange, failure: RequestFailedError | None, end: Event, use: AnswerUse
    ) -> TurnOutcome:
        data, ended_ns = end.data, end.at_ns
        answer, first_ns, ttft_ms = exchange.stream.answer, data["first_token_ns"], None
        if first_ns is not None and exchange.sent_ns is not None:
            ttft_ms = (first_ns - exchange.sent_ns) / 1e6
        # No token takes less than a byte: which counts can be true is for the report to say.
        tokens = min(data["output_tokens"] or data["chunks"], data["bytes"])
        if failure is not None:
            text = self._redacting.redact(str(failure))
            return TurnOutcome(failure.failure, ttft_ms, tokens, message=text, ended_ns=ended_ns)
        message = None if use is _MEASURED else answer.message()
        read = message, answer.finish_reason, answer.usage.input_tokens
        return TurnOutcome(None, ttft_ms, tokens, *read, ended_ns=ended_ns)

    def _read(self, outcome: TurnOutcome, exchange: Exchange) -> TurnOutcome:
        """The outcome with all that code can read of an answer."""
        from loadgen.driver.requests.turn_details import details, rejection

        if outcome.failure is None:
            return outcome._replace(details=details(exchange))
        return outcome._replace(rejection=rejection(exchange, self._redacting.redact))

    def _named(self, failure: RequestFailedError) -> dict[str, str]:
        """A failure in the log's form."""
        return {"error": failure.failure, "message": self._redacting.redact(str(failure))}

    def _end_data(self, exchange: Exchange, attempt: int) -> dict[str, Any]:
        """All facts of the last attempt, redacted."""
        data = response_payload(exchange)
        if attempt > 1:
            data["attempts"] = attempt
        if exchange.retry_after_s is not None:
            data["retry_after_s"] = exchange.retry_after_s
        if not self._hides:
            return data
        for key in ("finish_reason", "texts"):
            if key in data:
                data[key] = hidden(data[key], self._redacting.hide)
        return data
