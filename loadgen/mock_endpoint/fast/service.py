"""From a request to its answer, as a task: it writes what is due, and yields until the next is."""

from __future__ import annotations

import time
from http import HTTPStatus
from itertools import count
from typing import TYPE_CHECKING, Final, NamedTuple
from uuid import uuid4

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.ask import Refusal
from loadgen.mock_endpoint.fast.events import HOLE, EventShelf
from loadgen.mock_endpoint.routes import GENERATION, HEALTH, MODELS, Doorkeeper, model_list
from loadgen.mock_endpoint.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.ask import Ask
    from loadgen.mock_endpoint.fast.connection import Connection, Request, Task
    from loadgen.mock_endpoint.fast.events import Events
    from loadgen.mock_endpoint.fast.slots import Slots
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.punctuality import Lateness
    from loadgen.mock_endpoint.script import Answer, Script

_OK: Final = 200
_SECOND: Final = 1_000_000_000
_EVENTS_AT_ONCE: Final = 1024
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_EVENT_STREAM: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\n"
    b"Cache-Control: no-cache\r\nTransfer-Encoding: chunked\r\n"
)


class Exchange(NamedTuple):
    """A request with the answer that was decided on, and what is known of both."""

    connection: Connection
    request: Request
    dialect: wire.Dialect
    ask: Ask
    answer: Answer
    truth: Truth


