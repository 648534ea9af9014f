"""Ten minutes at a steady rate: memory, descriptors, threads, lag and what waits stay what they are.

`loadgen perf` with two workers against `loadgen mock`, sampled each second from outside (/proc) and
through its own telemetry. It passes when nothing grows by more than stated, over the whole time, along a
robust slope (Theil-Sen) through all but the first fifth of the samples.

With `--capacity-share 0.9` the rate is this share of what a closed loop of one worker reaches, on one core,
with the native server on another.

    python benchmarks/soak.py [--minutes N] [--rate N | --capacity-share X] [--workers N] [--json]
"""

from __future__ import annotations

import argparse
import json
import sqlite3
import sys
import time
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

import clients
import under_load
from cores import Cores, choose, on_core
from native_server import MissingServerError, NativeServer
from process_tree import POSSIBLE, PROC, memory_of
from timed_run import Pace
from trend import Trend, trend

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from subprocess import Popen

    Samples = dict[str, list[tuple[float, float]]]

INTERVAL_S: Final = 1.0

PACE: Final = Pace(ttft_ms=20, gap_ms=5, tokens=16)
SATURATING: Final = clients.Work(PACE, streams=512, requests=30_000)
"""A closed loop of more streams than one worker carries."""

LONGEST_STALL_S: Final = 0.6
"""For requests of this many seconds there are connections from the start."""

OUTSIDE: Final = {"memory": ("MB", 2.0, 0.02), "descriptors": ("", 2.0, 0.0), "threads": ("", 0.5, 0.0)}
"""What is looked at from outside, of each process: unit, and what it may grow by (so much, or a part)."""

INSIDE: Final = {
    ("client", "loop_lag_p50_ms"): ("ms", 0.2, 0.25),
    ("client", "loop_lag_max_ms"): ("ms", 5.0, 0.5),
    ("client", "in_flight"): ("", 3.0, 0.1),
    ("client", "backlog_events"): ("", 50.0, 0.1),
    ("recorder", "waiting"): ("", 50.0, 0.1),
    ("recorder", "waiting_bytes"): ("B", 50_000.0, 0.1),
}
"""The run's own readings, by source. Requests in flight are tasks, and sockets."""


def watch(process: Popen[bytes], workers: Sequence[int], interval_s: float = INTERVAL_S) -> Samples:
    """Look at the parent and its workers now and then until the run ends."""
    samples: Samples = {}
    names = {process.pid: "parent"} | {pid: f"worker {number}" for number, pid in enumerate(workers)}
    started_s = time.monotonic()
    while process.poll() is None:
        for pid, name in names.items():
            # A process that ends while it is looked at is not looked at any more.
            with suppress(FileNotFoundError, ProcessLookupError):
                looked_s = time.monotonic() - started_s
                for what, value in _look(pid).items():
                    samples.setdefault(f"{name}: {what}", []).append((looked_s, value))
        time.sleep(interval_s)
    return samples


def _look(pid: int) -> Mapping[str, float]:
    return {
        "memory": memory_of(pid),
        "descriptors": float(sum(1 for _ in PROC.joinpath(str(pid), "fd").iterdir())),
        "threads": float(sum(1 for _ in PROC.joinpath(str(pid), "task").iterdir())),
    }


def samples_from_log(log: Path) -> Samples:
    """The run's own readings, second by second."""
    samples: Samples = {}
    query = "SELECT at_ns, data FROM events WHERE code = ? ORDER BY seq"
    with closing(sqlite3.connect(log)) as connection:
        readings = connection.execute(query, [EventType.TELEMETRY]).fetchall()
    for at_ns, data in readings:
        reading = json.loads(data)
        source = reading["source"]
        name = f"worker {reading['worker']}" if "worker" in reading else source
        for of, key in INSIDE:
            if of == source and reading.get(key) is not None:
                samples.setdefault(f"{name}: {key}", []).append((at_ns / 1e9, float(reading[key])))
    return samples


def trends(samples: Samples) -> Iterator[Trend]:
    """How each quantity has gone; its limits follow from its name."""
    limits = OUTSIDE | {key: bounds for (_, key), bounds in INSIDE.items()}
    for name, seen in samples.items():
        unit, least, share = limits[name.partition(": ")[2]]
        yield trend(name, unit, seen, least=least, share=share)


@dataclass(frozen=True, slots=True)
class Steady:
    """A steady load.

    Attributes:
        minutes: How long.
        rate: Requests per second.
        workers: Worker processes.
        core: The core of the client; None for any.
    """

    minutes: float
    rate: float
    workers: int
    core: int | None = None


