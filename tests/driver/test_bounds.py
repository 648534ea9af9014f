"""Servers that do not stop: whatever they send, it takes a bounded amount of memory and of time."""

from __future__ import annotations

import asyncio
import time
import tracemalloc
from itertools import chain, count, repeat
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.memory_bounds import SMALL_BYTES, Allowance
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.requests.turn import RequestRunner
from recorder.lifecycle import violations
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from recorder.event import Event

KB = 1000
SAMPLE = Sample(0, "why?")
DELTA = b'data: {"choices":[{"delta":{"content":%b}}]}\n\n'


@pytest.fixture(scope="module")
def ends(run: Any, serve: Any, connect: Any) -> Callable[..., list[Event]]:
    """How requests end, all at once, each to a server that plays one of these scripts; nothing stays held."""

    def ends(*scripts: Iterable[Any], allowance: Allowance, timeout_s: float = 10.0) -> list[Event]:
        events: list[Event] = []

        async def scenario() -> list[Event]:
            async with serve(*scripts) as server, connect(server.url, timeout_s=timeout_s) as transport:
                runner = RequestRunner(
                    transport, chat_completions, Generation("m"), events.append, allowance=allowance
                )
                body = runner.prepare(SAMPLE)
                await asyncio.gather(
                    *(runner.run(SAMPLE, body, time.monotonic_ns(), "performance") for _ in scripts)
                )
                # The client closes the connection.
                await server.hung_up.wait()
            return [event for event in events if event.type.name in ("COMPLETE", "ERROR")]

        ended = run(scenario())
        assert violations(events) == []
        assert allowance.held == 0
        return ended

    return ends


