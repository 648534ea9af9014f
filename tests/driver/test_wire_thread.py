"""The thread of the compiled I/O loop: it is named, and prompt where the kernel lets threads ask for that."""

from __future__ import annotations

import ctypes
import os
import time
from contextlib import closing, suppress
from pathlib import Path
from struct import Struct
from typing import Final

import pytest

from loadgen.driver.client.compiled import COMPILED

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


def test_the_thread_is_named_and_asks_for_short_slices_of_time() -> None:
    """Neither can be seen from the results of a run on an idle machine."""
    from loadgen.driver.client._wire import Wire

    before = io_threads()
    with closing(Wire()) as wire:
        # It names itself last.
        while not (new := io_threads() - before):
            os.sched_yield()
        (thread,) = new
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
