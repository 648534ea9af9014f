"""Kill it at random moments under load: no answered request is lost, and no process is left.

A round starts `loadgen perf` with several workers against `loadgen mock`, which writes down what it
has answered, and at a random moment kills (SIGKILL) the parent, whose workers must then end by themselves, or
everybody at once, or one worker. What the mock endpoint had finished longer than 100 ms before the kill must
be in the log, no process may be left a second later, and `loadgen report` must work on the log as the kill
has left it. What the report says of the log's completeness (`run.complete_until`) must be true, on any
machine: each answer that the mock endpoint had finished by that moment is in the log.

On a machine that is busy with other things neither 100 ms nor the rate can be kept: what a killed log says of
its own writer is next to it, and a round with too few answers proves nothing. With `--busy N` N endless
loops keep the machine busy, and no worker is killed, for such a run is not cut off. Then a round passes when
what the report says is true, and no process is left.

    python benchmarks/kill.py [--rounds N] [--seed N] [--rate N] [--workers N] [--busy N] [--json]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import under_load

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from subprocess import Popen

    from loadgen.mock_endpoint.process import MockProcess

KINDS: Final = ("parent", "everybody", "parent", "worker")
"""Who is killed, round by round; on a busy machine the first two."""

GRACE_NS: Final = 100_000_000
ENOUGH: Final = 10 / 11
"""The part of the rate that must have been answered: 2,000 req/s, unless another is given."""

SETTLED_S: Final = 1.0
MOMENTS_S: Final = (0.0, 2.5)
ORPHANS_END_WITHIN_S: Final = 1.0
BUSY_ORPHANS_END_WITHIN_S: Final = 15.0
"""On a busy machine a process that ends needs its turn, too."""

BUSY_RATE: Final = 200.0
GIVE_UP_S: Final = 60.0
_INVALID: Final = 4


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round.

    Attributes:
        killed: Who.
        after_s: When, counted from when the load had settled.
        asked_per_s: The requested rate, in req/s.
        per_s: The req/s that the mock endpoint had answered until then.
        finished: Requests that had finished 100 ms before the kill.
        missing: How many of them the log does not have.
        oldest_ms: How long before the kill the oldest answer was finished that the log does not have; 0 when
            it has all.
        wait_ms: The longest that an event had waited for its commit, as the log says.
        lag_ms: The latest that the event loop of a worker was, as above.
        busy: How many endless loops kept the machine busy.
        behind_ms: How long before the kill the log was complete, as the report says; None where it does not
            say so: a run that has lost a worker ends.
        untrue: Answers that were finished by that moment, and are not in the log.
        left: Processes that were left a second later.
        reported: Whether the log lay there as the kill had to leave it, and `loadgen report` worked, said
            that the run is invalid, and why.
    """

    killed: str
    after_s: float
    asked_per_s: float
    per_s: int
    finished: int
    missing: int
    oldest_ms: float
    wait_ms: float
    lag_ms: float
    busy: int
    behind_ms: float | None
    untrue: int
    left: int
    reported: bool

    @property
    def passed(self) -> bool:
        """Whether all promises were kept, under as much load as was asked for."""
        promises_kept = not self.untrue and not self.left and self.reported and self.has_end_of_log
        return promises_kept if self.busy else promises_kept and not self.missing and self.loaded

    @property
    def has_end_of_log(self) -> bool:
        """Whether the report says until when the log is complete, where the run was cut off."""
        return self.killed == "worker" or self.behind_ms is not None

    @property
    def loaded(self) -> bool:
        """Whether there was as much load as was asked for, or nearly."""
        return self.per_s >= ENOUGH * self.asked_per_s

    @property
    def in_doubt(self) -> bool:
        """Whether there was too little load, or the log says that writer or worker was kept waiting."""
        late = max(self.wait_ms, self.lag_ms) > GRACE_NS / 1e6
        forgiven = late if self.missing else not self.loaded
        return forgiven and not self.untrue and not self.left and self.reported and self.has_end_of_log


