"""The process that reads a run's log for the live view: JSON lines of text, until end of input.

It is a separate program with the lowest priority and a small share of one core, so that the client neither
reads nor computes anything for the view.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    import subprocess

PAUSE_S: Final = 0.5
"""The least time between two readings."""

CPU_SHARE: Final = 0.01
"""The most of one core that the readings take; the pauses grow with their CPU time."""


def start_reader(log: Path) -> subprocess.Popen[bytes]:
    """Start the process that reads the log, shielded from Ctrl-C; no secret is passed on."""
    import subprocess

    from loadgen.driver.client.redaction import VARIABLES
    from loadgen.driver.system.child_process import start_child

    environment = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    return start_child(
        "loadgen.sessions.run.live_reader",
        str(log),
        environment=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )


def main(log: Path) -> None:
    """Write a block after each reading; the width and height are those of standard error."""
    os.nice(19)
    import orjson

    from reporter.live.run_tail import RunTail
    from reporter.live.status_lines import lines

    tail = RunTail(log)
    # It imports and opens what the others use: paced by its time, the second one would wait for 20 s.
    tail.read()
    pause_s = 0.0
    while not select.select([sys.stdin], [], [], pause_s)[0]:
        started_s = time.process_time()
        size = os.get_terminal_size(sys.stderr.fileno())
        block = [tuple(line) for line in lines(tail.read(), size.columns - 1, size.lines - 1)]
        sys.stdout.write(orjson.dumps([size.columns, block]).decode() + "\n")
        sys.stdout.flush()
        pause_s = max(PAUSE_S, (time.process_time() - started_s) / CPU_SHARE)


if __name__ == "__main__":
    # Without it the view is a line of the client's own counters; a traceback would tear it.
    with suppress(Exception):
        main(Path(sys.argv[1]))
