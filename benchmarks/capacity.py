"""How much load one core carries: the client on one core, a native server that knows the truth on the other.

With VLLM_RS=BINARY each round runs vllm-rs (in the wheel of vLLM: `vllm/vllm-rs`) next to this program.

    python benchmarks/capacity.py [--rounds N] [--only WORK ...]
"""

from __future__ import annotations

import argparse
import os
import sys
from compileall import compile_dir
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

import clients
import report_scale
from clients import Work
from cores import Cores, choose, on_core
from native_server import MissingServerError, executable
from scorecard import Row, table
from startup import first_post
from timed_run import IO_LOOP, Pace, timed_run

from loadgen.mock_endpoint.scenarios.listeners import certificate_file

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from clients import ClientRun

BURST: Final = Work(Pace(ttft_ms=0, gap_ms=0, tokens=32), streams=64, requests=30_000)
PACED: Final = Work(Pace(ttft_ms=50, gap_ms=10, tokens=64), streams=1000, requests=10_000)
SLOW: Final = Pace(ttft_ms=50, gap_ms=40, tokens=64)
"""25 tokens per second: one core serves 3,000 such streams."""

ROOT: Final = Path(__file__).parents[1]
PACKAGES: Final = ("lazy_dataclasses", "loadgen", "recorder", "reporter", "rulesets", "workloads")

STREAMS: Final = (100, 300, 1000, 3000)
REQUESTS_PER_STREAM: Final = 8
"""Of fewer, the ramp of 3,000 connections would be a part of the figure."""
TLS_STREAMS: Final = 200
REPORTED: Final = 1_000_000
MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class Pairs:
    """The rounds of a work: this program, and vllm-rs where it is there."""

    ours: Sequence[ClientRun]
    theirs: Sequence[ClientRun]

    def ratios(self, figure: Callable[[ClientRun], float]) -> Sequence[float]:
        """A figure of this program divided by that of vllm-rs, round by round; empty without it."""
        return [figure(own) / figure(other) for own, other in zip(self.ours, self.theirs, strict=False)]

    def note(self, unit: str, figure: Callable[[ClientRun], float]) -> str:
        """A figure of both, in words."""
        own = f"{_spread([figure(run) for run in self.ours])} {unit}"
        return f"{own}; vllm-rs " + (
            _spread([figure(run) for run in self.theirs]) or "not measured: no VLLM_RS"
        )


def burst(cores: Cores, rounds: int) -> Iterator[Row]:
    """A closed loop against a server without delay."""
    pairs = both(cores, BURST, rounds)
    rate, request_us = (lambda run: run.requests_s), (lambda run: run.cpu_s / BURST.requests * MILLION)
    floor_us = _floor(cores, BURST, BURST.requests, rounds)
    yield Row(
        "burst: req/s relative to vllm-rs",
        pairs.ratios(rate),
        (1, 1.5),
        least=True,
        note=pairs.note("req/s", rate),
    )
    yield Row(
        "burst: CPU per request relative to vllm-rs",
        pairs.ratios(request_us),
        (1, 0.7),
        note=f"{pairs.note('µs', request_us)}; a client that only receives {floor_us} µs",
    )
    command_s = lambda run: run.command_cpu_s  # noqa: E731
    yield Row(
        f"CPU of the command, {BURST.requests:,} requests, to vllm-rs",
        pairs.ratios(command_s),
        (1, 0.8),
        note=pairs.note("s", command_s),
    )


def paced(cores: Cores, rounds: int) -> Iterator[Row]:
    """1,000 streams of 100 tokens per second."""
    pairs = both(cores, PACED, rounds)
    shares = [run.requests_s / PACED.possible for run in pairs.ours]
    note = f"of {PACED.possible:,.0f}: {pairs.note('req/s', lambda run: run.requests_s)}; {_losses(pairs)}"
    yield Row("1,000 streams: share of possible req/s", shares, (0.96, 0.98), least=True, note=note)
    floor_s = _floor(cores, PACED, PACED.requests * PACED.pace.tokens, rounds)
    cpu_s = [_chunks_s(run) for run in pairs.ours]
    note = f"{pairs.note('s', _chunks_s)}; a client that only receives {floor_s} s"
    yield Row("1,000 streams: CPU per million chunks", cpu_s, (6, 4), "s", note=note)
    off_ms = [abs(run.ttft_p99_off_ms) for run in pairs.ours]
    note = pairs.note("ms", lambda run: run.ttft_p99_off_ms) + _limited(pairs.ours)
    yield Row("1,000 streams: |TTFT p99 - truth|", off_ms, (1, 0.3), "ms", note=note)


