"""Recorded sessions against `loadgen mock`: how exactly order, delays and joins are those of the trace.

The client is pinned to one core, the mock to another. Of each turn the script prints how long after the due
time the turn was issued and sent: a turn is due when the last of the turns that it waits for has ended, plus
the recorded delay.

    python benchmarks/session_fidelity.py TRACE [--sessions N] [--speed X] [--rate R | --concurrency N]
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import cores
import under_load

from loadgen.mock_endpoint.process import start_mock
from reporter.log.database import open_log

if TYPE_CHECKING:
    from collections.abc import Mapping

_INVALID: Final = 4
_LATENESS: Final = """
    WITH due AS (
        SELECT if(waited_for IS NULL, 'first turns', 'later turns') AS turns,
            if(waited_for IS NULL, scheduled_ns, issued_ns - 1e6 * (waited_ms - delay_ms)) AS due_ns,
            issued_ns, sent_ns, recorded_start_ms
        FROM session_turns WHERE status = 'completed'
    )
    SELECT turns, count(*), quantile_cont((issued_ns - due_ns) / 1e6, [0.5, 0.9, 0.99, 1]),
        quantile_cont((sent_ns - due_ns) / 1e6, [0.5, 0.9, 0.99, 1]),
        avg((abs(issued_ns - due_ns) <= 1e6)::INT)
    FROM due GROUP BY turns ORDER BY turns"""
_BROKEN: Final = """
    SELECT count(*) FROM session_turns AS later, unnest(later.after) AS before (turn)
    LEFT JOIN session_turns AS earlier
        ON earlier.conversation_id = later.conversation_id AND earlier.turn = before.turn
    WHERE earlier.ended_ns IS NULL OR earlier.ended_ns > later.issued_ns"""


@dataclass(frozen=True, slots=True)
class Fidelity:
    """How exactly turns were issued.

    Attributes:
        turns: How many there were.
        issued_ms: From due to issued: p50, p90, p99, and the most.
        sent_ms: From due to sent: p50, p90, p99, and the most.
        within_1_ms: The share of turns that were issued within 1 ms.
    """

    turns: int
    issued_ms: tuple[float, ...]
    sent_ms: tuple[float, ...]
    within_1_ms: float


def measure(trace: Path, load: list[object], sessions: int) -> tuple[Mapping[str, Fidelity], int]:
    """Replay sessions; return the fidelity of first and of later turns, and the number of broken waits.

    Raises:
        RuntimeError: The run failed; the message has the output of the run.
    """
    pinned = cores.choose()
    with TemporaryDirectory(prefix="loadgen-fidelity-") as folder, cores.on_core(pinned.server):
        run = Path(folder) / "run"
        with start_mock(ttft="20ms", itl="2ms") as mock:
            options = ("--sessions", sessions, "--no-probe", "--warmup", 0, "--on-invalid", "warn")
            with cores.on_core(pinned.client):
                process = under_load.start(mock.url, run, "--trace", trace, *options, *load)
            try:
                process.wait()
            finally:
                under_load.end(process, ())
        if process.returncode not in (0, _INVALID):
            raise RuntimeError(f"the run failed: {run.with_name('output').read_text()}")
        with open_log(run / "events.db", ["sessions"]) as log:
            rows = log.execute(_LATENESS).fetchall()
            broken = log.execute(_BROKEN).fetchall()[0][0]
    return {name: Fidelity(*row) for name, *row in rows}, broken


def main() -> int:
    """Print the fidelity; 0 if each turn waited for all that is before it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("trace", type=Path, help="an input of `loadgen perf --trace`")
    parser.add_argument("--sessions", type=int, default=200, help="200 by default")
    parser.add_argument("--speed", type=float, default=1.0, help="how many times as fast as recorded")
    parser.add_argument("--workers", type=int, default=1, help="worker processes; 1 by default")
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--rate", type=float, help="sessions a second; 10 by default")
    how.add_argument("--concurrency", type=int, help="sessions at once, in place of a rate")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    begun = ("-c", options.concurrency) if options.concurrency else ("--rate", options.rate or 10)
    load = [*begun, "--trace-speed", options.speed, "--workers", options.workers]
    result, broken = measure(options.trace, load, options.sessions)
    if options.json:
        print(json.dumps({"broken": broken, **{name: asdict(each) for name, each in result.items()}}))
        return 1 if broken else 0
    print(cores.choose())
    rows = [
        {
            "": name,
            "turns": each.turns,
            "due to issued p50/p90/p99/max ms": "/".join(f"{ms:.2f}" for ms in each.issued_ms),
            "due to sent": "/".join(f"{ms:.2f}" for ms in each.sent_ms),
            "within 1 ms": f"{100 * each.within_1_ms:.1f} %",
        }
        for name, each in result.items()
    ]
    print(under_load.table(rows))
    print(f"{broken} turns were issued before a turn that they wait for had ended")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
