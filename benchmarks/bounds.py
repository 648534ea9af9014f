"""On a busy machine every figure is known to an interval: is the truth in it, in every run?

A separate server (`truth_server.py`) streams 64 tokens, the first after 50 ms, then one every 10 ms, and
knows when it sent each. `loadgen perf` shares its core with busy loops, so that it reads late. For each run
the truth of TTFT p50, p90 and p99 and of TPOT p50 and p99 must lie between the bounds that the report has, so
must TTFT and TPOT of each single request. It passes when that is so in all runs.

    python benchmarks/bounds.py [--runs N] [--streams N] [--requests N] [--loops N] [--server PATH]

`--server` names another server that knows its own send times: a program that takes `-p PORT -n TOKENS
-t TTFT_US -i GAP_US -l FILE` and writes `received_ns,first_ns,last_ns,tokens` a line for each request. It
does not say which request is which, nor how long its sends took: percentiles are compared, to within 1 ms.
"""

from __future__ import annotations

import argparse
import csv
import json
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from cores import choose, on_core

from reporter.log.database import open_log
from reporter.percentiles import position

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cores import Cores

TTFT_MS: Final = 50.0
GAP_MS: Final = 10.0
TOKENS: Final = 64
PROGRAM: Final = str(Path(sys.executable).with_name("loadgen"))
_PERCENTILES: Final = {"ttft_ms": ("p50", "p90", "p99"), "tpot_ms": ("p50", "p99")}
_EXACT_MS: Final = 0.15
"""The documented accuracy of certain stamps (docs/log.md): 0.1 ms for sending, 0.02 ms for arriving."""

_FOREIGN_MS: Final = 1.0
_EACH: Final = """
    SELECT sample_uuid, ttft_low_ms, ttft_ms, tpot_low_ms, tpot_high_ms, ttft_low_ms < ttft_ms
    FROM samples WHERE measured AND status = 'completed'"""


@dataclass(frozen=True, slots=True)
class Interval:
    """What is true of a figure, or what is reported: it lies between these, in ms."""

    low: float
    high: float

    def misses(self, other: Interval, within_ms: float) -> bool:
        """Whether the two cannot be of one figure."""
        return self.low > other.high + within_ms or self.high < other.low - within_ms


@dataclass(frozen=True, slots=True)
class Truth:
    """What a server knows: of each request, by its name where it has one, TTFT and TPOT."""

    each: dict[str, tuple[Interval, Interval]]
    within_ms: float

    def percentile(self, metric: str, name: str) -> Interval:
        """A percentile of all requests, at both ends."""
        values = [pair[metric == "tpot_ms"] for pair in self.each.values()]
        share = Fraction(int(name[1:]), 100)
        place = position("linear", len(values), share)
        ends = (sorted(interval.low for interval in values), sorted(interval.high for interval in values))
        low, high = (place.between(end[place.below], end[place.above]) for end in ends)
        return Interval(low, high)


@contextmanager
def own_server(folder: Path) -> Iterator[tuple[int, Any]]:
    """This benchmark's server: its port, and how to have its truth once it has ended."""
    file = folder / "truth.jsonl"
    command = [sys.executable, str(Path(__file__).with_name("truth_server.py"))]
    process = subprocess.Popen(
        [*command, str(file), str(TTFT_MS), str(GAP_MS), str(TOKENS)], stdout=subprocess.PIPE
    )
    port = int(process.stdout.readline()) if process.stdout is not None else 0

    def truth() -> Truth:
        _end(process)
        return Truth(dict(map(_of_line, file.read_text(encoding="utf-8").splitlines())), _EXACT_MS)

    try:
        yield port, truth
    finally:
        _end(process)


@contextmanager
def foreign_server(folder: Path, program: str) -> Iterator[tuple[int, Any]]:
    """The same for a server that is given by its path."""
    file = folder / "truth.csv"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    options = {"-p": port, "-n": TOKENS, "-t": TTFT_MS * 1e3, "-i": GAP_MS * 1e3, "-l": file}
    arguments = [
        str(round(part) if isinstance(part, float) else part) for pair in options.items() for part in pair
    ]
    process = subprocess.Popen([program, *arguments])
    give_up = time.monotonic() + 10
    while True:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            break
        except ConnectionRefusedError:
            if time.monotonic() > give_up:
                _end(process)
                raise
            time.sleep(0.01)

    def truth() -> Truth:
        _end(process)
        with file.open(encoding="utf-8") as lines:
            return Truth(
                {str(number): _of_row(row) for number, row in enumerate(csv.DictReader(lines))}, _FOREIGN_MS
            )

    try:
        yield port, truth
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
    process.wait()


def _of_line(line: str) -> tuple[str, tuple[Interval, Interval]]:
    record = json.loads(line)
    (first, first_by), (last, last_by) = record["sent"][0], record["sent"][-1]
    received = record["received_ns"]
    ttft = Interval((first - received) / 1e6, (first_by - received) / 1e6)
    after_first = len(record["sent"]) - 1
    tpot = Interval((last - first_by) / 1e6 / after_first, (last_by - first) / 1e6 / after_first)
    return record["id"], (ttft, tpot)


