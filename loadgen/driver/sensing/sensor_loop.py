"""The process that reads sensors while a session runs.

It is a separate program with the lowest priority: what it parses takes no time from the interpreters that
issue, stamp and write, a driver's library that hangs or crashes takes no run with it, and an endless page
takes only its own time. It writes a JSON line for each reading, and ends when its standard input does.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.driver.sensing.config import LAST_S, READY, SETTLE_S, START, STOP, configs_of, sensor_of
from recorder.event import Event, EventType
from recorder.schema import row
from recorder.sensors.reading import Reading

if TYPE_CHECKING:
    from recorder.sensors.reading import Moment, Sensor


class Runner(threading.Thread):
    """Reads one sensor at an interval, from the start of the process."""

    def __init__(self, sensor: Sensor, source: str) -> None:
        super().__init__(daemon=True, name=f"sensor-{source}")
        self.ready = threading.Event()
        self._sensor = sensor
        self._source = source
        self._stopped = threading.Event()

    def stop(self) -> None:
        """Let the sensor read a last time, and end."""
        self._stopped.set()

    def run(self) -> None:
        """Read until `stop`."""
        try:
            self._run()
        except Exception as crash:  # noqa: BLE001 (the other sensors go on, and the log says why this one does not)
            message = f"{type(crash).__name__}: {crash}"
            reading = Reading(
                source=self._source, at_ns=time.monotonic_ns(), error="crashed", message=message
            )
            _emit(reading.event())
        finally:
            self.ready.set()

    def _run(self) -> None:
        sensor = self._sensor
        _emit(Event(EventType.SENSOR_STARTED, time.monotonic_ns(), data=sensor.start()))
        self._read("first")
        self.ready.set()
        due_s = time.monotonic()
        while True:
            now_s = time.monotonic()
            # What is missed is not made up for.
            due_s += sensor.interval_s * max(1, -(-(now_s - due_s) // sensor.interval_s))
            if self._stopped.wait(due_s - now_s):
                break
            self._read(None)
        self._read("last")
        sensor.close()

    def _read(self, moment: Moment | None) -> None:
        _emit(*(reading.event(moment) for reading in self._sensor.read(whole=moment is not None)))


_output = threading.Lock()


def _emit(*events: Event) -> None:
    """Write events as one line: a list of rows."""
    if events:
        _write(orjson.dumps([row(event) for event in events]) + b"\n")


def _write(line: bytes) -> None:
    with _output:
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


def main() -> None:
    """Run the sensors of the first line, until the end of input or the command for the last readings."""
    os.nice(19)
    lines: Any = sys.stdin.buffer
    runners = [Runner(sensor_of(config), config.kind) for config in configs_of(lines.readline())]
    if lines.readline() != START:
        return
    for runner in runners:
        runner.start()
    for runner in runners:
        runner.ready.wait()
    _write(READY)
    if lines.readline() == STOP:
        time.sleep(SETTLE_S)
        for runner in runners:
            runner.stop()
        give_up_s = time.monotonic() + LAST_S
        for runner in runners:
            runner.join(max(0.0, give_up_s - time.monotonic()))
    # A library that hangs is not waited for.
    os._exit(0)


if __name__ == "__main__":
    main()
