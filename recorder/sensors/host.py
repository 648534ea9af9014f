"""The client's machine: CPU, memory and network.

By psutil, because /proc is Linux only, and each of these counters has another interface on macOS.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Final

from recorder.payloads import SensorStarted
from recorder.sensors.reading import Reading

if TYPE_CHECKING:
    from collections.abc import Sequence

SOURCE: Final = "host"


class HostSensor:
    """Reads the machine; see `recorder.sensors.reading.Sensor`."""

    def __init__(self, interval_s: float) -> None:
        self.interval_s = interval_s
        self._psutil: Any = None

    def start(self) -> SensorStarted:
        """Begin to count CPU time."""
        import psutil

        self._psutil = psutil
        psutil.cpu_percent(interval=None)
        about = {"cpus": psutil.cpu_count(), "memory_bytes": psutil.virtual_memory().total}
        return SensorStarted(source=SOURCE, interval_s=self.interval_s, about=about)

    def read(self, *, whole: bool) -> Sequence[Reading]:  # noqa: ARG002 (a machine has no more to tell)
        """CPU of all cores since the previous reading, memory, and the traffic of all interfaces."""
        psutil, at_ns = self._psutil, time.monotonic_ns()
        memory, network = psutil.virtual_memory(), psutil.net_io_counters()
        values = {
            "cpu_pct": psutil.cpu_percent(interval=None),
            "memory_used_bytes": memory.total - memory.available,
            "memory_available_bytes": memory.available,
        }
        # A machine without a network interface has no counters.
        if network is not None:
            values |= {
                "network_sent_bytes_total": network.bytes_sent,
                "network_received_bytes_total": network.bytes_recv,
                "network_dropped_packets_total": network.dropin + network.dropout,
            }
        return [Reading(source=SOURCE, at_ns=at_ns, values=values)]

    def close(self) -> None:
        """Nothing is held."""
