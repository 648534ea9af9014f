"""`--abort-on-fail`: a run ends early when one of the targets is certain to be missed (docs/gate.md)."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Final, Protocol

import orjson

from loadgen.driver.client.redaction import VARIABLES
from loadgen.driver.ending import gate_lost
from loadgen.driver.stop import GATE_LOST
from loadgen.driver.system.child_process import command, variables
from loadgen.sessions.errors import UsageError
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.run.follower import watches
from recorder.event import Event, EventType

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.driver.stop import Stop
    from loadgen.driver.system.clock import Clock
    from loadgen.sessions.run.preparation import Prepared
    from recorder.writer import EventRecorder

GRACE_S: Final = 1.0
"""How long requests in flight are awaited before they are cancelled."""


def require_watchable(prepared: Prepared) -> None:
    """Check that a run has a rule that can abort the run."""
    perf, rules = prepared.perf, prepared.rules
    if not perf.verdict.abort_on_fail:
        return
    if rules is None:
        raise UsageError("--abort-on-fail without rules: give --require or --ruleset")
    if not watches(rules, perf.verdict.skip):
        raise UsageError(
            "--abort-on-fail: no target can be lost before the end of a run (docs/gate.md); leave it "
            "out, or require a latency, an error rate, a count or a share of good requests"
        )


class Abortable(Protocol):
    """The workers of a run, on this machine or on several."""

    @property
    def in_flight(self) -> int:
        """How many requests are open."""

    def abort(self, reason: str | None = None) -> None:
        """Cancel the open requests."""


async def watch_gate(
    log: Path,
    pool: Abortable,
    recorder: EventRecorder,
    clock: Clock,
    stop: Stop,
    observer: Observer = SILENT,
) -> None:
    """Let a process follow the log, and end the session in order when a target is lost.

    Requests in flight then have a second to end; the log keeps the reason as a finding. Cancelling ends the
    process.
    """
    open_variables = {name: value for name, value in os.environ.items() if name not in VARIABLES}
    process = await asyncio.create_subprocess_exec(
        *command("loadgen.sessions.run.follower", str(log)),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=variables(open_variables),
        start_new_session=True,  # Ctrl-C is for the run, which ends it
    )
    try:
        lost_target = await process.stdout.readline() if process.stdout else b""
        if not lost_target:
            status = await process.wait()
            observer.note(
                f"note: the process that follows the run for --abort-on-fail ended by itself ({status}); "
                "the run goes on to its end"
            )
        elif stop.reason is None:
            recorder.put(Event(EventType.FINDING, clock.now_ns(), data=gate_lost(*orjson.loads(lost_target))))
            stop.drain(GATE_LOST)
            await asyncio.sleep(GRACE_S)
            if pool.in_flight:
                pool.abort(GATE_LOST)
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