def _of_row(row: dict[str, str]) -> tuple[Interval, Interval]:
    received, first, last, tokens = (
        int(row[name]) for name in ("received_ns", "first_ns", "last_ns", "tokens")
    )
    ttft, tpot = (first - received) / 1e6, (last - first) / 1e6 / (tokens - 1)
    return Interval(ttft, ttft), Interval(tpot, tpot)


@contextmanager
def busy(core: int | None, loops: int) -> Iterator[None]:
    """Loops that compete with every other process for a core."""
    with ExitStack() as stack, on_core(core):
        for _ in range(loops):
            process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            stack.callback(process.wait)
            stack.callback(process.kill)
        with on_core(None):
            yield


def one_run(cores: Cores, folder: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Measure once, and hold the report against the truth: what lies outside, and how wide the bounds are."""
    out = folder / "run"
    with on_core(cores.server):
        serving = foreign_server(folder, options.server) if options.server else own_server(folder)
    with ExitStack() as stack:
        with on_core(cores.server):
            port, truth_of = stack.enter_context(serving)
        stack.enter_context(busy(cores.client, options.loops))
        command = [
            PROGRAM,
            "perf",
            "--url",
            f"http://127.0.0.1:{port}/v1",
            "--model",
            "mock" if options.server else "bench",
        ]
        load = ["-c", str(options.streams), "-n", str(options.requests), "--max-tokens", str(TOKENS)]
        with on_core(cores.client):
            finished = subprocess.run(
                [*command, *load, "--workers", "1", "--quiet", "--no-probe", "--out", str(out), "--json"],
                capture_output=True,
                check=False,
            )
        if not finished.stdout:
            raise RuntimeError(f"loadgen perf ended with {finished.returncode}: {finished.stderr.decode()}")
        truth: Truth = truth_of()
    report = json.loads(finished.stdout)
    outside = [*_outside(report, truth), *([] if options.server else _each_outside(out, truth))]
    bounds = {name: reported(report, name, "p99") for name in _PERCENTILES}
    true = {name: truth.percentile(name, "p99") for name in _PERCENTILES}
    return {
        "outside": outside,
        "bounds": bounds,
        "true": true,
        "late": _late(out),
        "n": report["counts"]["completed"],
    }


def reported(report: dict[str, Any], metric: str, name: str) -> Interval:
    """A figure of a report at both ends; one that is exact has them in common."""
    ends = report["bounds"].get(metric, {"low": report[metric], "high": report[metric]})
    return Interval(ends["low"][name], ends["high"][name])


def _outside(report: dict[str, Any], truth: Truth) -> list[str]:
    return [
        f"{metric} {name}: {bounds}, true {true}"
        for metric, names in _PERCENTILES.items()
        for name in names
        if (bounds := reported(report, metric, name)).misses(
            true := truth.percentile(metric, name), truth.within_ms
        )
    ]


def _each_outside(out: Path, truth: Truth) -> list[str]:
    """Single requests whose truth is not between their bounds."""
    rows = []
    with open_log(out) as log:
        for uuid, ttft_low, ttft, tpot_low, tpot_high, _ in log.execute(_EACH).fetchall():
            bounds = (Interval(ttft_low, ttft), Interval(tpot_low, tpot_high))
            rows += [
                f"request {uuid}: {bounds_of_request}, true {true}"
                for bounds_of_request, true in zip(bounds, truth.each[uuid], strict=True)
                if bounds_of_request.misses(true, truth.within_ms)
            ]
    return rows


def _late(out: Path) -> int:
    with open_log(out) as log:
        return sum(bool(row[-1]) for row in log.execute(_EACH).fetchall())


def main(arguments: Sequence[str] | None = None) -> int:
    """Run it, a line a run, and tell how many runs had the truth in their bounds; 1 when not all had."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--streams", type=int, default=100)
    parser.add_argument("--requests", type=int, default=200)
    parser.add_argument("--loops", type=int, default=3)
    parser.add_argument("--server")
    options = parser.parse_args(arguments)
    cores = choose()
    print(
        f"{cores}; {options.loops} busy loops on the client's; {options.requests} requests a run", flush=True
    )
    held = wide = 0
    for number in range(1, options.runs + 1):
        with TemporaryDirectory(prefix="loadgen-bounds-") as folder:
            result = one_run(cores, Path(folder), options)
        held += not result["outside"]
        bounds, true = result["bounds"]["ttft_ms"], result["true"]["ttft_ms"]
        wide += bounds.high - bounds.low > 0.01 * bounds.high
        outcome = "inside" if not result["outside"] else f"OUTSIDE {'; '.join(result['outside'][:3])}"
        print(
            f"{number:3} TTFT p99 {bounds.low:6.1f} to {bounds.high:6.1f} ms, true {true.high:6.1f} ms; "
            f"{result['late']:3} of {result['n']} first tokens late; {outcome}",
            flush=True,
        )
    print(
        f"the truth was between the bounds in {held} of {options.runs} runs; TTFT p99 was in doubt in {wide}"
    )
    return 0 if held == options.runs else 1


if __name__ == "__main__":
    sys.exit(main())