def soak(load: Steady, endpoint: MockProcess | NativeServer) -> tuple[list[Trend], Mapping[str, Any]]:
    """Put a steady load on an endpoint; return the trend of every quantity, and the report.

    Raises:
        RuntimeError: The run failed; the message is its own. Or some worker was not sampled.
    """
    with TemporaryDirectory(prefix="loadgen-soak-") as folder, endpoint as server:
        run = Path(folder) / "run"
        arguments = ("--rate", load.rate, "--arrival", "constant", "--duration", 60 * load.minutes)
        # A stall takes connections that are kept from then on: with those open, one more is a leak.
        arguments += ("--workers", load.workers, "--connect-ahead", round(load.rate * LONGEST_STALL_S))
        with on_core(load.core):
            process = under_load.start(server.url, run, *arguments)
        pids: list[int] = []
        try:
            while process.poll() is None and not under_load.events_of(run / "events.db", EventType.COMPLETE):
                time.sleep(0.05)
            pids = under_load.workers_of(process.pid)
            under_load.require_all(pids, load.workers, process, run)
            seen = watch(process, pids)
        finally:
            under_load.end(process, pids)
        if not (run / "report.json").exists():
            raise RuntimeError(f"the run failed: {run.with_name('output').read_text()}")
        report = json.loads((run / "report.json").read_bytes())
        # What the report takes comes after the run.
        end_s = report["window"]["duration_s"] - INTERVAL_S
        seen = {name: [sample for sample in samples if sample[0] <= end_s] for name, samples in seen.items()}
        return list(trends(seen | samples_from_log(run / "events.db"))), report


def at_capacity(share: float, minutes: float, cores: Cores) -> tuple[list[Trend], Mapping[str, Any]]:
    """Soak one worker at a share of what a closed loop reaches.

    Raises:
        MissingServerError: The native server cannot be built here.
        RuntimeError: As `soak`.
    """
    capacity = clients.loadgen(cores, SATURATING).requests_s
    print(f"{100 * share:.0f} % of {capacity:,.0f} req/s, {cores}", file=sys.stderr)
    load = Steady(minutes, round(share * capacity), workers=1, core=cores.client)
    return soak(load, NativeServer(cores.server, PACE))


def main() -> int:
    """Soak, and print the trends.

    Returns:
        0 when all are flat, all issued requests completed and the run is valid, or meant to be near capacity.
    """
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="10 by default; below 2 it has not settled"
    )
    parser.add_argument("--rate", type=float, default=500.0, help="req/s; 500 by default")
    parser.add_argument("--capacity-share", type=float, help="with one worker, this share of what it reaches")
    parser.add_argument("--workers", type=int, default=2, help="worker processes; 2 by default")
    parser.add_argument("--json", action="store_true", help="print JSON instead of the table")
    options = parser.parse_args()
    if not POSSIBLE:
        print("this needs /proc", file=sys.stderr)
        return 2
    try:
        trends_seen, report = run(options)
    except MissingServerError as error:
        print(f"skipped: {error}", file=sys.stderr)
        return 0
    counts = report["counts"]
    # A client near its capacity has a report that calls it the limit.
    valid = report["validity"]["valid"] or options.capacity_share
    # What was due within the last ms, and would have been issued after the end, is not issued.
    complete = counts["completed"] == counts["issued"] > 0
    passed = bool(valid) and complete and all(trend.flat for trend in trends_seen)
    if options.json:
        result = {"passed": passed, "counts": counts, "trends": [asdict(trend) for trend in trends_seen]}
        print(json.dumps(result, indent=2))
        return 0 if passed else 1
    print(under_load.table(_row(trend) for trend in trends_seen))
    late = counts["scheduled"] - counts["issued"]
    done = f"{counts['completed']} of {counts['issued']} requests completed, {late} due at the end not issued"
    print(f"\n{'PASS' if passed else 'FAIL'}: {done}")
    for finding in report["findings"]:
        print(f"  {finding['severity']}: {finding['message']}")
    return 0 if passed else 1


def run(options: argparse.Namespace) -> tuple[list[Trend], Mapping[str, Any]]:
    """Soak as the options say."""
    if options.capacity_share:
        return at_capacity(options.capacity_share, options.minutes, choose())
    load = Steady(options.minutes, options.rate, options.workers)
    return soak(load, start_mock(**PACE.options()))


def _row(trend: Trend) -> Mapping[str, str]:
    return {
        "what": trend.name,
        "unit": trend.unit,
        "typical": f"{trend.typical:,.3f}",
        "most": f"{trend.greatest:,.3f}",
        "growth": f"{trend.growth:+,.3f}",
        "may grow": f"{trend.limit:,.3f}",
        "": "flat" if trend.flat else "GROWS",
    }


if __name__ == "__main__":
    sys.exit(main())
