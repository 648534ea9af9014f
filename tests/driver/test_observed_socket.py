"""A socket that notes what passes through it."""

from __future__ import annotations

import socket
import time
from typing import TYPE_CHECKING

import pytest

from loadgen.driver.client.memory_bounds import MAX_HEAD_BYTES
from loadgen.driver.client.observed_socket import ObservedSocket, Passage
from loadgen.driver.errors import HeadTooLargeError

if TYPE_CHECKING:
    from collections.abc import Iterator

Pair = tuple[socket.socket, ObservedSocket]


class Note(Passage):
    """Keeps what it observes.

    Attributes:
        sent_ns: When the last byte was handed over.
        reads: How many there were after the head.
    """

    def __init__(self) -> None:
        super().__init__()
        self.sent_ns: list[int] = []
        self.reads = 0

    def on_sent(self, at_ns: int, by_ns: int) -> None:
        """Note it."""
        assert by_ns >= at_ns
        self.sent_ns.append(at_ns)

    def on_body(self) -> None:
        """Note it."""
        self.reads += 1


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A server's end of a connection, and the observed one."""
    with socket.create_server(("127.0.0.1", 0)) as listener, ObservedSocket() as observed:
        observed.connect(listener.getsockname())
        server, _ = listener.accept()
        server.settimeout(60)
        observed.settimeout(60)
        with server:
            yield server, observed


def carry(observed: ObservedSocket, note: Note) -> None:
    """Let it carry a request, without waiting for bytes that were sent before."""
    observed.settimeout(0)
    observed.carry(note)
    observed.settimeout(60)


@pytest.mark.parametrize("in_pieces", [False, True])
def test_sent_is_right_before_the_last_of_it(pair: Pair, *, in_pieces: bool) -> None:
    """Whatever was sent before, and sent once; the pieces may come from anywhere."""
    server, observed = pair
    note = Note()
    carry(observed, note)
    observed.send(b"head")
    assert note.sent_ns == []
    note.last = True
    before_ns = time.monotonic_ns()
    count = observed.sendmsg(iter([b"bo", b"dy"])) if in_pieces else observed.send(b"body")
    after_ns = time.monotonic_ns()
    observed.send(b"more")
    (sent_ns,) = note.sent_ns
    assert (count, note.sent) == (4, True)
    assert before_ns <= sent_ns <= after_ns
    assert server.recv(12, socket.MSG_WAITALL) == b"headbodymore"


def test_what_the_kernel_does_not_take_was_not_sent(pair: Pair) -> None:
    """Until it takes the rest."""
    server, observed = pair
    note = Note()
    carry(observed, note)
    note.last = True
    observed.settimeout(0)
    rest = memoryview(bytes(32 * 2**20))
    while not note.sent_ns:
        try:
            taken = observed.send(rest)
        except BlockingIOError:
            assert rest
            server.recv(2**20)
            continue
        rest = rest[taken:]
    assert not rest


def test_a_read_is_a_read(pair: Pair) -> None:
    """The bytes, and no more than were asked for; the stamp of the last ones stays when there are no more."""
    server, observed = pair
    note = Note()
    carry(observed, note)
    server.sendall(b"abcd")
    assert observed.recv(3) == b"abc"
    first_ns = note.first_ns
    assert 0 < first_ns <= time.monotonic_ns()
    assert observed.recv(2**20) == b"d"
    last_ns = observed.arrival_ns
    note.head = True
    server.close()
    assert observed.recv(3) == b""
    assert (observed.arrival_ns, note.first_ns, note.bare_bytes) == (last_ns, first_ns, 4)
    assert note.reads == 0


def test_a_head_without_end_breaks_it(pair: Pair) -> None:
    """With the reads that come too late for it, and not with the one that completed it."""
    server, observed = pair
    note = Note()
    carry(observed, note)
    while note.bare_bytes <= MAX_HEAD_BYTES:
        server.sendall(bytes(4096))
        observed.recv(2**20)
    server.sendall(b"x")
    with pytest.raises(HeadTooLargeError):
        observed.recv(2**20)
    assert isinstance(note.broken, HeadTooLargeError)
    note.head, note.bare_bytes = True, 0
    assert observed.recv(2**20) == b"x"
    assert note.reads == 1


def test_unasked_bytes_end_the_connection(pair: Pair) -> None:
    """Between two requests; before the first there is TLS to agree on."""
    server, observed = pair
    server.sendall(b"hello")
    assert observed.recv(64) == b"hello"
    carry(observed, Note())
    observed.passage = None
    server.sendall(b"hello?")
    assert observed.recv(64) == b""


def test_a_stale_one_is_known(pair: Pair) -> None:
    """By what lies there unread: bytes, or the end."""
    server, observed = pair
    observed.settimeout(0)
    assert not observed.is_stale()
    server.shutdown(socket.SHUT_WR)
    give_up_at = time.monotonic() + 60
    while not observed.is_stale():
        assert time.monotonic() < give_up_at
    assert observed.recv(1) == b""
