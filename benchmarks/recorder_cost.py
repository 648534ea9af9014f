"""What recording costs: the writer's rate, and the caller's time for one `record_event`.

The rate is taken with the whole process on one core, from the first event to the last commit, with payloads
of 100 bytes; the caller's time while the writer is at work on the other side of the GIL.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path

from recorder import EventRecorder, EventType

EVENTS = 500_000
ROUNDS = 5
UUID = "0123456789abcdef0123456789abcdef"
PAYLOAD = {"x": "y" * 92}
"""100 bytes as JSON."""


def measure() -> tuple[float, float, float]:
    """One round: events/s, and the median and the 99th percentile of the caller's time in µs."""
    costs_ns = []
    with tempfile.TemporaryDirectory() as folder, EventRecorder(path=Path(folder) / "events.db") as recorder:
        started = time.perf_counter()
        for at_ns in range(EVENTS):
            before = time.perf_counter_ns()
            EventRecorder.record_event(EventType.FIRST_CHUNK, at_ns, UUID, data=PAYLOAD)
            costs_ns.append(time.perf_counter_ns() - before)
        recorder.wait_for_writes()
        took = time.perf_counter() - started
    costs_ns.sort()
    return EVENTS / took, costs_ns[EVENTS // 2] / 1e3, costs_ns[EVENTS * 99 // 100] / 1e3


def main() -> None:
    """Print the table."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    rounds = [measure() for _ in range(ROUNDS)]
    rate, median_us, p99_us = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"events/s, one core             {rate:9,.0f}     required: 150,000")
    print(f"record_event, median           {median_us:9.2f} µs  required: less than 3")
    print(f"record_event, p99              {p99_us:9.2f} µs")


main()
