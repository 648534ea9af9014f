"""Chunks that are read together: how early each may have been is kept, where it is in doubt."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from array import array
from contextlib import closing, contextmanager
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.aiohttp_transport import AiohttpTransport
from loadgen.driver.client.arrival import StampingSocket, timestamp_source
from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.codec import Delta, Generation, Usage
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.exchange import SENDING_NS, Exchange
from loadgen.driver.client.http_transport import HttpTransport, InterpretedTransport
from loadgen.driver.client.late_reads import LateReads, SegmentCounter
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.requests.turn import RequestRunner
from loadgen.driver.system.linux import LINUX
from recorder.event import Event, EventType
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
LAST = b"0\r\n\r\n"

pytestmark = pytest.mark.skipif(
    timestamp_source() != "kernel" or not LINUX,
    reason="only Linux stamps arrivals in the kernel and counts segments: elsewhere this is unknown",
)


def frame(text: str, finish: str = "null") -> bytes:
    """One event with one token, as one HTTP chunk."""
    data = b'data: {"choices":[{"index":0,"delta":{"content":"%b"},"finish_reason":%b}]}\n\n' % (
        text.encode(),
        finish.encode(),
    )
    return b"%x\r\n%b\r\n" % (len(data), data)


class Server:
    """Answers one request by several writes, in a separate thread, and knows when it made them.

    Args:
        listener: Where it listens.
        writes: What it sends, one segment each.

    Attributes:
        done: Set when all is sent.
        sent_ns: Before and after each write.
    """

    def __init__(self, listener: socket.socket, writes: Sequence[bytes]) -> None:
        self.done = threading.Event()
        self.sent_ns: list[tuple[int, int]] = []
        self._listener, self._writes = listener, writes

    def run(self) -> None:
        """Serve one request."""
        accepted, _ = self._listener.accept()
        with accepted:
            accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            accepted.settimeout(60)
            while b'"model"' not in accepted.recv(65536):
                pass
            for data in self._writes:
                time.sleep(0.003)
                before_ns = time.monotonic_ns()
                accepted.sendall(data)
                self.sent_ns.append((before_ns, time.monotonic_ns()))
            self.done.set()
            accepted.recv(1)


@contextmanager
def serving(writes: Sequence[bytes]) -> Iterator[tuple[Server, str]]:
    """A server, and where it is."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = Server(listener, writes)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        yield server, f"http://127.0.0.1:{listener.getsockname()[1]}"
    thread.join(60)


HTTP_TRANSPORTS = [InterpretedTransport, *[HttpTransport] * HttpTransport.compiled]
"""The measured transport in all its forms."""


def asked(make: Any, writes: Sequence[bytes]) -> tuple[Server, int, dict[str, Any]]:
    """Ask while the client reads nothing until all is sent: when it was sent, and how it ended."""
    events: list[Event] = []
    reading: list[asyncio.Task[Any]] = []

    async def scenario(server: Server, url: str) -> None:
        def emit(event: Event) -> None:
            events.append(event)
            if event.type is EventType.REQUEST_SENT:
                # The event loop stands still, as on a machine without a CPU for it.
                assert server.done.wait(60)
                reading.append(asyncio.create_task(transport.caught_up()))

        transport = make(endpoint(url, {}), Timeouts(60))
        if getattr(transport, "compiled", False):
            # Its thread would read in time: it has ended before anything is sent.
            await transport.open_ahead(1)
            transport._reader.wire.stop()
        runner, sample = RequestRunner(transport, chat_completions, Generation("m"), emit), Sample(0, "hi")
        await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")
        await asyncio.gather(*reading)
        await transport.close()

    with serving(writes) as (server, url):
        asyncio.run(scenario(server, url))
    assert events[-1].type is EventType.COMPLETE, events[-1].data
    sent = next(event for event in events if event.type is EventType.REQUEST_SENT)
    return server, sent.at_ns, dict(events[-1].data or {})


