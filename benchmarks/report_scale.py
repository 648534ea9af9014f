"""How the time and the memory of a report grow with the log.

Writes logs of 10^3 to 10^6 streamed requests (4 events and 16 chunks each), reports each in a process of its
own, and prints a table: `python benchmarks/report_scale.py [--json] [REQUESTS ...]`.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from array import array
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from recorder import Event, EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter

if TYPE_CHECKING:
    from collections.abc import Iterator

SIZES: Final = (1000, 10_000, 100_000, 1_000_000)
CHUNKS: Final = 16
BATCH: Final = 1000
BASE_NS: Final = 10**15
MS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Measured:
    """What one report took.

    Attributes:
        source: What was reported on.
        requests: How many it has.
        size_mb: How large it is.
        seconds: From the call of the reporter to the report, its imports included.
        cpu_s: CPU seconds of the process, its start included.
        peak_mb: The most memory that the process held.
    """

    source: str
    requests: int
    size_mb: float
    seconds: float
    cpu_s: float
    peak_mb: float


def main() -> None:
    """Write, report, and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("requests", nargs="*", type=int, default=SIZES, help="sizes of the logs")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    parser.add_argument("--report", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.report:
        print(json.dumps(report(options.report)))
        return
    measured = [measure(requests) for requests in options.requests]
    print(json.dumps([asdict(line) for line in measured]) if options.json else table(measured))


def measure(requests: int) -> Measured:
    """Write a log and report it in another process."""
    with TemporaryDirectory() as folder:
        log = Path(folder) / "events.db"
        write(log, requests)
        return Measured("one log", requests, log.stat().st_size / 1e6, *report_apart(log))


def report_apart(log: Path) -> tuple[float, float, float]:
    """Report a log in a separate process; returns what `report` returns."""
    command = [sys.executable, __file__, "--report", str(log)]
    seconds, cpu_s, peak_mb = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    return seconds, cpu_s, peak_mb


def report(log: Path) -> tuple[float, float, float]:
    """Report a log; how long it took in s, the CPU time in s and the peak memory in MB of this process."""
    started = time.perf_counter()
    with MetricsReporter(log) as reporter:
        reporter.create_report()
    seconds = time.perf_counter() - started
    unit = 1 if sys.platform == "darwin" else 1024
    return seconds, time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e6


def write(log: Path, requests: int, *, tags: bool = False) -> None:
    """Write a log of this many requests, one issued every millisecond, with a tag or without."""
    random = Random(requests)  # noqa: S311 (figures, not secrets)
    store = Store.create(log, Session(settings={"load": {"kind": "constant", "rate": 1000.0}}))
    phase = Event(EventType.PHASE_STARTED, BASE_NS, data={"phase": "performance"})
    end = Event(EventType.TEST_ENDED, BASE_NS + requests * MS, data={"reason": "completed"})
    store.append([schema.row(phase)])
    for start in range(0, requests, BATCH):
        numbers = range(start, min(start + BATCH, requests))
        events = (event for number in numbers for event in request(random, number, tags=tags))
        store.append([schema.row(event) for event in events])
    store.append([schema.row(end)])
    store.close()


def request(random: Random, number: int, *, tags: bool) -> Iterator[Event]:
    """The four events of one request."""
    uuid = f"{random.getrandbits(128):032x}"
    issued_ns = BASE_NS + number * MS
    gaps_us = array("I", [random.randrange(5_000, 15_000) for _ in range(CHUNKS)])
    first_ns = issued_ns + MS + gaps_us[0] * 1000
    last_ns = issued_ns + MS + sum(gaps_us) * 1000
    issue = {"scheduled_ns": issued_ns - 1000, "phase": "performance", "prompt_id": number % 1000}
    if tags:
        issue |= {"tags": {"class": "short" if number % 3 else "long"}}
    yield Event(EventType.LOADGEN_ISSUE_CALLED, issued_ns, uuid, issue)
    yield Event(EventType.REQUEST_SENT, issued_ns + MS, uuid, {"reused": True, "connect_ms": None})
    yield Event(EventType.FIRST_CHUNK, first_ns, uuid)
    outcome = {
        "status": 200,
        "first_byte_ns": first_ns - 1000,
        "first_token_ns": first_ns,
        "first_output_ns": first_ns,
        "last_token_ns": last_ns,
        "chunks": CHUNKS,
        "reads": CHUNKS + 2,
        "coalesced": 0,
        "bytes": 4000,
        "finish_reason": "stop",
        "input_tokens": 100,
        "output_tokens": CHUNKS,
        "reasoning_tokens": None,
        "cached_tokens": None,
        "stream": True,
        "texts": {"output": "hello world " * 10, "reasoning": None, "tool_calls": None},
        "chunk_gaps_us": gaps_us.tobytes(),
    }
    yield Event(EventType.COMPLETE, last_ns + MS, uuid, outcome)


def table(measured: list[Measured]) -> str:
    """The measurements, a line each."""
    names = ("source", "requests", "MB", "seconds", "us/request", "CPU s", "peak MB")
    lines = ["{:<24} {:>10} {:>6} {:>7} {:>10} {:>6} {:>7}".format(*names)]
    lines += [
        f"{line.source:<24} {line.requests:>10,} {line.size_mb:>6.0f} {line.seconds:>7.2f} "
        f"{line.seconds / line.requests * 1e6:>10.1f} {line.cpu_s:>6.2f} {line.peak_mb:>7.0f}"
        for line in measured
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
