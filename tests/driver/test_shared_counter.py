"""The shared counter: numbers in order, and each of them once, also when a process dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections import Counter

from loadgen.driver.workers.shared_counter import SharedCounter

CLAIM = """
import sys
from loadgen.driver.workers.shared_counter import SharedCounter
counter = SharedCounter(int(sys.argv[1]))
print(*[counter.claim() for _ in range(int(sys.argv[2]))])
"""
CLAIM_FOR_EVER = """
import sys
from loadgen.driver.workers.shared_counter import SharedCounter
counter = SharedCounter(int(sys.argv[1]))
print(counter.claim(), flush=True)
while True:
    counter.claim()
"""
CLAIMS = 5000


def start(counter: SharedCounter, script: str, *arguments: object) -> subprocess.Popen[str]:
    """Another process that holds the counter."""
    return subprocess.Popen(
        [sys.executable, "-c", script, str(counter.fd), *map(str, arguments)],
        pass_fds=[counter.fd],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )


def test_it_counts_from_zero_and_again() -> None:
    """One process alone."""
    with SharedCounter() as counter:
        assert [counter.claim() for _ in range(3)] == [0, 1, 2]
        counter.reset()
        assert counter.claim() == 0


def test_no_number_is_given_twice() -> None:
    """Four processes that claim as fast as they can."""
    with SharedCounter() as counter:
        processes = [start(counter, CLAIM, CLAIMS) for _ in range(4)]
        claimed = Counter(int(number) for process in processes for number in process.communicate()[0].split())
        assert claimed == Counter(range(4 * CLAIMS))
        assert counter.claim() == 4 * CLAIMS


def test_a_process_that_dies_in_it_blocks_no_other() -> None:
    """A process is killed while it claims; the others go on."""
    with SharedCounter() as counter:
        for _ in range(5):
            process = start(counter, CLAIM_FOR_EVER)
            assert process.stdout is not None
            first = int(process.stdout.readline())
            process.send_signal(signal.SIGKILL)
            process.communicate()
            assert counter.claim() > first
