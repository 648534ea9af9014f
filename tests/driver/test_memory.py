"""Freed memory goes back to the system, and shared pages are copied ahead."""

from __future__ import annotations

import platform
import subprocess
import sys

import pytest

from loadgen.driver.system import memory

_MB = 1_000_000

_MEASURE = f"""
from pathlib import Path
from loadgen.driver.system.memory import return_free_memory

def resident():
    lines = Path("/proc/self/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("Rss:"))

blocks = [bytes(4096) for _ in range(20_000)]
last = bytes(4096)
del blocks
before = resident()
return_free_memory()
print(before - resident() > 40 * {_MB})
"""
"""The last block keeps the heap from being cut at its end."""


@pytest.mark.skipif(
    memory._TRIM is None,
    reason="only glibc has malloc_trim; elsewhere the program leaves freed memory to the allocator",
)
def test_what_was_freed_is_returned() -> None:
    """Of 80 MB in small blocks most is gone, although the heap has a block behind them."""
    result = subprocess.run([sys.executable, "-c", _MEASURE], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True"


_FAULTS = """
import os, resource, sys
from loadgen.driver.system.memory import copy_shared_pages

def written():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for start in range(0, len(block), 4096):
        block[start] = 1
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

block = bytearray(b"x" * 8_000_000)
if child := os.fork():
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
copy_shared_pages()
os._exit(0 if written() < 100 else 1)
"""


@pytest.mark.skipif(
    sys.platform != "linux" or tuple(map(int, platform.release().split(".")[:2])) < (5, 14),
    reason="only Linux, from 5.14, copies pages on request",
)
def test_pages_that_a_fork_shares_are_copied_ahead() -> None:
    """Of 2,000 shared pages, the child waits for the copy of hardly one when it writes them."""
    subprocess.run([sys.executable, "-c", _FAULTS], check=True)
