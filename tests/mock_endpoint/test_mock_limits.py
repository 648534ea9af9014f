"""A server that ends by itself, and a server that limits the rate."""

from __future__ import annotations

import socket
import time
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from loadgen.mock_endpoint import MockOptionsError, MockProcess, start_mock
from loadgen.mock_endpoint.rate_limit import RateLimit

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Wire


def refuses(url: str) -> bool:
    """Whether connections to a server are refused."""
    parts = urlsplit(url)
    try:
        socket.create_connection((parts.hostname, parts.port)).close()
    except ConnectionRefusedError:
        return True
    except ConnectionResetError:  # the server was ending
        return False
    return False


def test_a_server_that_dies(connect: Callable[[MockProcess], Wire]) -> None:
    """The open stream is cut and no further connection is accepted; the truth has the cut request."""
    with start_mock(ttft="1ms", itl="50ms", tokens="100000", die_after="300ms") as mock:
        wire = connect(mock)
        wire.ask()
        wire.read_until(b'"content":" A"')
        cut = b"more"
        with suppress(ConnectionResetError):
            while cut:
                cut = wire.socket.recv(65536)
        while not refuses(mock.url):  # the last stream ends a moment before the process
            time.sleep(0.01)
        (truth,) = mock.truth(1)
    assert (truth.outcome, truth.done_ns > truth.received_ns + 300_000_000) == ("aborted", True)


def test_a_server_that_was_stopped_before_its_end(connect: Callable[[MockProcess], Wire]) -> None:
    """A stop needs not wait for that time."""
    with start_mock(ttft="0", itl="0", die_after="1h") as mock:
        wire = connect(mock)
        wire.ask(stream=False)
        wire.read_json()
        assert mock.stop() == 0


def test_requests_above_the_rate(connect: Callable[[MockProcess], Wire]) -> None:
    """Of two requests an hour the third waits for the next hour. Pages are not limited."""
    with start_mock(ttft="0", itl="0", tokens="1", rate_limit="2/1h") as mock:
        wire = connect(mock)
        for stream in (False, True):
            wire.ask(stream=stream)
            wire.read_until(b"[DONE]" if stream else b'"total_tokens":4}}')
        for stream in (False, True):
            third = connect(mock)
            third.ask(stream=stream)
            head = third.read_head().lower()
            assert head.startswith(b"http/1.1 429 ")
            (wait,) = [line for line in head.split(b"\r\n") if line.startswith(b"retry-after: ")]
            assert 0 < int(wait.split()[1]) <= 3600
            third.read_until(b'"code":"rate_limit_exceeded"')
        page = connect(mock)
        page.socket.sendall(b"GET /v1/models HTTP/1.1\r\nHost: mock\r\n\r\n")
        assert page.read_head().startswith(b"HTTP/1.1 200")
        truths = mock.truth(4)
    assert sorted((truth.outcome, truth.status) for truth in truths) == [
        *[("completed", 200)] * 2,
        *[("failed", 429)] * 2,
    ]


def test_a_gateway_whose_server_died(connect: Callable[[MockProcess], Wire]) -> None:
    """The gateway goes on, with its pages and without answers."""
    with start_mock(ttft="0", itl="0", tokens="1", fail_after="1ns") as mock:
        wire = connect(mock)
        wire.ask(stream=False)
        assert wire.read_json()[0] == 200
        wire.ask()
        status, body = wire.read_json()
        wire.socket.sendall(b"GET /health HTTP/1.1\r\nHost: mock\r\n\r\n")
        assert wire.read_head().startswith(b"HTTP/1.1 200")
    assert (status, body["error"]["type"]) == (502, "bad_gateway")


def test_the_next_span_begins_with_a_request() -> None:
    """Spans are not aligned: each begins with the first request after the last one."""
    limit = RateLimit(1, 1e-9)
    assert limit.refusal() is None
    time.sleep(1e-6)
    assert limit.refusal() is None


@pytest.mark.parametrize(
    ("option", "text", "written"),
    [
        *(("die_after", text, "write 5s") for text in ("", "0s", "-1s", "soon", "1e300h")),
        ("fail_after", "0s", "write 5s"),
        *(("rate_limit", text, "write 60/1m") for text in ("", "60", "60/", "0/1s", "-1/1s", "1/0s", "a/1s")),
    ],
)
def test_what_cannot_be(option: str, text: str, written: str) -> None:
    """The message shows how the option is written."""
    with pytest.raises(Exception, match=written):
        start_mock(**{option: text})


def test_a_scenario_has_neither() -> None:
    """A scenario fixes the responses."""
    with pytest.raises(MockOptionsError, match="leave out die_after, rate_limit"):
        start_mock(scenario="crlf", die_after="1s", rate_limit="1/1s")