def bounds(sent_ns: int, data: dict[str, Any]) -> list[tuple[int, int]]:
    """Between which moments each chunk arrived."""
    gaps_us = array("I", data["chunk_gaps_us"])
    stamps = [sent_ns + 1000 * us for us in accumulate(gaps_us)]
    late, lows = data.get("late_chunks", []), dict.fromkeys(range(len(stamps)), 0)
    for first, count, early_us in zip(late[::3], late[1::3], late[2::3], strict=True):
        lows.update(dict.fromkeys(range(first, first + count), early_us))
    # A stamp is kept to the microsecond.
    return [(stamp - 1000 * lows[place] - 2000, stamp + 2000) for place, stamp in enumerate(stamps)]


@pytest.mark.parametrize("make", [*HTTP_TRANSPORTS, AiohttpTransport])
def test_what_piled_up_is_known_to_an_interval(make: Any) -> None:
    """Each chunk was its own write, and all are read at once: the interval has the truth in it."""
    texts = [f"word{number}" for number in range(5)]
    server, sent_ns, data = asked(
        make, [HEAD + frame(texts[0]), *map(frame, texts[1:4]), frame(texts[4], '"stop"') + LAST]
    )
    for (low_ns, high_ns), (before_ns, after_ns) in zip(bounds(sent_ns, data), server.sent_ns, strict=True):
        assert low_ns <= after_ns
        assert before_ns <= high_ns
    # The stamp alone is too late for all but the last: they were sent 3 ms apart.
    assert data["first_token_ns"] > server.sent_ns[0][1] + 3_000_000
    assert sent_ns <= data["first_token_low_ns"] <= server.sent_ns[0][1]
    assert data["last_token_low_ns"] <= server.sent_ns[-1][1]
    assert data["late_chunks"][:2] == [0, 5]


@pytest.mark.parametrize("make", [*HTTP_TRANSPORTS, AiohttpTransport])
def test_what_was_sent_together_is_exact(make: Any) -> None:
    """Several events of one write came in one segment, however late they are read."""
    texts = ["one", "two", "three"]
    together = HEAD + b"".join(map(frame, texts)) + frame("end", '"stop"') + LAST
    _, _, data = asked(make, [together])
    assert data["chunks"] == 4
    assert not {name for name in data if name.endswith("_low_ns") or name == "late_chunks"}


@pytest.mark.parametrize("make", HTTP_TRANSPORTS)
def test_the_last_of_a_few_has_its_own_stamp(make: Any) -> None:
    """Of two segments in a read the second is exact, and the first came before it."""
    server, sent_ns, data = asked(make, [HEAD + frame("one"), frame("two"), frame("end", '"stop"') + LAST])
    assert data["late_chunks"][0] == 0
    assert all(
        low_ns <= after_ns and before_ns <= high_ns
        for (low_ns, high_ns), (before_ns, after_ns) in zip(
            bounds(sent_ns, data), server.sent_ns, strict=True
        )
    )


# The parts…


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, StampingSocket]]:
    """A server's end of a connection, and a client's that counts."""
    with socket.create_server(("127.0.0.1", 0)) as listener, StampingSocket() as client:
        client.connect(listener.getsockname())
        client.settimeout(0)
        server, _ = listener.accept()
        server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with closing(server):
            yield server, client


def test_segments_are_counted_against_reads(pair: tuple[socket.socket, StampingSocket]) -> None:
    """One a read leaves no doubt; two in one do; what waits to be read does, until it is read."""
    server, client = pair
    counted = SegmentCounter(client, fresh=True)
    for writes, together in ((1, 0), (2, 1), (1, 0), (3, 2)):
        for _ in range(writes):
            server.sendall(b"data")
        client.recv(100)
        counted.reads += 1
        assert counted.together() == together
    server.sendall(b"waits")
    assert counted.together() == 1
    client.recv(100)
    counted.reads += 1
    assert counted.together() == 0


def test_segments_of_an_older_connection(pair: tuple[socket.socket, StampingSocket]) -> None:
    """What it received before does not count, nor does what waits pass for read."""
    server, client = pair
    server.sendall(b"before")
    waiting = SegmentCounter(client, fresh=False)
    client.recv(100)
    counted = SegmentCounter(client, fresh=False)
    assert counted.together() == 0
    waiting.reads += 1
    assert waiting.together() > 0