def memory(cores: Cores, rounds: int) -> Iterator[Row]:
    """The memory of all processes, with 1,000 streams."""
    pairs = both(cores, PACED, rounds, memory=True)
    peak_mb = [run.peak_mb or 0.0 for run in pairs.ours]
    note = f"PSS; {pairs.note('MB', lambda run: run.peak_mb or 0.0)}"
    yield Row("1,000 streams: peak memory of all processes", peak_mb, (100, 80), "MB", note=note)


def growth(cores: Cores, rounds: int) -> Iterator[Row]:
    """From 100 streams to 3,000 of 25 tokens per second, with as many workers as the program chooses."""
    works = {count: Work(SLOW, count, count * REQUESTS_PER_STREAM) for count in STREAMS}
    runs: dict[int, list[ClientRun]] = {count: [] for count in STREAMS}
    for number in range(1, rounds + 1):
        for count, work in works.items():
            runs[count].append(clients.loadgen(cores, work, workers=None))
            tell(f"{count:,} streams, round {number}: {described(runs[count][-1])}")
    fewest, greatest = STREAMS[0], STREAMS[-1]
    shares = [run.requests_s / works[greatest].possible for run in runs[greatest]]
    off_ms = _spread([run.ttft_p99_off_ms for run in runs[greatest]])
    note = f"25 tok/s each; TTFT p99 off by {off_ms} ms"
    yield Row(f"{greatest:,} streams: share of possible req/s", shares, (0.96, 0.98), least=True, note=note)
    grown = [_chunks_s(many) / _chunks_s(few) for many, few in zip(runs[greatest], runs[fewest], strict=True)]
    costs = (f"{count:,}: {median(map(_chunks_s, runs[count])):.3g}" for count in STREAMS)
    note = f"CPU s per million chunks by streams: {', '.join(costs)}"
    yield Row(f"cost per stream, {greatest:,} relative to {fewest}", grown, (1.5, 1), note=note)


def both_cores(_: Cores, rounds: int) -> Iterator[Row]:
    """3,000 streams of 25 tokens per second where client and server share all cores."""
    work = Work(SLOW, STREAMS[-1], STREAMS[-1] * REQUESTS_PER_STREAM)
    runs: list[ClientRun] = []
    for number in range(1, rounds + 1):
        runs.append(clients.loadgen(Cores(None, None), work, workers=None))
        tell(f"{work.streams:,} streams, all cores, round {number}: {described(runs[-1])}")
    shares = [run.requests_s / work.possible for run in runs]
    off_ms, cpu_s = _spread([run.ttft_p99_off_ms for run in runs]), _spread(list(map(_chunks_s, runs)))
    note = f"CPU per million chunks {cpu_s} s; TTFT p99 off by {off_ms} ms{_limited(runs)}"
    yield Row(
        f"{work.streams:,} streams, all cores: share of possible", shares, (0.96, 0.98), least=True, note=note
    )


def tls(cores: Cores, rounds: int) -> Iterator[Row]:
    """200 streams by TLS and in clear, in turns, against the mock endpoint: the native server has no TLS."""
    arguments = ("--concurrency", TLS_STREAMS, "--requests", TLS_STREAMS * REQUESTS_PER_STREAM)
    ratios: list[float] = []
    costs_us: dict[str, list[float]] = {"plain": [], "TLS": []}
    for number in range(1, rounds + 1):
        for name, file in (("plain", None), ("TLS", certificate_file("self_signed"))):
            run = timed_run(cores, SLOW, *arguments, compare=False, certificate=file)
            costs_us[name].append((run.client.cpu_s(*run.window) or 0.0) / run.chunks * MILLION)
            tell(f"{TLS_STREAMS} streams, {name}, round {number}: {costs_us[name][-1]:.2f} µs per chunk")
        ratios.append(costs_us["TLS"][-1] / costs_us["plain"][-1])
    note = "; ".join(f"{name} {_spread(values)} µs" for name, values in costs_us.items())
    yield Row(f"{TLS_STREAMS} streams: CPU per chunk, TLS to plain", ratios, (1.5, 1.2), note=note)


def start(cores: Cores, rounds: int) -> Iterator[Row]:
    """From the start of the program to the first request on the wire."""
    first_post(cores.client)
    times_s = [first_post(cores.client) for _ in range(rounds)]
    yield Row("start to first request on the wire", times_s, (0.15, 0.1), "s")


def report(_: Cores, rounds: int) -> Iterator[Row]:
    """A report of a million requests, on both cores."""
    with TemporaryDirectory(prefix="loadgen-bench-") as folder:
        log = Path(folder) / "events.db"
        report_scale.write(log, REPORTED)
        times_s = [report_scale.report_apart(log)[0] for _ in range(rounds)]
    yield Row(f"report of {REPORTED:,} requests", times_s, (2, 1), "s")