def play(kind: str, after_s: float, mock: MockProcess, rate: float, workers: int, busy: int = 0) -> Round:
    """Play one round."""
    before = len(mock.truth())
    with TemporaryDirectory(prefix="loadgen-kill-") as folder:
        run = Path(folder) / "run"
        load = ("--rate", rate, "--duration", 60, "--workers", workers)
        process = under_load.start(mock.url, run, *load)
        pids: list[int] = []
        try:
            _await_answers(run / "events.db", process)
            started_ns = time.monotonic_ns()
            time.sleep(SETTLED_S + after_s)
            pids = under_load.workers_of(process.pid)
            killed_ns = time.monotonic_ns()
            _kill(kind, process, pids)
            if kind == "worker":
                process.wait(GIVE_UP_S)
            patience_s = BUSY_ORPHANS_END_WITHIN_S if busy else ORPHANS_END_WITHIN_S
            left = under_load.still_there([*pids, process.pid], patience_s)
        finally:
            under_load.end(process, pids)
        truth = [
            request
            for request in mock.truth()[before:]
            if request.outcome == "completed" and request.request_id
        ]
        # First of all: any other process that opens the log merges the files that the kill has left.
        report = _report(run, "worker_lost" if kind == "worker" else "cut_off")
        until_ns = _complete_until_ns(report)
        done_ns = {request.request_id: request.done_ns for request in truth if request.done_ns < killed_ns}
        completed = _completed(run / "events.db")
        lost = {uuid: at_ns for uuid, at_ns in done_ns.items() if uuid not in completed}
        answered = sum(at_ns >= started_ns for at_ns in done_ns.values())
        return Round(
            killed=kind,
            after_s=round(after_s, 3),
            asked_per_s=rate,
            per_s=round(answered / ((killed_ns - started_ns) / 1e9)),
            finished=sum(at_ns < killed_ns - GRACE_NS for at_ns in done_ns.values()),
            missing=sum(at_ns < killed_ns - GRACE_NS for at_ns in lost.values()),
            oldest_ms=round(max(((killed_ns - at_ns) / 1e6 for at_ns in lost.values()), default=0.0), 1),
            wait_ms=_greatest_reading(run / "events.db", "longest_wait_ms"),
            lag_ms=_greatest_reading(run / "events.db", "loop_lag_max_ms"),
            busy=busy,
            behind_ms=None if until_ns is None else round((killed_ns - until_ns) / 1e6, 1),
            untrue=sum(at_ns < until_ns for at_ns in lost.values()) if until_ns is not None else 0,
            left=len(left),
            reported=report is not None,
        )


def _await_answers(log: Path, process: Popen[bytes]) -> None:
    give_up = time.monotonic() + GIVE_UP_S
    while not under_load.events_of(log, EventType.COMPLETE):
        if process.poll() is not None or time.monotonic() > give_up:
            raise RuntimeError(f"the run did not begin: {log.parent.with_name('output').read_text()}")
        time.sleep(0.02)


def _kill(kind: str, process: Popen[bytes], workers: Sequence[int]) -> None:
    if kind == "everybody":
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    elif kind == "parent":
        process.kill()
        process.wait()
    else:
        os.kill(workers[0], signal.SIGKILL)


def _completed(log: Path) -> set[str]:
    with closing(sqlite3.connect(log)) as connection:
        query = "SELECT sample_uuid FROM events WHERE code = ?"
        return {uuid for (uuid,) in connection.execute(query, [EventType.COMPLETE])}


def _greatest_reading(log: Path, reading: str) -> float:
    """The greatest reading in the telemetry of a log."""
    with closing(sqlite3.connect(log)) as connection:
        query = "SELECT max(json_extract(data, ?)) FROM events WHERE code = ?"
        (greatest,) = connection.execute(query, [f"$.{reading}", EventType.TELEMETRY]).fetchone()
    return float(greatest or 0.0)


