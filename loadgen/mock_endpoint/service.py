"""From a request to an answer, as a task: a generator of bytes with due times."""

from __future__ import annotations

import sys
import time
from array import array
from http import HTTPStatus
from itertools import count, takewhile
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from uuid import uuid4

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.client_connection import NOW
from loadgen.mock_endpoint.events import EventShelf, serial
from loadgen.mock_endpoint.lifetime import read as read_time
from loadgen.mock_endpoint.options import DEFAULT_MODEL
from loadgen.mock_endpoint.prometheus_metrics import PROMETHEUS, Metrics
from loadgen.mock_endpoint.request_statements import Drafting, Drafts, Served
from loadgen.mock_endpoint.routes import (
    ANSWERED,
    GENERATION,
    HEALTH,
    METRICS,
    MODELS,
    RESETS,
    RESULTS,
    SPEECH,
    Doorkeeper,
    model_list,
)
from loadgen.mock_endpoint.token import SILENT, joined
from loadgen.mock_endpoint.truth import Truth
from workloads.registry import service

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.client_connection import MockConnection, RawRequest, Task
    from loadgen.mock_endpoint.events import Events
    from loadgen.mock_endpoint.lifetime import Lifetime
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.punctuality import Lateness
    from loadgen.mock_endpoint.script import PlannedResponse, Script
    from loadgen.mock_endpoint.slots import Slots
    from loadgen.mock_endpoint.stall import Stall

_OK: Final = 200
_JSON: Final = "application/json"
_SECOND: Final = 1_000_000_000
_EVENTS_AT_ONCE: Final = 1024
_REASONS: Final = {status.value: status.phrase for status in HTTPStatus}
_EVENT_STREAM: Final = (
    b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nCache-Control: no-cache\r\n"
)
_CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"


class ServedRequest(NamedTuple):
    """A request with the planned answer, and the recorded truth."""

    connection: MockConnection
    request: RawRequest
    dialect: wire.WireProtocol
    ask: MockRequest
    answer: PlannedResponse
    truth: Truth


