"""`--abort-on-fail`: a run ends early when one of its targets is lost beyond doubt (docs/gate.md)."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Final

import orjson

from cli.errors import UsageError
from cli.follower import watches
from loadgen.client.redaction import VARIABLES
from loadgen.ending import GATE_LOST, gate_lost
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from pathlib import Path

    from cli.preparing import Prepared
    from loadgen.clock import Clock
    from loadgen.stop import Stop
    from loadgen.workers.crew import ProcessCrew
    from recorder.writer import EventRecorder

GRACE_S: Final = 1.0
"""So long what is in flight has to end by itself, before it is given up."""


def require_watchable(prepared: Prepared) -> None:
    """Make sure that there is something to abort a run for.

    Raises:
        UsageError: There are no rules, or none that can be lost before the end.
    """
    given, rules = prepared.given, prepared.rules
    if not given.abort_on_fail:
        return
    if rules is None:
        raise UsageError("--abort-on-fail: there is nothing that could fail: give --require or --ruleset")
    if not watches(rules, given.skip):
        raise UsageError(
            "--abort-on-fail: none of the targets can be lost before the end of a run (docs/gate.md): "
            "leave it out, or require a latency, an error rate, a count or a share of good requests"
        )


async def watch_gate(log: Path, crew: ProcessCrew, recorder: EventRecorder, clock: Clock, stop: Stop) -> None:
    """Have a process follow the log, and end the session in order when a target is lost.

    What is in flight then has a second to end; the log keeps why, and a finding. Cancelling ends the process.
    """
    open_variables = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-P", "-m", "cli.follower", str(log)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=open_variables | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,  # Ctrl-C is for the run, which ends it
    )
    try:
        said = await process.stdout.readline() if process.stdout else b""
        if not said:
            status = await process.wait()
            sys.stderr.write(
                f"\nnote: the process that follows the run for --abort-on-fail ended by itself ({status}); "
                "the run goes on to its end\n"
            )
        elif stop.reason is None:
            recorder.put(Event(EventType.FINDING, clock.now_ns(), data=gate_lost(*orjson.loads(said))))
            stop.drain(GATE_LOST)
            await asyncio.sleep(GRACE_S)
            if crew.in_flight:
                crew.abort(GATE_LOST)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
