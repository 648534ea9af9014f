"""What this process had of the CPU."""

import sys
import time

import pytest

from loadgen.driver.own_health import CpuTime, waited_s


def test_who_works_uses_the_cpu() -> None:
    """A tenth of a second of work is in the share of its time, and not in that of the next."""
    cpu = CpuTime()
    end_s = time.process_time() + 0.1
    while time.process_time() < end_s:
        pass
    assert cpu.reading()["cpu_share"] > 0
    started_s = time.monotonic()
    time.sleep(0.05)
    # Less than the time between the two readings, however long this process is stopped anywhere.
    took_s = time.monotonic() - started_s
    assert cpu.reading()["cpu_share"] * took_s < 0.05


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="only Linux reports how long a thread has waited for a CPU; elsewhere the value is None",
)
def test_waiting_for_the_cpu_never_goes_back() -> None:
    """The sum over the threads of this process is a time that only grows while they live."""
    before = waited_s()
    after = waited_s()
    assert before is not None
    assert after is not None
    assert 0 <= before <= after
    assert CpuTime().reading()["cpu_wait_share"] >= 0
