"""When bytes arrived, by the kernel's word."""

from __future__ import annotations

import socket
import sys
import time
from itertools import pairwise
from select import select
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import arrival
from loadgen.driver.client.arrival import StampingSocket, WallOffset, timestamp_source

if TYPE_CHECKING:
    from collections.abc import Iterator

MS = 1_000_000
SECOND = 1_000 * MS
BUSY_S = 0.05

Pair = tuple[socket.socket, StampingSocket]

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux stamps arrivals")


@pytest.fixture
def pair() -> Iterator[Pair]:
    """A loopback connection: who sends, and who is to know when."""
    with socket.create_server(("127.0.0.1", 0)) as listener, StampingSocket() as receiver:
        receiver.stamp_arrivals()
        receiver.connect(listener.getsockname())
        sender, _ = listener.accept()
        with sender:
            sender.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            timestamp_source()  # the kernel begins to stamp a moment after the first socket asks
            yield sender, receiver


def read(receiver: StampingSocket, nbytes: int = 0) -> int:
    """Read something; its arrival."""
    receiver.recv_into(bytearray(64), nbytes)
    return receiver.arrival_ns


@on_linux
def test_the_stamp_is_the_arrival_s_and_not_the_read_s(pair: Pair) -> None:
    """Bytes that lay there while the reader was busy are as old as they are."""
    sender, receiver = pair
    before = time.monotonic_ns()
    sender.sendall(b"x")
    sent = time.monotonic_ns()
    time.sleep(BUSY_S)
    assert before - MS <= read(receiver) <= sent + 2 * MS


@on_linux
def test_the_stamp_is_the_last_segment_s(pair: Pair) -> None:
    """A read that holds two sendings carries the second's stamp."""
    sender, receiver = pair
    sender.sendall(b"a")
    time.sleep(BUSY_S)
    between = time.monotonic_ns()
    sender.sendall(b"b")
    assert receiver.recv(2, socket.MSG_PEEK | socket.MSG_WAITALL) == b"ab"
    assert read(receiver) >= between - MS


def test_stamps_follow_each_other_and_never_lie_ahead(pair: Pair) -> None:
    """However many reads there are, and although the offset of the clocks is measured repeatedly."""
    sender, receiver = pair
    stamps = []
    for _ in range(200):
        sender.sendall(b"x")
        stamps.append(read(receiver))
        assert stamps[-1] <= time.monotonic_ns()
    assert all(b - a > -MS for a, b in pairwise(stamps))


def test_reading_is_reading(pair: Pair) -> None:
    """The bytes, their number, the end of the connection, and nothing there yet."""
    sender, receiver = pair
    buffer = bytearray(8)
    sender.sendall(b"abcd")
    assert receiver.recv_into(buffer, 3) == 3
    assert receiver.recv_into(buffer) == 1
    assert bytes(buffer[:3]) == b"dbc"
    receiver.setblocking(False)  # noqa: FBT003 (the signature is the socket's)
    with pytest.raises(BlockingIOError):
        receiver.recv_into(buffer)
    receiver.settimeout(60)
    sender.close()
    assert receiver.recv_into(buffer) == 0


def test_without_stamps_it_is_the_read_s_time(pair: Pair) -> None:
    """A socket that did not ask, as on other systems."""
    sender, stamping = pair
    with StampingSocket(fileno=stamping.detach()) as receiver:
        receiver.setsockopt(socket.SOL_SOCKET, arrival._SO_TIMESTAMPING, 0)
        sender.sendall(b"x")
        before = time.monotonic_ns()
        assert before <= read(receiver) <= time.monotonic_ns()


def test_other_systems_do_not_stamp(monkeypatch: pytest.MonkeyPatch) -> None:
    """There the source is the read, and the kernel is not asked."""
    monkeypatch.setattr(arrival, "LINUX", False)
    assert timestamp_source() == "read"


@on_linux
def test_the_source_is_found_out() -> None:
    """On a Linux whose kernel takes the request for stamps."""
    with StampingSocket() as sock:
        assert timestamp_source() == ("kernel" if sock.stamp_arrivals() else "read")


class Clocks:
    """A wall clock that can be stepped, and one that cannot."""

    def __init__(self) -> None:
        self.monotonic = 1_000 * SECOND
        self.ahead = 5_000_000 * SECOND

    def wall_ns(self) -> int:
        """The wall clock."""
        return self.monotonic + self.ahead

    def monotonic_ns(self) -> int:
        """The other one."""
        return self.monotonic

    def offset(self) -> WallOffset:
        """The difference, as it is now."""
        return WallOffset(self.wall_ns, self.monotonic_ns)


STEPS = st.integers(2 * MS, 10**6 * SECOND).flatmap(lambda step: st.sampled_from([step, -step]))


@given(ages=st.lists(st.tuples(st.integers(0, SECOND), st.integers(0, SECOND)), max_size=20))
def test_a_steady_clock_is_converted_exactly(ages: list[tuple[int, int]]) -> None:
    """Stamps that are read late, after any time without a stamp."""
    clocks = Clocks()
    offset = clocks.offset()
    for pause, age in ages:
        clocks.monotonic += pause + age
        arrived = clocks.monotonic - age
        assert offset.monotonic(arrived + clocks.ahead, clocks.monotonic) == arrived


@given(step=STEPS, age=st.integers(0, MS), pause=st.integers(MS, 200 * MS))
def test_stamps_after_a_step_are_right(step: int, age: int, pause: int) -> None:
    """The first one already: a stamp that cannot be has the offset measured repeatedly."""
    clocks = Clocks()
    offset = clocks.offset()
    clocks.ahead += step
    for _ in range(3):
        clocks.monotonic += pause + age
        arrived = clocks.monotonic - age
        assert offset.monotonic(arrived + clocks.ahead, clocks.monotonic) == arrived


@given(step=STEPS, age=st.integers(0, MS), stamped=st.integers(0, 200 * MS))
def test_a_stamp_from_before_a_step_is_right_too(step: int, age: int, stamped: int) -> None:
    """The clock is stepped between the arrival and the read."""
    clocks = Clocks()
    offset = clocks.offset()
    clocks.monotonic += stamped + age
    wall_ns = clocks.monotonic - age + clocks.ahead
    clocks.ahead += step
    assert offset.monotonic(wall_ns, clocks.monotonic) == clocks.monotonic - age


@given(wall_ns=st.integers(0, 2**63), step=STEPS)
def test_no_stamp_lies_ahead(wall_ns: int, step: int) -> None:
    """Whatever the kernel says."""
    clocks = Clocks()
    offset = clocks.offset()
    clocks.ahead += step
    assert offset.monotonic(wall_ns, clocks.monotonic) <= clocks.monotonic


def test_a_quiet_connection(pair: Pair) -> None:
    """Bytes end the quiet until they are read, and so does the end of the connection."""
    sender, receiver = pair
    text = [receiver.is_quiet()]
    sender.sendall(b"x")
    select([receiver], [], [], 60)
    text.append(receiver.is_quiet())
    read(receiver)
    text.append(receiver.is_quiet())
    sender.close()
    select([receiver], [], [], 60)
    assert [*text, receiver.is_quiet()] == [True, False, True, False]
