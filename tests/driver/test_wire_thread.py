"""The thread of the compiled I/O loop: its name, its slices of CPU time, its priority after late reads."""

from __future__ import annotations

import ctypes
import errno
import os
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from pathlib import Path
from struct import Struct
from typing import Final

import pytest

from loadgen.driver.client.arrival import StampingSocket, timestamp_source
from loadgen.driver.client.compiled import COMPILED
from loadgen.driver.client.wire_connection import End, ReceivedBatch

pytestmark = pytest.mark.skipif(not COMPILED, reason="the compiled I/O loop is not built")

SCHED_GETATTR: Final = {"x86_64": 315, "aarch64": 275}
ATTRIBUTES: Final = Struct("IIQiIQQQ")
SLICE_NS: Final = 100_000


def io_threads() -> set[int]:
    """The threads of this process that are the I/O loop's."""
    threads = set()
    for task in Path("/proc/self/task").iterdir():
        # A thread of another test may end meanwhile.
        with suppress(OSError):
            if (task / "comm").read_text() == "loadgen-io\n":
                threads.add(int(task.name))
    return threads


def slice_ns(thread: int) -> int | None:
    """The slice of CPU time that a thread has asked for; None where the kernel does not say."""
    number, attributes = SCHED_GETATTR.get(os.uname().machine), ctypes.create_string_buffer(ATTRIBUTES.size)
    if number is None or ctypes.CDLL(None).syscall(number, thread, attributes, ATTRIBUTES.size, 0):
        return None
    return int(ATTRIBUTES.unpack(attributes.raw)[5]) or None


def new_thread(before: set[int]) -> int:
    """The I/O thread that is not among those from before."""
    # It names itself last.
    while not (new := io_threads() - before):
        os.sched_yield()
    (thread,) = new
    return thread


def real_time_policy() -> int:
    """The policy of a thread that has asked to be scheduled before all others."""
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    return os.sched_getscheduler(0)


@pytest.mark.skipif(
    timestamp_source() != "kernel", reason="only the kernel's stamps tell that a read is late"
)
def test_the_thread_goes_before_other_work_after_late_reads() -> None:
    """Responses that arrived before their requests are read late; where Linux refuses, the policy stays."""
    from loadgen.driver.client._wire import Wire

    with ThreadPoolExecutor(1) as other:
        allowed = other.submit(real_time_policy).result()
    before = io_threads()
    with closing(Wire()) as wire, socket.create_server(("127.0.0.1", 0)) as listener:
        thread = new_thread(before)
        policies = [os.sched_getscheduler(thread)]
        while len(policies) < 2 or (policies[-1] != allowed and len(policies) < 300):
            client = StampingSocket()
            assert client.stamp_arrivals()
            client.connect(listener.getsockname())
            server, _ = listener.accept()
            with server:
                server.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
                time.sleep(0.005)
                connection = wire.add(client.detach())
                wire.request(connection, b"GET / HTTP/1.1\r\n\r\n")
                while not any(batch[3] for batch in wire.collect(1)):
                    time.sleep(0.001)
            policies.append(os.sched_getscheduler(thread))
    assert (policies[0], policies[-1]) == (os.SCHED_OTHER, allowed)


def test_the_thread_is_named_and_asks_for_short_slices_of_time() -> None:
    """Neither can be seen from the results of a run on an idle machine."""
    from loadgen.driver.client._wire import Wire

    before = io_threads()
    with closing(Wire()) as wire:
        thread = new_thread(before)
        main_ns = slice_ns(os.getpid())
        if main_ns is None:
            pytest.skip("this kernel has no slices that threads choose (Linux 6.12)")
        assert slice_ns(thread) == SLICE_NS < main_ns
        assert wire.fileno() > 0
    # The kernel forgets a thread a moment after it has ended.
    give_up_at = time.monotonic() + 60
    while io_threads() - before:
        assert time.monotonic() < give_up_at
        os.sched_yield()


def test_a_reset_that_is_read_late_is_a_cut() -> None:
    """The end of the connection is that of a body without a length; a look at what waits takes no error."""
    from loadgen.driver.client._wire import Wire

    with closing(Wire()) as wire, socket.create_server(("127.0.0.1", 0)) as listener:
        wire.stop()  # what is called reads
        client = StampingSocket()
        client.stamp_arrivals()
        client.connect(listener.getsockname())
        server, _ = listener.accept()
        connection = wire.add(client.detach())
        wire.request(connection, b"GET / HTTP/1.1\r\n\r\n")
        server.recv(100)
        server.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        assert wire.catch_up()
        time.sleep(0.001)
        for part in (b"one", b"two"):
            server.sendall(part)
        server.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        server.close()
        time.sleep(0.001)
        wire.catch_up()
        ends = [ReceivedBatch(*batch) for batch in wire.collect(8)]
    assert [(end.end, end.error) for end in ends] == [(End.CUT, errno.ECONNRESET)]
