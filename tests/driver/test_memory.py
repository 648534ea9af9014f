"""Freed memory goes back to the system."""

from __future__ import annotations

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