class Service:
    """Answers requests.

    Args:
        options: How.
        script: Decides what is answered.
        stall: Learns when requests are received.
        lifetime: As above.
        slots: Where requests wait for their turn; None for no limit.
        tell: Takes what is known of each completion request when it ends.
        lateness: Counts the chunks that are due at their own time.
    """

    def __init__(
        self,
        options: MockOptions,
        script: Script,
        stall: Stall,
        lifetime: Lifetime,
        slots: Slots | None,
        tell: Callable[[Truth], None],
        lateness: Lateness,
    ) -> None:
        self._options = options
        self._script = script
        self._stall = stall
        self._lifetime = lifetime
        self._slots = slots
        self._tell = tell
        self._lateness = lateness
        self._pages = {
            MODELS: _page(model_list(options), _JSON),
            HEALTH: _page(b"", _JSON),
            METRICS: self._figures,
        }
        methods = dict.fromkeys(self._pages, "GET")
        if options.cache_blocks is not None:
            self._pages |= dict.fromkeys(RESETS, self._reset)
            methods |= dict.fromkeys(RESETS, "POST")
        self._door = Doorkeeper(options, methods)
        self._drafting = None if options.speculate is None else Drafting.read(options.speculate)
        drafted = 0 if self._drafting is None else self._drafting.tokens
        self._overrun_s = read_time("overrun", options.overrun) or 0.0
        self._metrics = Metrics(
            (options.models or (DEFAULT_MODEL,))[0], self._queue, drafted, self._overrun_s
        )
        self._shelf = EventShelf()
        self._serials = count(uuid4().int >> 64 << 64)

    def answer(self, connection: MockConnection, request: RawRequest) -> Task:
        """Make the task that answers a request."""
        if request.stream is not None:
            messages: Task = service("mock_grpc")(request, self._door, self._script, self._tell)
            return messages
        if request.path in SPEECH and request.method == "POST":
            spoken: Task = service("mock_speech")(request, self._door, self._script, self._tell)
            return spoken
        if request.path in ANSWERED and request.method == "POST":
            return self._generate(connection, request)
        return self._read(request)

    def abandoned(self, request: RawRequest) -> None:
        """Record a request whose client left before the request was complete."""
        if request.path in ANSWERED and request.method == "POST":
            truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
            truth.done_ns = time.monotonic_ns()
            self._tell(truth)

    def _read(self, request: RawRequest) -> Task:
        """Answer a request that reads a page, or none that there is."""
        refusal = request.refusal
        if refusal is None:
            try:
                page = self._door.page(request.method, request.path, request.header(b"authorization"))
            except RefusedRequest as reason:
                refusal = reason.with_traceback(None)
        if refusal is None:
            yield NOW, _in_one_piece(request, _OK, *self._pages[page]())
        else:
            yield NOW, _refused(request, refusal)
        is_served = request.path in self._pages or request.path in ANSWERED
        self._metrics.responded(
            request.path if is_served else "none", request.method, refusal.status if refusal else _OK
        )

    def _figures(self) -> tuple[bytes, str]:
        """The Prometheus figures."""
        return self._metrics.render().encode(), PROMETHEUS

    def _reset(self) -> tuple[bytes, str]:
        self._script.forget_prefixes()
        return b"", _JSON

    def _queue(self) -> tuple[int, int]:
        waiting = 0 if self._slots is None else self._slots.waiting
        return self._metrics.live - waiting, waiting

    def _generate(self, connection: MockConnection, request: RawRequest) -> Task:
        """Answer a completion request, and record the truth in every case."""
        truth = Truth(request.header(b"x-request-id"), request.path, request.received_ns)
        self._stall.heard(request.received_ns)
        self._lifetime.heard()
        self._metrics.began(truth)
        try:
            opening, task = self._decide(connection, request, truth)
            if opening:
                yield NOW, opening
                truth.status = _OK
            yield from task
        finally:
            truth.done_ns = time.monotonic_ns()
            self._metrics.ended(truth, request.method)
            self._tell(truth)

    def _decide(self, connection: MockConnection, request: RawRequest, truth: Truth) -> tuple[bytes, Task]:
        """Decide on the answer; return the immediate bytes, and the task for the rest."""
        if request.refusal:
            return b"", _fail(request, truth, request.refusal, NOW)
        dialect, results = wire.COMPLETION, b""
        try:
            self._door.admit(request.header(b"authorization"))
            if request.path in RESULTS:
                ask, results = service("mock_results")(request.path, request.body, self._options)
            else:
                dialect, read = GENERATION[request.path]
                ask = read(request.body, self._options.models, self._options.refuse)
        except RefusedRequest as refusal:
            # With its traceback it would hold on to what holds on to it: a cycle, which is not collected.
            return b"", _fail(request, truth, refusal.with_traceback(None), NOW)
        truth.learn(ask, in_detail=self._options.truth is not None)
        truth.session = request.session()
        answer = self._script.answer(ask, min(self._metrics.live, self._options.slots or sys.maxsize) - 1)
        ask = ask.without_tokens()
        truth.cached, truth.hit_blocks = answer.cached, answer.hit_blocks
        truth.cached_tokens = answer.cached_tokens or 0
        if answer.refusal:
            return b"", _fail(request, truth, answer.refusal, _due_ns(truth, answer.ttft_s))
        exchange = ServedRequest(connection, request, dialect, ask, answer, truth)
        opening, task = self._stream(exchange) if ask.stream else (b"", self._whole(exchange, results))
        return opening, task if self._slots is None else self._slots.served(connection, truth, task)

    def _whole(self, exchange: ServedRequest, results: bytes) -> Task:
        """Send vectors or scores when the first token is due, else an answer when the last one is due."""
        _, request, dialect, ask, answer, truth = exchange
        counts = wire.usage(*self._counts(ask, answer))
        due_s = answer.ttft_s if results else answer.last_due_s()
        due_ns = _due_ns(truth, due_s) if due_s else NOW
        sizes = answer.sizes(self._options.tokens_per_chunk)
        served = self._served(exchange, _due_ns(truth, answer.ttft_s), _due_ns(truth, due_s), sizes)
        stated = self._stated(served)
        body = results or wire.whole(
            dialect, ask, joined(answer.tokens), answer.finish_reason, counts, stated
        )
        headers = served.headers(self._options.statements, _due_ns(truth, due_s) - truth.received_ns)
        sent_ns = yield due_ns, _in_one_piece(request, _OK, body, _JSON, headers.decode())
        if due_ns != NOW:
            self._note(exchange, due_ns, sent_ns)
        truth.tokens = 0 if results else len(answer.tokens)
        _completed(exchange)

    def _stream(self, exchange: ServedRequest) -> tuple[bytes, Task]:
        """Make a stream of events. If any has to wait, the headers do not, as those of vLLM do not."""
        _, request, dialect, ask, answer, truth = exchange
        answer_id = serial(next(self._serials))
        events = self._shelf.of(dialect, ask, chunked=request.chunked)
        role = answer_id.join(events.role)
        opening = _EVENT_STREAM + (_CHUNKED if request.chunked else b"")
        if self._options.statements:
            since_ns = time.monotonic_ns() - truth.received_ns
            opening += Served(0, 0, 0, 0, 0).headers(self._options.statements, since_ns)
        opening += _rest_of_head(request)
        if self._options.role_chunk == "early":
            opening += role
        first = role if self._options.role_chunk == "first" else b""
        send = self._together if answer.at_once else self._one_by_one
        if answer.at_once and not answer.ttft_s and self._slots is None:
            return b"", send(exchange, events, answer_id, opening + first)
        return opening, send(exchange, events, answer_id, first)

    def _together(self, exchange: ServedRequest, events: Events, answer_id: bytes, first: bytes) -> Task:
        """Send all events together when due; a large number in several writes, to spare other requests."""
        _, _, _, ask, answer, truth = exchange
        size = self._options.tokens_per_chunk
        texts, sizes = answer.texts(size), answer.sizes(size)
        first_ns = _due_ns(truth, answer.ttft_s)
        due_ns = first_ns if answer.ttft_s else NOW
        stated = self._stated(self._served(exchange, first_ns, first_ns, sizes))
        end = events.end(answer.finish_reason, self._counts(ask, answer), stated)
        for begin in range(0, len(texts) or 1, _EVENTS_AT_ONCE):
            now = texts[begin : begin + _EVENTS_AT_ONCE]
            sent = begin + len(now)
            data = first + answer_id.join(events.together(now))
            if sent == len(texts):
                data += answer_id.join(end)
            sent_ns = yield due_ns, data
            if answer.ttft_s and not begin:
                self._note(exchange, due_ns, sent_ns)
            first, due_ns, truth.status = b"", sent_ns, _OK
            silent = now.count(SILENT)
            truth.chunk_ns += [sent_ns] * (len(now) - silent)
            truth.silent_ns += [sent_ns] * silent
            truth.tokens = sum(sizes[:sent])
        _completed(exchange)

    def _one_by_one(self, exchange: ServedRequest, events: Events, answer_id: bytes, first: bytes) -> Task:
        """Send each event when due; the last write includes the end of the stream."""
        connection, _, _, ask, answer, truth = exchange
        size, length = self._options.tokens_per_chunk, len(answer.tokens)
        sizes, counts = answer.sizes(size), self._counts(ask, answer)
        end = b"" if self._states else answer_id.join(events.end(answer.finish_reason, counts))
        start_ns, count_late = _due_ns(truth, 0), self._lateness.note
        # What a chunk touches is kept close together: a thousand streams do not fit into the caches.
        stamps, silent, sent, latest_ns = array("q"), array("q"), 0, 0
        try:
            dues, texts = answer.dues_s(size), answer.texts(size)
            for due_s, text, size in zip(dues, texts, sizes, strict=False):
                due_ns = start_ns + int(due_s * _SECOND)
                data = answer_id.join(events[text])
                noted = stamps if data else silent
                if first and data:
                    data, first = first + data, b""
                if sent + size >= length:
                    if self._states:
                        served = self._served(exchange, stamps[0] if stamps else due_ns, due_ns, sizes)
                        end = answer_id.join(events.end(answer.finish_reason, counts, self._stated(served)))
                    data = data + end if data else first + end
                sent_ns = yield due_ns, data
                noted.append(sent_ns)
                sent += size
                late_ns = sent_ns - due_ns
                if connection.room_ns < due_ns:
                    count_late(late_ns)
                if late_ns > latest_ns:  # noqa: PLR1730 (100,000 times per second `max` costs 1 % of a core)
                    latest_ns = late_ns
        finally:
            truth.chunk_ns, truth.silent_ns = stamps.tolist(), silent.tolist()
            truth.tokens, truth.late_ns = min(sent, length), latest_ns
            if self._overrun_s and sent < length:
                until_s = (time.monotonic_ns() - start_ns) / _SECOND + self._overrun_s
                left = sizes[len(stamps) + len(silent) :]
                generated = takewhile(lambda due_s: due_s <= until_s, dues)
                truth.overrun_tokens = sum(size for _, size in zip(generated, left, strict=False))
            if self._states and sent < length and stamps:
                self._served(exchange, stamps[0], stamps[-1], sizes[: len(stamps) + len(silent)])
        if not length:
            yield _due_ns(truth, answer.ttft_s), first + end
        _completed(exchange)

    @property
    def _states(self) -> bool:
        """Whether responses, or the metrics page, state what is known of each request."""
        return bool(self._options.statements) or self._drafting is not None

    def _served(self, exchange: ServedRequest, first_ns: int, last_ns: int, sizes: Sequence[int]) -> Served:
        """The times and drafts of a request, which the truth keeps."""
        truth, start_ns = exchange.truth, _due_ns(exchange.truth, 0)
        drafts = None if self._drafting is None else Drafts.of(self._drafting, sizes)
        served = Served(
            truth.queued_ns, first_ns - start_ns, last_ns - first_ns, truth.input_tokens, sum(sizes), drafts
        )
        if self._states:
            truth.stated = served.record()
        return served

    def _stated(self, served: Served) -> wire.Statements:
        forms = self._options.statements
        if not forms:
            return wire.UNSAID
        return wire.Statements(served.root(forms), served.choice(forms), served.usage(forms))

    def _counts(self, ask: MockRequest, answer: PlannedResponse) -> tuple[Any, ...]:
        """What `wire.usage` takes."""
        media: Any = ask.media_tokens
        if media and "vllm" in self._options.statements:
            by_kind = {name.removesuffix("_tokens"): count for name, count in media}
            media = (("multimodal_tokens", by_kind),)
        return ask.input_tokens, len(answer.tokens), answer.cached_tokens, media

    def _note(self, exchange: ServedRequest, due_ns: int, sent_ns: int) -> None:
        exchange.truth.late_ns = sent_ns - due_ns
        if exchange.connection.room_ns < due_ns:
            self._lateness.note(sent_ns - due_ns)


