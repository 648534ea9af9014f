"""One connection, with the test in the place of the engine."""

from __future__ import annotations

import gc
import socket
import time
from select import select
from typing import TYPE_CHECKING

import pytest

from loadgen.driver.client.arrival import StampingSocket
from loadgen.mock_endpoint import MockOptions, Truth
from loadgen.mock_endpoint.client_connection import MockConnection, RawRequest
from loadgen.mock_endpoint.lifetime import Lifetime
from loadgen.mock_endpoint.punctuality import Lateness
from loadgen.mock_endpoint.script import Script
from loadgen.mock_endpoint.service import Service
from loadgen.mock_endpoint.stall import Stall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

BODY = b'{"prompt": "one", "stream": true}'
ANSWERED = b"POST /v1/completions HTTP/1.1\r\nContent-Length: %d\r\n\r\n%b" % (len(BODY), BODY)
REFUSED = b"POST /v1/completions HTTP/1.1\r\nContent-Length: 1\r\n\r\n{"


class Host:
    """Serves a connection, and lets the test do what the engine's loop does."""

    def __init__(self, options: MockOptions) -> None:
        self.lateness = Lateness()
        self.truths: list[Truth] = []
        self.service = Service(
            options, Script(options), Stall(), Lifetime(None, list), None, self.truths.append, self.lateness
        )
        self.unblocked = 0
        self.writable = False

    def begin(self, connection: MockConnection, request: RawRequest) -> None:
        """Make the task, and leave it to the test to run it."""
        connection.task = self.service.answer(connection, request)

    def wake(self, connection: MockConnection) -> None:
        """No request waits for a slot here."""
        raise AssertionError(f"{connection} was woken")

    def unblock(self, _: MockConnection) -> None:
        """Count."""
        self.unblocked += 1

    def watch(self, _: MockConnection, *, writable: bool) -> None:
        """Remember."""
        self.writable = writable


def connected(host: Host, sent: bytes) -> tuple[MockConnection, socket.socket]:
    """A connection that has read what its client sent, and the client."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname(), timeout=120)
        accepted, _ = listener.accept()
    served = StampingSocket(fileno=accepted.detach())
    served.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 65536)
    client.sendall(sent)
    select([served], [], [], 60)
    served.settimeout(0)
    connection = MockConnection(served, host)
    connection.read()
    return connection, client


@pytest.fixture
def pair() -> Iterator[tuple[MockConnection, socket.socket, Host]]:
    """A connection that is asked for 20,000 tokens, its client, and its host."""
    host = Host(MockOptions(ttft="0", itl="1ns", tokens="20000"))
    connection, client = connected(host, ANSWERED)
    with client:
        yield connection, client, host
        connection.close()


def what_is_there(client: socket.socket) -> bytes:
    """Read from a client that does not wait."""
    try:
        return client.recv(1 << 20)
    except BlockingIOError:
        return b""


def run(connection: MockConnection, blocked: Callable[[], None]) -> None:
    """Send all that a connection's task wants sent, when it is due or not; without room call `blocked`."""
    assert connection.task is not None
    sent_ns = None
    while True:
        try:
            _, data = connection.task.send(sent_ns)  # type: ignore[arg-type] (a generator is begun with None)
        except StopIteration:
            return
        sent_ns = time.monotonic_ns()
        connection.write(data)
        if connection.blocked:
            blocked()


def test_a_task_waits_for_a_client_that_does_not_read(
    pair: tuple[MockConnection, socket.socket, Host],
) -> None:
    """It goes on when all is sent, and what was due meanwhile is not the server's lateness."""
    connection, client, host = pair
    client.settimeout(0)
    received = bytearray()

    def read() -> None:
        nonlocal received
        before = host.unblocked
        assert host.writable
        while host.unblocked == before:
            received += what_is_there(client)
            connection.flush()
        assert not host.writable
        assert not connection.blocked

    run(connection, read)
    while not received.endswith(b"0\r\n\r\n"):
        connection.flush()
        received += what_is_there(client)
    (truth,) = host.truths
    assert host.unblocked > 0
    assert received.count(b"data: ") == 20_000 + 2
    assert (truth.tokens, len(truth.chunk_ns), truth.outcome) == (20_000, 20_000, "completed")
    assert 0 < host.lateness.punctuality().chunks < 20_000


def test_a_task_that_is_cut_off_tells_what_was_sent(
    pair: tuple[MockConnection, socket.socket, Host],
) -> None:
    """Closing a task in the middle tells the truth up to there, once."""
    connection, _, host = pair
    task = connection.task
    assert task is not None
    next(task)
    now_ns = time.monotonic_ns()
    for later_ns in range(4):
        task.send(now_ns + later_ns)
    task.close()
    (truth,) = host.truths
    assert truth.chunk_ns == [now_ns + 1, now_ns + 2, now_ns + 3]
    assert (truth.tokens, truth.outcome, truth.status) == (3, "aborted", 200)
    assert truth.done_ns > now_ns


def test_a_client_that_has_gone_is_an_error(pair: tuple[MockConnection, socket.socket, Host]) -> None:
    """Writing to a client that has reset the connection is an OSError, and so is reading from it."""
    connection, client, _ = pair
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    client.close()
    with pytest.raises(ConnectionError):
        run(connection, lambda: None)
    with pytest.raises(ConnectionError):
        connection.read()


@pytest.mark.parametrize(
    "sent",
    [
        ANSWERED,
        ANSWERED.replace(b'"one"', b'"bad"'),
        ANSWERED[:-5],
        REFUSED,
        REFUSED.replace(b"\r\n\r\n", b"\r\nContent-Encoding: gzip\r\n\r\n"),
        b"GET /nowhere HTTP/1.1\r\n\r\n",
        b"GET /health HTTP/1.0\r\n\r\n",
        b"garbage",
    ],
)
def test_nothing_is_left_for_the_garbage_collector(tmp_path: Path, sent: bytes) -> None:
    """Whatever a client sent, what it made is gone with the connection: the collector is switched off."""
    replies = tmp_path / "replies.jsonl"
    replies.write_text('{"match": "bad", "status": 429}')
    host = Host(MockOptions(ttft="1ns", itl="1ns", tokens="3", replies=replies))
    gc.collect()
    gc.freeze()  # the objects of all other tests, which would take half a second each time
    gc.disable()
    try:
        connection, client = connected(host, sent)
        if connection.task is not None:
            run(connection, lambda: None)
            connection.task = None
        connection.close()
        client.close()
        del connection
        assert gc.collect() == 0
    finally:
        gc.enable()