@pytest.mark.parametrize("kind", ["tokens", "silent", "comments", "one line", "one frame", "whole"])
def test_a_body_without_end(ends: Any, wire: Any, kind: str) -> None:
    """Of whatever kind: it is given up when it takes too much to keep."""
    head = wire.head(transfer_encoding="chunked")
    piece = {
        "tokens": DELTA % b'"a"',
        "silent": DELTA % b'""',
        "comments": b": \n",
        "one line": b"data: " + b"x" * KB,
        "one frame": b"data: x\n" * 100,
        "whole": b"[" * KB,
    }[kind]
    if kind == "whole":
        head = wire.head(content_type="application/json", transfer_encoding="chunked")
    together = wire.chunk(piece) * max(1, 20_000 // len(piece))
    (end,) = ends(chain([head], repeat(together)), allowance=Allowance(200 * KB))
    assert end.data["error"] == "too_large"
    assert "more than 200000 bytes to keep (--max-response)" in end.data["message"]
    assert end.data["bytes"] < 600 * KB


@pytest.mark.parametrize("piece", [b"X: y\r\n" * 1000, b"HTTP/1.1 103 Early Hints\r\nX: y\r\n\r\n" * 200])
def test_a_head_without_end(ends: Any, piece: bytes) -> None:
    """Header after header, and head after head."""
    start = [b"HTTP/1.1 200 OK\r\n"] if piece.startswith(b"X") else []
    (end,) = ends(chain(start, repeat(piece)), allowance=Allowance())
    assert (end.data["error"], end.data["bytes"]) == ("too_large", 0)
    assert "65536 bytes" in end.data["message"]


def test_an_error_without_end(ends: Any, wire: Any) -> None:
    """It is called by its name, and quoted, and the rest is not read."""
    head = wire.head(500, transfer_encoding="chunked")
    (end,) = ends(chain([head], repeat(wire.chunk(b"sorry " * 2000))), allowance=Allowance())
    assert (end.data["error"], end.data["message"][:11]) == ("http_500", "sorry sorry")
    assert end.data["bytes"] < 600 * KB


@pytest.mark.parametrize("piece", [b"", b": \n", b'data: {"choices":[]}\n\n', DELTA % b'""'])
def test_little_without_an_end(ends: Any, wire: Any, step: Any, piece: bytes) -> None:
    """Nothing, comments, empty chunks: the request's time ends them."""
    drips = chain.from_iterable(repeat([wire.chunk(piece), 0.005])) if piece else [step.HANG]
    head = wire.head(transfer_encoding="chunked")
    (end,) = ends(chain([head], drips), allowance=Allowance(), timeout_s=0.08)
    assert end.data["error"] == "total_timeout"


def test_many_responses_together(ends: Any, wire: Any) -> None:
    """The great ones that go on are given up; a small one next to them is not."""
    filler = wire.chunk(b": " + b"x" * 100 * KB + b"\n")
    great = [wire.head(transfer_encoding="chunked"), *[filler, 0.001] * 100]
    small = [wire.head(transfer_encoding="chunked"), *[wire.chunk(DELTA % b'"a"'), 0.01] * 20]
    end = [wire.chunk(wire.STOP + wire.DONE) + wire.chunk(b"")]
    ended = ends(*[great] * 3, small + end, allowance=Allowance(together=6 * SMALL_BYTES))
    names = sorted(event.data.get("error", "none") for event in ended)
    assert names == ["none", "too_large", "too_large", "too_large"]
    (message,) = {event.data["message"] for event in ended if "error" in event.data}
    assert "all open responses together" in message


def streamed(text: str) -> bytes:
    """A frame with this text."""
    return DELTA % orjson.dumps(text)


def receive_without_end(stream: ResponseStream, piece: bytes) -> None:
    """The same piece again and again, each time in its own memory."""
    for at_ns in count(1):
        stream.receive([bytes(bytearray(piece))], [at_ns])


@pytest.mark.parametrize(
    "piece",
    [
        streamed("ab") * 1000,
        streamed("x" * 999 + "😀") * 50,
        b'data: {"choices":[{"delta":{"tool_calls":[%b]}}]}\n\n' % b",".join([b"{}"] * 1000),
    ],
    ids=["short tokens", "wide text", "tool calls"],
)
def test_what_a_response_holds_is_what_it_takes(piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its texts and tool calls take more memory than its bytes; so it is given up in time."""
    small_bytes = SMALL_BYTES // 4  # tracing what is decoded of more takes seconds
    for module in ("memory_bounds", "stream"):
        monkeypatch.setattr(f"loadgen.driver.client.{module}.SMALL_BYTES", small_bytes)
    allowance = Allowance(each=2 * small_bytes)
    stream = ResponseStream(chat_completions, allowance)
    stream.start(event_stream=True)
    tracemalloc.start()
    try:
        with pytest.raises(RequestFailedError, match="to keep"):
            receive_without_end(stream, piece)
        # What is decoded between two counts is of no more than `SMALL_BYTES` of the body.
        assert tracemalloc.get_traced_memory()[0] < allowance.held + 4 * small_bytes
        stream.forget()
        assert tracemalloc.get_traced_memory()[0] < small_bytes // 4
    finally:
        tracemalloc.stop()


def test_a_response_counts_until_its_end_is_on_its_way(run: Any, serve: Any, connect: Any, wire: Any) -> None:
    """The end of a large response is sent to the log at once, and nothing else of it is in memory then."""
    body = wire.chunk(streamed("x" * KB) * 100) + wire.chunk(wire.STOP + wire.DONE) + wire.chunk(b"")
    allowance, shipped = Allowance(), []
    events: list[Event] = []

    async def scenario() -> None:
        script = [wire.head(transfer_encoding="chunked"), body]
        async with serve(script) as server, connect(server.url, timeout_s=10) as transport:
            runner = RequestRunner(
                *(transport, chat_completions, Generation("m"), events.append),
                allowance=allowance,
                ship=lambda: shipped.append((allowance.held > 100 * KB, events[-1].type.name)),
            )
            await runner.run(SAMPLE, runner.prepare(SAMPLE), time.monotonic_ns(), "performance")

    run(scenario())
    assert shipped == [(True, "COMPLETE")]
    assert allowance.held == 0


def test_what_waits_for_the_log_counts() -> None:
    """And each open response counts twice, for it is copied on its way there."""
    queued = 0
    allowance = Allowance(together=8 * SMALL_BYTES, queued=lambda: queued)
    allowance.take(2 * SMALL_BYTES, 2 * SMALL_BYTES)
    queued = 4 * SMALL_BYTES
    with pytest.raises(RequestFailedError, match="on their way to the log"):
        allowance.take(1, 2 * SMALL_BYTES + 1)
    queued = 3 * SMALL_BYTES
    allowance.take(1, 2 * SMALL_BYTES + 2)


def test_an_allowance() -> None:
    """It counts what is held, and refuses what is too much, which is to be given back all the same."""
    allowance = Allowance(each=100, together=SMALL_BYTES + 50)
    allowance.take(60, 60)
    with pytest.raises(RequestFailedError, match="more than 100 bytes to keep"):
        allowance.take(60, 120)
    allowance.give_back(120)
    assert allowance.held == 0
    allowance = Allowance(together=SMALL_BYTES)
    allowance.take(SMALL_BYTES, SMALL_BYTES)
    allowance.take(SMALL_BYTES, SMALL_BYTES)
    with pytest.raises(RequestFailedError, match="together"):
        allowance.take(1, SMALL_BYTES + 1)