def _due_ns(truth: Truth, after_s: float) -> int:
    """A moment counted from the start of service."""
    return truth.received_ns + truth.queued_ns + int(after_s * _SECOND)


def _completed(exchange: ServedRequest) -> None:
    truth = exchange.truth
    truth.status, truth.outcome, truth.finish_reason = _OK, "completed", exchange.answer.finish_reason


def _fail(request: RawRequest, truth: Truth, refusal: RefusedRequest, due_ns: int) -> Task:
    """Refuse a request."""
    yield due_ns, _refused(request, refusal)
    truth.status, truth.outcome = refusal.status, "failed"


def _refused(request: RawRequest, refusal: RefusedRequest) -> bytes:
    wait_s = refusal.retry_after_s
    header = "" if wait_s is None else f"Retry-After: {wait_s}\r\n"
    return _in_one_piece(request, refusal.status, refusal.body(), _JSON, header)


def _page(body: bytes, kind: str) -> Callable[[], tuple[bytes, str]]:
    """A page with constant content."""
    return lambda: (body, kind)


def _in_one_piece(request: RawRequest, status: int, body: bytes, kind: str, header: str = "") -> bytes:
    """A response with a body of a content type, and a further header."""
    head = (
        f"HTTP/1.1 {status} {_REASONS.get(status, '')}\r\n"
        f"Content-Type: {kind}\r\nContent-Length: {len(body)}\r\n{header}"
    )
    return head.encode() + _rest_of_head(request) + (b"" if request.method == "HEAD" else body)


def _rest_of_head(request: RawRequest) -> bytes:
    """The headers that depend on the request, and the empty line."""
    request_id = request.headers.get(b"x-request-id")
    rest = b"\r\n" if request_id is None else b"X-Request-Id: %b\r\n\r\n" % request_id
    return rest if request.keep_alive else b"Connection: close\r\n" + rest
