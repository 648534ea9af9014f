"""`--debug`: a process that follows the log and writes what happens as lines of text.

It is a separate program with the lowest priority, so that the client writes nothing else while it measures.
What it shows is in the log, which has no secrets.
"""

from __future__ import annotations

import os
import select
import sqlite3
import subprocess
import sys
from contextlib import ExitStack, closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Final, TextIO

from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator

FILE: Final = "session.log"
PAUSE_S: Final = 0.5
"""The time between two readings."""

_MOST_AWAITED_S: Final = 60.0
_ORDINARY: Final = (
    EventType.LOADGEN_ISSUE_CALLED,
    EventType.FIRST_CHUNK,
    EventType.COMPLETE,
    EventType.QUESTION,
    EventType.SCORED,
    EventType.SENSOR_READING,
    EventType.TELEMETRY,
)
"""Events that are not shown: each request has them."""

_HEAD: Final = "SELECT started_at_ns, started_wall_ns, settings, environment FROM session"
_NEW: Final = f"""
    SELECT seq, at_ns, name, sample_uuid, data FROM events JOIN event_types USING (code)
    WHERE seq > ? AND code NOT IN ({", ".join(str(kind.value) for kind in _ORDINARY)})
        AND (code <> {EventType.REQUEST_SENT.value} OR NOT json_extract(data, '$.reused')
            OR json_extract(data, '$.retried'))
    ORDER BY seq"""  # noqa: S608 (codes are numbers)


@contextmanager
def debug_log(log: Path) -> Iterator[None]:
    """Follow a log, which need not exist yet, while the context lasts, to its end."""
    from loadgen.driver.client.redaction import VARIABLES
    from loadgen.driver.system.child_process import start_child

    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    process = start_child(
        __name__, str(log), environment=environment, stdin=subprocess.PIPE, start_new_session=True
    )
    try:
        yield
    finally:
        if process.stdin is not None:
            process.stdin.close()
        with suppress(subprocess.TimeoutExpired):
            process.wait(_MOST_AWAITED_S)
        process.kill()
        process.wait()


class DebugLines:
    """The lines of a log, as far as it is written."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self._last_seq = -1
        self._wall_ns = 0

    def new(self) -> Iterator[str]:
        """The lines of events since the last call."""
        from reporter.log.source import readable

        with readable(self._log) as uri, closing(sqlite3.connect(uri, uri=True)) as connection:
            if self._last_seq < 0:
                row = connection.execute(_HEAD).fetchone()
                if row is None:
                    return
                started_ns, wall_ns, settings, environment = row
                self._wall_ns, self._last_seq = wall_ns - started_ns, 0
                yield self._line(started_ns, "SETTINGS", None, settings)
                yield self._line(started_ns, "ENVIRONMENT", None, environment)
            for seq, at_ns, name, uuid, data in connection.execute(_NEW, (self._last_seq,)):
                self._last_seq = seq
                yield self._line(at_ns, name, uuid, data)

    def _line(self, at_ns: int, name: str, uuid: str | None, data: str | None) -> str:
        moment = datetime.fromtimestamp((self._wall_ns + at_ns) / 1e9, UTC)
        parts = (f"{moment:%Y-%m-%dT%H:%M:%S.%fZ}", name, uuid, data)
        return f"{' '.join(part for part in parts if part)}\n"


def main(log: Path) -> None:
    """Write new lines again and again until standard input ends. A resumed run has all of its lines again."""
    from recorder.errors import LogError

    os.nice(19)
    lines, file, has_ended = DebugLines(log), None, False
    with ExitStack() as files:
        while not has_ended:
            has_ended = bool(select.select([sys.stdin], [], [], PAUSE_S)[0])
            with suppress(LogError, sqlite3.Error):  # it is not there yet, or half made
                for line in lines.new():
                    file = file or files.enter_context(_opened(log.parent / "debug"))
                    file.write(line)
            if file is not None:
                file.flush()


def _opened(folder: Path) -> TextIO:
    folder.mkdir(exist_ok=True)
    return (folder / FILE).open("w", encoding="utf-8", errors="replace")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