class Service:
    """Answers requests.

    Args:
        options: How.
        script: Decides what is answered.
        slots: Where requests wait for their turn; None for no limit.
        tell: Takes what is known of each completion request when it ends.
        lateness: Counts the chunks that are due at a time of their own.
    """

    def __init__(
        self,
        options: MockOptions,
        script: Script,
        slots: Slots | None,
        tell: Callable[[Truth], None],
        lateness: Lateness,
    ) -> None:
        self._options = options
        self._script = script
        self._slots = slots
        self._tell = tell
        self._lateness = lateness
        self._pages = {MODELS: model_list(options), HEALTH: b""}
        self._door = Doorkeeper(options, self._pages)
        self._shelf = EventShelf()
        self._serials = count(uuid4().int >> 64 << 64)

    def answer(self, connection: Connection, request: Request) -> Task:
        """Make the task that answers a request."""
        if request.path in GENERATION and request.method == "POST":
            return self._generate(connection, request)
        return self._read(connection, request)

    def abandoned(self, request: Request) -> None:
        """Take note of a request whose client left before it was complete."""
        if request.path in GENERATION and request.method == "POST":
            truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
            truth.done_ns = time.monotonic_ns()
            self._tell(truth)

    def _read(self, connection: Connection, request: Request) -> Task:
        """Answer a request that reads a page, or none that there is."""
        connection.write(self._page(request))
        yield from ()

    def _page(self, request: Request) -> bytes:
        # Raised, the refusal that a request brings along would hold on to what holds on to it: a cycle.
        if request.refusal:
            return _json(request, request.refusal.status, request.refusal.body())
        try:
            page = self._door.page(request.method, request.path, request.header(b"authorization"))
        except Refusal as refusal:
            return _json(request, refusal.status, refusal.body())
        return _json(request, _OK, self._pages[page])

    def _generate(self, connection: Connection, request: Request) -> Task:
        """Answer a completion request, and tell the truth about it, whatever becomes of it."""
        truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
        try:
            if request.refusal:
                _refuse(connection, request, truth, request.refusal)
            else:
                yield from self._decide(connection, request, truth)
        except Refusal as refusal:
            _refuse(connection, request, truth, refusal)
        finally:
            truth.done_ns = time.monotonic_ns()
            self._tell(truth)

    def _decide(self, connection: Connection, request: Request, truth: Truth) -> Task:
        """Decide what is answered; return what answers it.

        Raises:
            Refusal: Nothing is.
        """
        dialect, read = GENERATION[request.path]
        self._door.admit(request.header(b"authorization"))
        ask = read(request.body, self._options.models)
        truth.input_tokens = ask.input_tokens
        exchange = Exchange(connection, request, dialect, ask, self._script.answer(ask), truth)
        if exchange.answer.refusal:
            return self._fail(exchange, exchange.answer.refusal)
        task = self._stream(exchange) if ask.stream else self._whole(exchange)
        return task if self._slots is None else self._in_turn(exchange, self._slots, task)

    def _in_turn(self, exchange: Exchange, slots: Slots, task: Task) -> Task:
        """Go on with a task when there is a slot for it."""
        truth = exchange.truth
        truth.queued_ns = yield from slots.take(exchange.connection, truth.received_ns)
        try:
            yield from task
        finally:
            slots.give_back()

    def _fail(self, exchange: Exchange, refusal: Refusal) -> Task:
        """Refuse a request when that is due. It takes no slot."""
        connection, request, _, _, answer, truth = exchange
        yield _due_ns(truth, answer.ttft_s)
        _refuse(connection, request, truth, refusal)

    def _whole(self, exchange: Exchange) -> Task:
        """Send an answer in one piece, when its last token is due."""
        connection, request, dialect, ask, answer, truth = exchange
        due_s = answer.last_due_s()
        if due_s:
            due_ns = _due_ns(truth, due_s)
            yield due_ns
            self._note(truth, time.monotonic_ns() - due_ns)
        counts = wire.usage(ask.input_tokens, len(answer.tokens))
        body = wire.whole(dialect, ask, "".join(answer.tokens), answer.finish_reason, counts)
        connection.write(_json(request, _OK, body))
        truth.status, truth.tokens = _OK, len(answer.tokens)
        _complete(exchange)

    def _stream(self, exchange: Exchange) -> Task:
        """Begin a stream of events. The headers go out at once, as those of vLLM do."""
        connection, request, dialect, ask, answer, truth = exchange
        serial = b"%032x" % next(self._serials)
        events = self._shelf.of(dialect, ask)
        opening = _EVENT_STREAM + _rest_of_head(request)
        if self._options.role_chunk == "early":
            opening += events.role.replace(HOLE, serial)
        if answer.ttft_s or self._slots is not None:
            connection.write(opening)
            opening = b""
        truth.status = _OK
        if self._options.role_chunk == "first":
            opening += events.role.replace(HOLE, serial)
        send = self._together if answer.at_once else self._one_by_one
        return send(exchange, events, serial, opening)

    def _together(self, exchange: Exchange, events: Events, serial: bytes, opening: bytes) -> Task:
        """Send all events at once, when they are due; very many in several goes, for the sake of others."""
        connection, _, _, ask, answer, truth = exchange
        if answer.ttft_s:
            due_ns = _due_ns(truth, answer.ttft_s)
            yield due_ns
            self._note(truth, time.monotonic_ns() - due_ns)
        size = self._options.tokens_per_chunk
        texts = answer.texts(size)
        for begin in range(0, len(texts), _EVENTS_AT_ONCE):
            if begin:
                yield connection.hold() if connection.full else time.monotonic_ns()
            now = texts[begin : begin + _EVENTS_AT_ONCE]
            sent = begin + len(now)
            end = b""
            if sent == len(texts):
                end = events.end(answer.finish_reason, ask.input_tokens, len(answer.tokens), serial)
            data = b"".join((opening, serial.join(events.together(now)), end))
            opening = b""
            truth.chunk_ns += [time.monotonic_ns()] * len(now)
            connection.write(data)
            truth.tokens = min(sent * size, len(answer.tokens))
        if not texts:
            connection.write(opening + events.end(answer.finish_reason, ask.input_tokens, 0, serial))
        _complete(exchange)

    def _one_by_one(self, exchange: Exchange, events: Events, serial: bytes, opening: bytes) -> Task:
        """Send each event when it is due; with the last goes what ends the stream."""
        connection, _, _, ask, answer, truth = exchange
        start_ns, held_until_ns = truth.received_ns + truth.queued_ns, 0
        write, note, now, stamps = connection.write, self._note, time.monotonic_ns, truth.chunk_ns
        for due_s, text, tokens in answer.pieces(self._options.tokens_per_chunk):
            due_ns = start_ns + int(due_s * _SECOND)
            yield due_ns
            if connection.full:
                yield connection.hold()
                held_until_ns = now()
            truth.tokens += tokens
            data = events[text].replace(HOLE, serial)
            if opening:
                data, opening = opening + data, b""
            if truth.tokens == len(answer.tokens):
                data += events.end(answer.finish_reason, ask.input_tokens, truth.tokens, serial)
            sent_ns = now()
            stamps.append(sent_ns)
            write(data)
            if held_until_ns < due_ns:
                note(truth, sent_ns - due_ns)
        if not answer.tokens:
            yield _due_ns(truth, answer.ttft_s)
            write(opening + events.end(answer.finish_reason, ask.input_tokens, 0, serial))
        _complete(exchange)

    def _note(self, truth: Truth, late_ns: int) -> None:
        self._lateness.note(late_ns)
        if late_ns > truth.late_ns:  # noqa: PLR1730 (100,000 times a second `max` costs 1 % of a core)
            truth.late_ns = late_ns


def _due_ns(truth: Truth, after_s: float) -> int:
    """A moment counted from the start of service."""
    return truth.received_ns + truth.queued_ns + int(after_s * _SECOND)


def _complete(exchange: Exchange) -> None:
    exchange.truth.outcome, exchange.truth.finish_reason = "completed", exchange.answer.finish_reason


def _refuse(connection: Connection, request: Request, truth: Truth, refusal: Refusal) -> None:
    connection.write(_json(request, refusal.status, refusal.body()))
    truth.status, truth.outcome = refusal.status, "failed"


def _json(request: Request, status: int, body: bytes) -> bytes:
    """A response in one piece."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, '')}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    )
    return head.encode() + _rest_of_head(request) + (b"" if request.method == "HEAD" else body)


def _rest_of_head(request: Request) -> bytes:
    """The headers that depend on the request, and the empty line."""
    request_id = request.headers.get(b"x-request-id")
    rest = b"\r\n" if request_id is None else b"X-Request-Id: %b\r\n\r\n" % request_id
    return rest if request.keep_alive else b"Connection: close\r\n" + rest
