"""Waiting for sockets and for a moment, in the way of this platform and in the way of any."""

from __future__ import annotations

import socket
import sys
import threading
import time
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint import MockOptions, Truth
from loadgen.mock_endpoint.engine import Engine
from loadgen.mock_endpoint.ledger import Ledger
from loadgen.mock_endpoint.lifetime import Lifetime
from loadgen.mock_endpoint.poller import (
    READABLE,
    WRITABLE,
    EpollPoller,
    Poller,
    SelectorPoller,
    system_poller,
)
from loadgen.mock_endpoint.punctuality import Lateness
from loadgen.mock_endpoint.script import Script
from loadgen.mock_endpoint.service import Service
from loadgen.mock_endpoint.stall import Stall

if TYPE_CHECKING:
    from collections.abc import Iterator

MS = 1_000_000
POLLERS = [SelectorPoller, *([EpollPoller] if sys.platform == "linux" else [])]


@pytest.fixture(params=POLLERS)
def poller(request: pytest.FixtureRequest) -> Iterator[Poller]:
    """One of each kind."""
    with closing(request.param()) as opened:
        yield opened


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection."""
    first, other = socket.socketpair()
    with first, other:
        yield first, other


def test_a_moment_is_waited_for(poller: Poller) -> None:
    """Waiting for a moment ends at that moment or after it, never before."""
    for ahead_ns in (50_000, 500_000, 3 * MS, 500_000):
        moment_ns = time.monotonic_ns() + ahead_ns
        while time.monotonic_ns() < moment_ns:
            poller.wait(moment_ns)
            assert time.monotonic_ns() >= moment_ns


def test_a_moment_that_has_passed_is_not_waited_for(
    poller: Poller,
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """With a moment in the past it only looks."""
    poller.watch(pair[0].fileno())
    assert list(poller.wait(time.monotonic_ns() - 1)) == []
    pair[1].send(b"x")
    assert list(poller.wait(0)) == [(pair[0].fileno(), READABLE)]


def test_what_arrives_ends_the_wait(poller: Poller, pair: tuple[socket.socket, socket.socket]) -> None:
    """A socket that can be read is reported, long before the moment, and until it is read."""
    poller.watch(pair[0].fileno())
    pair[1].send(b"x")
    for _ in range(2):
        assert list(poller.wait(time.monotonic_ns() + 3_600_000 * MS)) == [(pair[0].fileno(), READABLE)]
    pair[0].recv(1)
    assert list(poller.wait(0)) == []


def test_room_to_write_is_reported_on_request(
    poller: Poller,
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """A socket that can be written to is reported only while that is asked for."""
    number = pair[0].fileno()
    poller.watch(number, writable=True)
    assert list(poller.wait(None)) == [(number, WRITABLE)]
    pair[1].send(b"x")
    assert list(poller.wait(None)) == [(number, READABLE | WRITABLE)]
    poller.watch(number)
    assert list(poller.wait(None)) == [(number, READABLE)]


def test_what_is_forgotten_is_not_reported(
    poller: Poller,
    pair: tuple[socket.socket, socket.socket],
) -> None:
    """After `forget` there is silence, and it can be watched again."""
    number = pair[0].fileno()
    poller.watch(number)
    pair[1].send(b"x")
    poller.forget(number)
    assert list(poller.wait(0)) == []
    poller.watch(number)
    assert list(poller.wait(0)) == [(number, READABLE)]


def test_the_engine_runs_on_each(poller: Poller) -> None:
    """The loop serves a paced stream on any poller, and ends at a signal."""
    options = MockOptions(ttft="5ms", itl="1ms", tokens="5")
    lateness, truths = Lateness(), list[Truth]()
    service = Service(options, Script(options), Stall(), Lifetime(None, list), None, truths.append, lateness)
    payload, stop = socket.socketpair()
    with payload, stop, socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0)
        engine = Engine(poller, [listener], service, Ledger(None), Stall())
        running = threading.Thread(target=engine.run, args=[payload.fileno()])
        running.start()
        with socket.create_connection(listener.getsockname(), timeout=120) as client:
            client.sendall(
                b'POST /v1/completions HTTP/1.1\r\nContent-Length: 30\r\n\r\n{"prompt": "a", "stream":true}'
            )
            received = b""
            while b"[DONE]" not in received:
                received += client.recv(65536)
            stop.send(b"x")
            running.join(60)
        assert not running.is_alive()
    (truth,) = truths
    assert received.count(b"data: ") == 5 + 2
    assert (truth.outcome, lateness.punctuality().chunks) == ("completed", 5)
    assert all(sent >= truth.received_ns + (5 + token) * MS for token, sent in enumerate(truth.chunk_ns))


def test_this_platform_gets_its_own() -> None:
    """On Linux that is epoll."""
    with closing(system_poller()) as poller:
        assert isinstance(poller, POLLERS[-1])