def _report(run: Path, ended: str) -> dict[str, Any] | None:
    """What is reported of a log as the kill has left it; None where it is not what it must be."""
    as_left = (run / "events.db-wal").exists() == (ended == "cut_off")
    answer = under_load.loadgen("report", run, "--json")
    if not as_left or answer.returncode != _INVALID:
        return None
    report: dict[str, Any] = json.loads(answer.stdout)
    counts = report["counts"]
    parts = sum(counts[part] for part in ("completed", "failed", "cancelled", "in_flight"))
    return report if report["run"]["ended"] == ended and counts["issued"] == parts else None


def _complete_until_ns(report: dict[str, Any] | None) -> int | None:
    """Until when the log is complete, as the report says: on the clock that the mock endpoint has, too."""
    complete_until = report["run"]["complete_until"] if report is not None else None
    return None if complete_until is None else int(complete_until["at_ns"])


@contextmanager
def _busy(loops: int) -> Iterator[None]:
    """Keep the machine busy."""
    processes = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def main() -> int:
    """Run the rounds and print the results; 0 when every promise was kept."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=100, help="how many; 100 by default")
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--rate", type=float, help="req/s; 2,200 by default, 200 with --busy")
    parser.add_argument("--busy", type=int, default=0, help="endless loops that keep the machine busy")
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 2 by default")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args()
    draw = random.Random(options.seed)  # noqa: S311 (moments, not secrets)
    rate = options.rate or (BUSY_RATE if options.busy else 2200.0)
    kinds = KINDS[:2] if options.busy else KINDS
    rounds: list[Round] = []
    with _busy(options.busy):
        for number in range(options.rounds):
            # Its own mock endpoint for each round: what it has written down is read in every round.
            with start_mock(models=("bench",), ttft="10ms", itl="2ms", tokens="4") as mock:
                kind, after_s = kinds[number % len(kinds)], draw.uniform(*MOMENTS_S)
                rounds.append(play(kind, after_s, mock, rate, options.workers, options.busy))
            print(f"round {number + 1}: {rounds[-1]}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps([asdict(round_) for round_ in rounds], indent=2))
    else:
        print(_table(rounds))
    return 0 if all(round_.passed for round_ in rounds) else 1


def _table(rounds: Sequence[Round]) -> str:
    """The rounds by who was killed, and the worst of each."""
    rows: list[dict[str, Any]] = []
    for kind in sorted({round_.killed for round_ in rounds}):
        some = [round_ for round_ in rounds if round_.killed == kind]
        rows.append(
            {
                "killed": kind,
                "rounds": len(some),
                "answers/s, least": min(round_.per_s for round_ in some),
                "finished": sum(round_.finished for round_ in some),
                "missing": sum(round_.missing for round_ in some),
                "oldest not in the log, ms": max(round_.oldest_ms for round_ in some),
                "commit wait, ms": max(round_.wait_ms for round_ in some),
                "worker lag, ms": max(round_.lag_ms for round_ in some),
                "complete until, ms before": max((round_.behind_ms or 0.0 for round_ in some), default=0.0),
                "untrue": sum(round_.untrue for round_ in some),
                "left": sum(round_.left for round_ in some),
                "not reported": sum(not round_.reported for round_ in some),
            },
        )
    passed = sum(round_.passed for round_ in rounds)
    doubtful = sum(round_.in_doubt and not round_.passed for round_ in rounds)
    verdict = "PASS" if passed == len(rounds) else "IN DOUBT" if passed + doubtful == len(rounds) else "FAIL"
    summary = f"{under_load.table(rows)}\n\n{verdict}: {passed} of {len(rounds)} rounds kept every promise"
    if doubtful:
        summary += (
            f"; in {doubtful} there was too little load, or the log says itself that it was late: keep the "
            "machine free of other work"
        )
    return summary


if __name__ == "__main__":
    sys.exit(main())
