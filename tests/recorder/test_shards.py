"""The names that tie the logs of several machines together."""

from __future__ import annotations

from recorder.payload_check import checked
from recorder.shards import ClockReading


def test_a_clock_reading_is_the_same_after_the_log() -> None:
    """Also after a month of uptime; and no member of it is taken for a time on the log's clock."""
    reading = ClockReading("node-7", 123_456_789, -2_592_000_000_000_123, 45_678, 90_001)

    event = reading.event()
    checked(event.type, event.at_ns, None, event.data)

    assert ClockReading.of(event.at_ns, event.data) == reading
    assert not [name for name in event.data if name.endswith("_ns")]
