"""What transports send, what they leave alone, and in which order they report it."""

from __future__ import annotations

import gzip
import socket
import time
from itertools import groupby
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client import chat_completions
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.requests.turn import RequestRunner
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.driver.client.head import Head
    from recorder.event import Event


def ipv6_host() -> bool:
    """Whether this machine has an IPv6 address for itself."""
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


@pytest.fixture(scope="module")
def asked(run: Any, serve: Any, connect: Any, ask: Any) -> Callable[..., tuple[list[bytes], list[Exchange]]]:
    """Send a request for each script: what the server was sent, and the exchanges."""

    def asked(
        *scripts: Any,
        method: str = "POST",
        body: bytes = b'{"a": 1}',
        host: str = "127.0.0.1",
        name: str = "127.0.0.1",
        **options: Any,
    ) -> tuple[list[bytes], list[Exchange]]:
        async def scenario() -> tuple[list[bytes], list[Exchange]]:
            async with (
                serve(*scripts, host=host) as server,
                connect(server.url.replace("127.0.0.1", name), **options) as transport,
            ):
                exchanges = [await ask(transport, body, method) for _ in scripts]
                return server.requests, exchanges

        return run(scenario())

    return asked


def fields(request: bytes) -> dict[str, str]:
    """The header of a request, each field once."""
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
    pairs = [line.split(": ", 1) for line in lines]
    assert len({name.lower() for name, _ in pairs}) == len(pairs)
    return {name.lower(): value for name, value in pairs}


def test_what_a_request_says(asked: Any, wire: Any) -> None:
    """The body as it was given, its identity, the headers that were asked for; nothing of a library's."""
    headers = {"Authorization": "Bearer secret", "User-Agent": "me"}
    (request,), (exchange,) = asked([wire.sized(b"abc")], headers=headers)
    assert exchange.failure is None
    assert request.startswith(b"POST /v1/chat/completions HTTP/1.1\r\n")
    assert request.endswith(b'\r\n\r\n{"a": 1}')
    text = fields(request)
    assert text.pop("host").startswith("127.0.0.1:")
    assert text == {
        "accept": "text/event-stream, application/json",
        "accept-encoding": "identity",
        "x-request-id": "an-id",
        "content-type": "application/json",
        "content-length": "8",
        "authorization": "Bearer secret",
        "user-agent": "me",
    }


def test_a_request_without_a_body(asked: Any, wire: Any) -> None:
    """As for a list of models: there is no type of it; it is sent, and the connection kept, all the same."""
    requests, (first, second) = asked(*[[0.02, wire.sized(b"abc")]] * 2, method="GET", body=b"")
    assert [request.split()[0] for request in requests] == [b"GET", b"GET"]
    assert "content-type" not in fields(requests[0])
    assert first.first_byte_ns - first.sent_ns >= 20e6 * 0.9
    assert second.setup.reused


def test_a_redirect_is_an_answer(asked: Any, wire: Any) -> None:
    """Following it would measure something else."""
    requests, (exchange,) = asked([wire.sized(b"", 307, location="/elsewhere")])
    assert len(requests) == 1
    assert (exchange.response.status, exchange.response.header("location")) == (307, "/elsewhere")
    assert exchange.failure is None


def test_no_cookie_is_kept(asked: Any, wire: Any) -> None:
    """Requests know nothing of each other."""
    requests, _ = asked(*[[wire.sized(b"abc", set_cookie="a=b; Path=/")]] * 2, name="localhost")
    assert "cookie" not in fields(requests[1])


def test_a_compressed_body_is_left_as_it_is(asked: Any, wire: Any) -> None:
    """Its times are the compressor's; it is for others to say so."""
    body = gzip.compress(wire.STREAM)
    _, (exchange,) = asked([wire.sized(body, content_encoding="gzip")])
    assert (exchange.failure, exchange.response.encoding, exchange.stream.body()) == (None, "gzip", body)


@pytest.mark.parametrize(("status", "failure"), [(200, Failure.DECODE_ERROR), (400, "http_400")])
def test_a_compressed_answer_is_a_failed_turn(
    run: Any, serve: Any, connect: Any, wire: Any, status: int, failure: str
) -> None:
    """Over every transport, and under the name that says why."""
    events: list[Event] = []
    script = [wire.sized(gzip.compress(wire.STREAM), status=status, content_encoding="gzip")]

    async def scenario() -> None:
        async with serve(script) as server, connect(server.url) as transport:
            runner = RequestRunner(transport, chat_completions, Generation("m"), events.append)
            sample = Sample(0, "why?")
            await runner.run(sample, runner.prepare(sample), time.monotonic_ns(), "performance")

    run(scenario())
    assert (events[-1].type.name, events[-1].data["error"]) == ("ERROR", failure)
    assert "the body is gzip" in events[-1].data["message"]


@pytest.mark.skipif(
    not ipv6_host(),
    reason="IPv6 is off on this machine: the test server cannot listen on ::1",
)
def test_an_ipv6_host(asked: Any, wire: Any) -> None:
    """Its address is in brackets."""
    (request,), (exchange,) = asked([wire.sized(b"abc")], host="::1")
    assert (exchange.failure, exchange.stream.body()) == (None, b"abc")
    assert fields(request)["host"].startswith("[::1]:")


class Witness(Exchange):
    """An exchange that keeps the order of what it observes."""

    def __init__(self) -> None:
        self.moments: list[str] = []
        super().__init__(
            ResponseStream(chat_completions), lambda _: self.moments.append("sent"), lambda _: None
        )

    def head(self, head: Head, at_ns: int) -> None:
        """Note it."""
        super().head(head, at_ns)
        self.moments.append("head")

    def body(self, pieces: Any, moments: Any, late: Any = MappingProxyType({})) -> bool:
        """Note it."""
        assert self.setup is not None
        self.moments.append("body")
        return super().body(pieces, moments, late)

    def ended(self, at_ns: int, *, framed: bool) -> None:
        """Note it."""
        self.moments.append("ended")
        super().ended(at_ns, framed=framed)

    def failed(self, failure: str, message: str, at_ns: int) -> None:
        """Note it."""
        self.moments.append("failed")
        super().failed(failure, message, at_ns)


@pytest.mark.parametrize("ending", ["whole", "cut", "silent", "refused"])
def test_the_order_of_calls(run: Any, serve: Any, connect: Any, wire: Any, step: Any, ending: str) -> None:
    """Sent, head, body, end; a failure ends it wherever it comes, and nothing comes after an end."""
    start = [wire.head(content_length=6), 0.01, b"abc", 0.01]
    script, expected = {
        "whole": ([*start, b"def"], ["sent", "head", "body", "ended"]),
        "cut": ([*start, step.CLOSE], ["sent", "head", "body", "failed"]),
        "silent": ([step.CLOSE], ["sent", "failed"]),
        "refused": ([wire.head(content_length=9) + b"data: {\n\n"], ["sent", "head", "body", "failed"]),
    }[ending]

    async def scenario() -> list[str]:
        async with serve(script) as server, connect(server.url) as transport:
            exchange = Witness()
            await transport.send(Request("POST", "/chat/completions", "an-id", b"{}"), exchange)
            return [payload for payload, _ in groupby(exchange.moments)]

    assert run(scenario()) == expected
