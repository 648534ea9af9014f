"""The client's machine, by the system's own account."""

from __future__ import annotations

import os
import time

from recorder.sensors.host import HostSensor


def test_the_machine() -> None:
    """CPU as a share of all cores, memory that adds up, network that only grows."""
    sensor = HostSensor(1.0)
    about = sensor.start()["about"]
    assert about is not None
    before_ns = time.monotonic_ns()
    (first,), (second,) = sensor.read(whole=True), sensor.read(whole=False)
    sensor.close()
    assert before_ns <= first.at_ns <= second.at_ns <= time.monotonic_ns()
    assert about["cpus"] == os.cpu_count()
    for reading in (first, second):
        assert 0 <= reading.values["cpu_pct"] <= 100
        used, free = reading.values["memory_used_bytes"], reading.values["memory_available_bytes"]
        assert used + free == about["memory_bytes"]
    for name in ("network_sent_bytes_total", "network_received_bytes_total"):
        assert second.values[name] >= first.values[name]