WORKS: Final[Mapping[str, Callable[[Cores, int], Iterator[Row]]]] = {
    "burst": burst,
    "paced": paced,
    "memory": memory,
    "growth": growth,
    "both_cores": both_cores,
    "tls": tls,
    "start": start,
    "report": report,
}
NATIVE: Final = ("burst", "paced", "memory", "growth", "both_cores")
"""What needs the native server."""
ON_ALL_CORES: Final = ("both_cores", "report")
"""The measurements without pinned processes, as on a user's machine."""


def both(cores: Cores, work: Work, rounds: int, *, memory: bool = False) -> Pairs:
    """Run this program and vllm-rs in turn."""
    pairs = Pairs([], [])
    for number in range(1, rounds + 1):
        what = f"{work.streams:,} streams, round {number}"
        own = clients.loadgen(cores, work, memory=memory)
        tell(f"{what}: {described(own)}")
        other = clients.vllm_rs(cores, work, memory=memory)
        if other:
            tell(f"{what}, vllm-rs: {described(other)}")
        pairs = Pairs([*pairs.ours, own], [*pairs.theirs, *([other] if other else [])])
    return pairs


def described(run: ClientRun) -> str:
    """A run in words."""
    memory = f", {run.peak_mb:.0f} MB" if run.peak_mb else ""
    return (
        f"{run.requests_s:,.0f} req/s, {_chunks_s(run):.2f} s of CPU per million chunks, "
        f"{run.command_cpu_s:.2f} s in all, TTFT p99 off by {run.ttft_p99_off_ms:.2f} ms, "
        f"{run.lost}, server {100 * run.server_share:.0f} % busy{memory}"
        f"{', INVALID: it did not keep up' if run.at_limit else ''}"
    )


def compile_modules() -> None:
    """Compile the modules, as an installation does; those of dependencies are compiled by a report."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    for package in PACKAGES:
        compile_dir(ROOT / package, quiet=2)
    with TemporaryDirectory(prefix="loadgen-bench-") as folder:
        log = Path(folder) / "events.db"
        report_scale.write(log, 1)
        report_scale.report_apart(log)


def tell(line: str) -> None:
    """Report progress."""
    print(line, file=sys.stderr, flush=True)


def _chunks_s(run: ClientRun) -> float:
    return run.cpu_s / run.chunks * MILLION


def _floor(cores: Cores, work: Work, count: int, rounds: int) -> str:
    """The CPU time of a client in C that only receives, in s per million of what a work has `count` of."""
    return _spread([clients.receiving(cores, work) / count * MILLION for _ in range(rounds)])


def _losses(pairs: Pairs) -> str:
    """Where the time of both went, in the median round of each."""
    names = ("lost", "vllm-rs lost")
    return "; ".join(
        f"{name}: {sorted(runs, key=lambda run: run.requests_s)[len(runs) // 2].lost}"
        for name, runs in zip(names, (pairs.ours, pairs.theirs), strict=True)
        if runs
    )


def _limited(runs: Sequence[ClientRun]) -> str:
    """How many rounds the client itself reports as invalid; empty without any."""
    count = sum(run.at_limit for run in runs)
    return f"; invalid in {count} of {len(runs)} rounds: the client did not keep up" if count else ""


def _spread(values: Sequence[float]) -> str:
    """The median of values and their range; empty without any."""
    if not values:
        return ""
    return f"{median(values):,.4g} [{min(values):,.4g}..{max(values):,.4g}]"


def measured(name: str, cores: Cores, rounds: int) -> Iterator[Row]:
    """The rows of a work, or one that says why there are none."""
    if name in NATIVE:
        try:
            executable()
        except MissingServerError as error:
            yield Row(name, [], (0, 0), note=f"skipped: {error}")
            return
    yield from WORKS[name](cores, rounds)


def main() -> None:
    """Measure, and print the scorecard."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of each work; 5 by default")
    parser.add_argument("--only", nargs="+", choices=WORKS, help="these works only")
    options = parser.parse_args()
    cores = choose()
    tell(f"{cores}; {IO_LOOP}")
    compile_modules()
    rows: list[Row] = []
    for name in options.only or WORKS:
        with on_core(None if name in ON_ALL_CORES else cores.server):
            rows += measured(name, cores, options.rounds)
    print(f"{cores}\n{IO_LOOP}\n{options.rounds} rounds\n\n{table(rows)}")


if __name__ == "__main__":
    main()