def test_counting_leaves_a_reset_to_the_next_read(pair: tuple[socket.socket, StampingSocket]) -> None:
    """The next read of a reset connection raises, after segments were counted."""
    server, client = pair
    counted = SegmentCounter(client, fresh=True)
    server.sendall(b"data")
    server.sendall(b"data")
    server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    server.close()
    client.recv(100)
    counted.reads += 1
    assert counted.together() == 1
    with pytest.raises(ConnectionResetError):
        client.recv(100)


class Counted:
    """Segments as a test wants them."""

    reads = 0

    def __init__(self, *together: int) -> None:
        self._together = iter(together)

    def together(self) -> int:
        """The next."""
        return next(self._together)


def test_many_segments_leave_the_next_read_in_doubt() -> None:
    """Their acknowledgement was late, and the server may have waited for it."""
    late = LateReads(Counted(3, 0))  # type: ignore[arg-type]  # as much of them as it uses
    late.begin(chunked=True)
    late.count(1)
    late.look(0, 4, (b"", 90_000_000, 10_000_000))
    assert late.take() == dict.fromkeys(range(4), Late(10_000_000, whole=True))
    assert late.sure_bytes < 0
    late.count(1)
    late.look(0, 1, (b"", 95_000_000, 91_000_000))
    assert late.take() == {0: Late(10_000_000, whole=True)}
    assert late.sure_bytes > 0


def test_a_read_right_after_a_quiet_moment_is_exact() -> None:
    """Then the kernel is not even asked."""
    late = LateReads(Counted())  # type: ignore[arg-type]  # as much of them as it uses
    late.look(0, 3, (b"", 1_000_000, 999_000))
    assert late.take() == {}


def test_order_tightens_a_bound() -> None:
    """Nothing arrives before what was sent before it; after the last token may come an end."""
    stream = ResponseStream(chat_completions)
    stream.start(event_stream=True)

    def piece(text: str) -> bytes:
        return frame(text).partition(b"\r\n")[2][:-2]

    stream.receive([piece("a")], [100])
    stream.receive(
        [piece("b") + piece("c"), b"data: [DONE]\n\n"],
        [200, 200],
        {0: Late(50, whole=True), 1: Late(50, whole=False)},
    )
    list(stream.decode())
    assert stream.answer.arrivals == [100, 200, 200]
    assert stream.answer.lows == {1: 100, 2: 100}
    assert stream.answer.late_chunks({1: 100, 2: 100}) == [1, 2, 1]


def test_a_template_keeps_what_is_in_doubt() -> None:
    """Frames that are read many at a time have their bounds all the same."""
    stream = ResponseStream(chat_completions)
    stream.start(event_stream=True)
    pieces = [frame(f"w{number}").partition(b"\r\n")[2][:-2] for number in range(200)]
    moments = [1000 * (number // 2 + 1) for number in range(200)]
    late = {number: Late(moments[number] - 600, whole=True) for number in range(20, 200, 2)}
    stream.receive(pieces[:1], moments[:1])
    stream.receive(pieces[1:], moments[1:], {number - 1: item for number, item in late.items()})
    list(stream.decode())
    assert stream.answer.lows == {number: item.since_ns for number, item in late.items()}


def test_silent_tokens_are_in_doubt_like_others() -> None:
    """They stand among the others by their stamps."""
    answer = ResponseStream(chat_completions).answer
    answer.add(Delta(content="a"), 10)
    answer.add(Delta(silent=True), 20, 12)
    answer.add(Delta(content="b"), 20)
    answer.add(Delta(usage=Usage(output_tokens=3)), 20)
    assert answer.arrivals == [10, 20, 20]
    assert answer.lows == {1: 12}


@pytest.mark.parametrize("took_ns", [SENDING_NS, SENDING_NS + 1])
def test_a_request_that_took_long_to_send(took_ns: int) -> None:
    """Its last byte left at some moment of that time."""

    async def scenario() -> None:
        exchange = Exchange(ResponseStream(chat_completions), lambda _: None, lambda _: None)
        exchange.sent(10, 10 + took_ns)
        assert exchange.sent_ns == 10
        assert exchange.sent_high_ns == (10 + took_ns if took_ns > SENDING_NS else None)

    asyncio.run(scenario())
