"""Whether times are the server's at full speed: client on one core, server on the other, all in one run.

Reported times are compared with the mock endpoint's truth about the same requests.

    python benchmarks/timing.py [--rounds N] [--only WORK ...] [--long]
"""

from __future__ import annotations

import argparse
import sys
from statistics import median
from typing import TYPE_CHECKING, Final

from cores import choose, on_core
from memory import growth
from scorecard import Row, table
from timed_run import IO_LOOP, Pace, timed_run

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cores import Cores
    from timed_run import TimedRun

    from loadgen.plugins.calibration.true_times import MedianAndP99

BURST: Final = Pace(ttft_ms=0, gap_ms=0, tokens=32)
PACED: Final = Pace(ttft_ms=50, gap_ms=10, tokens=64)
SHORT: Final = Pace(ttft_ms=10, gap_ms=5, tokens=4)
STREAMS: Final = 64
SECONDS: Final = 5
RATE: Final = 1000


def burst(cores: Cores, rounds: int) -> Iterator[Row]:
    """A closed loop without delay in the server: what TTFT is off by."""
    runs: list[TimedRun] = []
    for number in range(1, rounds + 1):
        runs.append(timed_run(cores, BURST, *closed(STREAMS)))
        tell(f"burst, round {number}: {described(runs[-1])}")
    yield error("burst", runs, "ttft", "p50", (0.5, 0.1))
    yield error("burst", runs, "ttft", "p99", (5, 1))


def paced_500(cores: Cores, rounds: int) -> Iterator[Row]:
    """500 streams of 100 tok/s."""
    runs = paced(cores, rounds, 500)
    yield error("paced, 500 streams", runs, "ttft", "p50", (0.3, 0.1))
    yield error("paced, 500 streams", runs, "ttft", "p99", (3, 1))
    yield from pace_of("paced, 500 streams", runs)


def paced_1000(cores: Cores, rounds: int) -> Iterator[Row]:
    """1,000 streams of 100 tokens per second: what times are off by."""
    runs = paced(cores, rounds, 1000)
    yield error("paced, 1,000 streams", runs, "ttft", "p50", (1, 0.2))
    yield error("paced, 1,000 streams", runs, "ttft", "p99", (6, 2))
    yield from pace_of("paced, 1,000 streams", runs)


def poisson(cores: Cores, rounds: int) -> Iterator[Row]:
    """An open loop: how late requests leave."""
    runs: list[TimedRun] = []
    for number in range(1, rounds + 1):
        runs.append(timed_run(cores, SHORT, "--rate", RATE, "--warmup", RATE // 10, "--duration", SECONDS))
        lag = runs[-1].report["issue_lag_ms"]
        tell(
            f"Poisson, round {number}: late by {lag['p50']:.3f} / {lag['p99']:.3f} ms, {described(runs[-1])}"
        )
    for which, bounds in (("p50", (0.1, 0.03)), ("p99", (1, 0.2))):
        late_ms = [run.report["issue_lag_ms"][which] for run in runs]
        yield Row(f"Poisson, {RATE:,} req/s: issue lateness {which}", late_ms, bounds, "ms")


def long_run(cores: Cores, _: int) -> Iterator[Row]:
    """Whether memory stays what it is over a million requests."""
    grown = growth(cores, SHORT)
    values, note = ([], "") if grown is None else ([grown[0]], f"PSS, {grown[1]}")
    yield Row("memory over 1,000,000 requests: growth", values, (10, 1), "%", note=note)


WORKS: Final[Mapping[str, Callable[[Cores, int], Iterator[Row]]]] = {
    "burst": burst,
    "paced-500": paced_500,
    "paced-1000": paced_1000,
    "poisson": poisson,
    "long": long_run,
}


def closed(streams: int) -> Sequence[object]:
    """This many streams at once; each has a connection before it counts."""
    return "--concurrency", streams, "--warmup", streams, "--duration", SECONDS


def paced(cores: Cores, rounds: int, streams: int) -> Sequence[TimedRun]:
    """The rounds of a closed loop at the pace of a server."""
    runs = []
    for number in range(1, rounds + 1):
        runs.append(timed_run(cores, PACED, *closed(streams)))
        tell(f"paced, {streams:,} streams, round {number}: {described(runs[-1])}")
    return runs


def pace_of(what: str, runs: Sequence[TimedRun]) -> Iterator[Row]:
    """What the times between tokens are off by."""
    yield error(what, runs, "tpot", "p50", (0.05, 0.01))
    yield error(what, runs, "itl", "p99", (1, 0.2))


def error(what: str, runs: Sequence[TimedRun], time: str, which: str, bounds: tuple[float, float]) -> Row:
    """What a percentile of a time is off by; in doubt where the mock endpoint was later than the bound."""
    off_ms = [abs(getattr(times.error, which)) for run in runs if (times := getattr(run.times, time))]
    late_ms = median(getattr(run.late, which) for run in runs if run.late)
    doubt = f"the mock endpoint was {late_ms:.2f} ms late at {which} itself" if late_ms > bounds[0] else ""
    return Row(f"{what}: |{time.upper()} {which} - truth|", off_ms, bounds, "ms", doubt=doubt)


def described(run: TimedRun) -> str:
    """Times of a run compared with the truth, in words."""
    times = run.times
    if times is None or times.ttft is None:
        return "nothing to compare"
    busy = "" if run.server_share is None else f", server {100 * run.server_share:.0f} % busy"
    late = "" if run.late is None else f", mock late {two(run.late)}"
    each = "" if times.ttft_each is None else f", request by request off by {two(times.ttft_each)}"
    return (
        f"TTFT {two(times.ttft.reported)} where {two(times.ttft.true)} is true{each}{late}{busy} "
        f"({times.requests:,} requests, ms at p50 / p99)"
    )


def two(spread: MedianAndP99) -> str:
    """Both figures of a distribution."""
    return f"{spread.p50:.2f} / {spread.p99:.2f}"


def tell(line: str) -> None:
    """Say how it goes."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Measure, and print the scorecard."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=5, help="of each work; 5 by default")
    parser.add_argument("--only", nargs="+", choices=WORKS, help="these works only")
    parser.add_argument("--long", action="store_true", help="the run of a million requests as well, minutes")
    options = parser.parse_args()
    cores = choose()
    tell(str(cores))
    works = options.only or [name for name in WORKS if name != "long" or options.long]
    with on_core(cores.server):
        rows = [row for name in works for row in WORKS[name](cores, options.rounds)]
    print(f"{cores}\n{IO_LOOP}\n{options.rounds} rounds\n\n{table(rows)}")


if __name__ == "__main__":
    main()
