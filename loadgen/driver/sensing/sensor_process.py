"""The sensors of a session: readings go to the recorder, and the process that reads them always ends."""

from __future__ import annotations

import asyncio
import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Self

import orjson

from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.sensing.config import LAST_S, READY, SETTLE_S, START, STOP, line_of, sensor_of
from loadgen.driver.system.child_process import command, exit_status, variables
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from loadgen.driver.sensing.config import SensorConfig
    from recorder.schema import Row
    from recorder.sensors.reading import Moment
    from recorder.writer import EventRecorder

READY_S: Final = 5.0
"""So long a session waits for the first readings; a page that takes longer is in the log all the same."""

_LONGEST_LINE: Final = 64 * 1024 * 1024
"""A page of 4 MiB as JSON in JSON, should each of its characters be escaped twice."""


class SensorProcess:
    """The sensors of a session. A context manager that ends the process."""

    def __init__(
        self, configs: tuple[SensorConfig, ...], recorder: EventRecorder, edges: tuple[SensorConfig, ...] = ()
    ) -> None:
        self._configs = configs
        self._edges = list(map(sensor_of, edges))
        self._recorder = recorder
        self._process: asyncio.subprocess.Process | None = None
        self._reading: asyncio.Task[None] | None = None
        self._ready = asyncio.Event()

    async def __aenter__(self) -> Self:
        """Start the process, which imports modules while the session is prepared."""
        if not self._configs:
            return self
        environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        try:
            self._process = await asyncio.create_subprocess_exec(
                *command("loadgen.driver.sensing.sensor_loop"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                limit=_LONGEST_LINE,
                env=variables(environment),
                start_new_session=True,  # Ctrl-C is for the run, which ends it
            )
        except OSError as error:
            self._find(f"the process that reads them could not be started ({error.strerror})")
            return self
        self._send(line_of(self._configs))
        self._reading = asyncio.create_task(self._listen())
        return self

    async def __aexit__(self, *_: object) -> None:
        process = self._process
        if process is None:
            return
        if process.returncode is None:
            with suppress(ProcessLookupError):
                process.kill()
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
        await process.wait()

    async def ready(self) -> None:
        """Let the sensors begin; return when each has been read once, or that takes too long.

        To be called when there is a log, and the server has been asked for nothing but what is measured.
        """
        for sensor in self._edges:
            started = sensor.start()
            started["interval_s"] = None
            self._recorder.put(Event(EventType.SENSOR_STARTED, time.monotonic_ns(), data=started))
        await self._read_edges("first")
        self._send(START)
        if self._process is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._ready.wait(), READY_S)

    async def finish(self) -> None:
        """Record the last readings. To be called when no request is in flight any more."""
        if self._edges:
            await asyncio.sleep(SETTLE_S)
            await self._read_edges("last")
        process, reading = self._process, self._reading
        if process is None or reading is None:
            return
        if reading.done():
            status = exit_status(await process.wait())
            self._find(f"the process that reads them ended by itself ({status}) before the run did")
            return
        self._send(STOP)
        done, _ = await asyncio.wait([reading], timeout=LAST_S + 1)
        if not done:
            self._find("the last readings took too long and are missing")

    async def _read_edges(self, moment: Moment) -> None:
        """Read the sensors of this process; each reading has a time limit."""
        reads = [asyncio.to_thread(sensor.read, whole=True) for sensor in self._edges]
        for readings in await asyncio.gather(*reads):
            for reading in readings:
                self._recorder.put(reading.event(moment))

    def _send(self, line: bytes) -> None:
        if self._process is not None and self._process.stdin is not None:
            self._process.stdin.write(line)

    async def _listen(self) -> None:
        """Record the readings until the process ends."""
        lines = self._process.stdout if self._process is not None else None
        try:
            while lines is not None and (line := await lines.readline()):
                if line == READY:
                    self._ready.set()
                    continue
                rows: list[Row] = [tuple(row) for row in orjson.loads(line)]
                # From now on they wait: a process of low priority may have been late with them itself.
                self._recorder.put_rows(rows, time.monotonic_ns())
        finally:
            self._ready.set()

    def _find(self, what: str) -> None:
        message = f"Sensor readings are missing: {what}."
        remedy = "The figures of requests are not affected. Run again for the readings."
        data = {"code": "sensors_lost", "severity": "warning", "message": message, "remedy": remedy}
        self._recorder.put(Event(EventType.FINDING, time.monotonic_ns(), data=data))
