"""What Ray gives a node's process otherwise than a shell does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from loadgen.driver.system.linux import LINUX

NICED = """
import os
import threading
from contextlib import suppress
from pathlib import Path

from loadgen.plugins.ray.node_environment import take_usual_priority

os.nice(15)
threading.Thread(target=threading.Event().wait, daemon=True).start()
asked = threading.Thread(target=take_usual_priority)
asked.start()
asked.join()
for thread in Path("/proc/self/task").iterdir():
    with suppress(ProcessLookupError):  # the thread that asked may end at any moment
        print(os.getpriority(os.PRIO_PROCESS, int(thread.name)))
"""
"""A process that is niced, as Ray's are, and asks for its usual priority in one of its threads."""

RAISED = "import os; os.nice(15); os.setpriority(os.PRIO_PROCESS, 0, 0)"


def program(text: str) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    return subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=False)


@pytest.mark.skipif(not LINUX, reason="a thread has its own niceness on Linux only")
def test_every_thread_of_a_node_gets_the_usual_priority() -> None:
    """Ray's own threads too: one that is niced keeps the others from running while it has the GIL."""
    if program(RAISED).returncode:
        pytest.skip("this user may not raise a priority")
    first, second, *_ = niceness = program(NICED).stdout.split()
    assert set(niceness) == {first, second} == {"0"}
