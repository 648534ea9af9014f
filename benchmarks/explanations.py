"""The figures of docs/time.md, docs/tokens.md and docs/early-stopping.md, from runs and the code of rules.

    python benchmarks/explanations.py [time] [tokens] [early-stopping] [--folder docs]

Needs Linux, two cores or more, and the extra `plot`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.plotting import plots_of
from reporter.log.query import query
from reporter.plots.plot_value import Axis, Plot, PlotSeries
from reporter.render.plot_picture import picture
from rulesets.statistics.early_stopping import most_over

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

USERS: Final = 64
REQUESTS: Final = 1_500
BUSY_LOOPS: Final = 4
CLIENT_CORE, SERVER_CORE = 0, 1
PACE: Final = {"ttft": "50ms", "itl": "10ms", "tokens": "16"}
TOKEN_PACE: Final = {"ttft": "50ms", "itl": "8ms", "tokens": "64"}
LEAST_DRAWN_MS: Final = 25.0
POINTS: Final = 300
"""How many points of a curve are drawn."""


def early_stopping() -> list[Plot]:
    """Requests that may be over a limit, as a share, against the number of requests."""
    sizes = sorted({round(10 ** (1 + 4 * k / POINTS)) for k in range(POINTS + 1)})
    series = []
    for name, percentile in (("p90", "0.9"), ("p95", "0.95"), ("p99", "0.99")):
        allowed = [(n, most_over(n, percentile)) for n in sizes]
        enough = [(n, 100 * over / n) for n, over in allowed if over]
        series.append(PlotSeries(name, "line", *map(tuple, zip(*enough, strict=True))))
    title = "Requests that may exceed the limit of a percentile, by early stopping"
    x, y = Axis("requests", "", "log"), Axis("share that may be over", "%", "log")
    return [Plot("early-stopping", title, x, y, tuple(series), sql="")]


def tokens(scratch: Path) -> list[Plot]:
    """ITL and TPOT of a server that sends one token a chunk, and of one that sends four."""
    runs = []
    for per_chunk in (1, 4):
        with start_mock(**TOKEN_PACE, tokens_per_chunk=per_chunk) as mock:
            runs.append(scratch / f"{per_chunk} token{'s' * (per_chunk > 1)} per chunk")
            perf(mock.url, runs[-1], 8, 200)
    made = {what: plot for what in ("itl-cdf", "tpot-cdf") for plot in plots_of(runs, what, None)}
    series = tuple(
        replace(curve, name=f"{curve.name}, {curve.group}", group=None)
        for what, plot in made.items()
        if isinstance(plot, Plot)
        for curve in plot.series
    )
    title = "ITL and TPOT of the same pace, 8 ms per token, in chunks of one and of four tokens"
    return [Plot("tokens", title, Axis("time", "ms"), Axis("share", "%"), series, sql="")]


def stamps(scratch: Path) -> list[Plot]:
    """TTFT by the server itself, by `loadgen`, and by a client that stamps what it reads, on a busy core."""
    cdfs: list[tuple[str, list[float]]] = []
    with start_mock(**PACE) as mock, pinned(mock.pid, SERVER_CORE), busy():
        run = scratch / "busy"
        perf(mock.url, run, USERS, REQUESTS, core=CLIENT_CORE)
        truth = [(t.chunk_ns[0] - t.received_ns) / 1e6 for t in mock.truth(REQUESTS) if t.chunk_ns]
        columns = "ttft_ms, coalesce(ttft_low_ms, ttft_ms)"
        kernel = query(run, f"SELECT {columns} FROM samples WHERE measured AND ttft_ms > 0").rows  # noqa: S608
        arguments = (sys.executable, __file__, "--read-client", mock.url)
        read = subprocess.run(on_core(CLIENT_CORE, arguments), check=True, capture_output=True, text=True)
        cdfs = [
            ("the server's own log", truth),
            ("loadgen: ttft_ms", [late for late, _ in kernel]),
            ("loadgen: ttft_low_ms", [max(early, LEAST_DRAWN_MS) for _, early in kernel]),
            ("a client that stamps what it has read", [float(line) for line in read.stdout.split()]),
        ]
    series = tuple(cdf(name, values) for name, values in cdfs)
    title = f"TTFT of one server, measured on a core with {BUSY_LOOPS} busy loops"
    return [Plot("stamps", title, Axis("TTFT", "ms", "log"), Axis("share of requests", "%"), series, sql="")]


def cdf(name: str, values: Sequence[float]) -> PlotSeries:
    """The cumulative distribution of values, in percent."""
    ordered = sorted(values)
    ranks = sorted({round(k * (len(ordered) - 1) / POINTS) for k in range(POINTS + 1)})
    shares = tuple(100 * (rank + 1) / len(ordered) for rank in ranks)
    return PlotSeries(name, "step", tuple(ordered[rank] for rank in ranks), shares)


def perf(url: str, folder: Path, users: int, requests: int, core: int | None = None) -> None:
    """A closed loop."""
    command = [
        sys.executable,
        "-m",
        "loadgen",
        "perf",
        "--url",
        url,
        "--model",
        "m",
        "-q",
        "--out",
        str(folder),
    ]
    command += ["-c", str(users), "-n", str(requests), "--workers", "1", "--on-invalid", "warn"]
    subprocess.run(on_core(core, command), check=True, stdout=subprocess.DEVNULL)


def on_core(core: int | None, command: Sequence[str]) -> list[str]:
    """A command that runs on one core only."""
    return [*command] if core is None else ["taskset", "--cpu-list", str(core), *command]


@contextmanager
def pinned(pid: int, core: int) -> Iterator[None]:
    """Keep a process on a core."""
    os.sched_setaffinity(pid, {core})
    yield


@contextmanager
def busy() -> Iterator[None]:
    """Keep the client's core busy."""
    loop = on_core(CLIENT_CORE, [sys.executable, "-c", "while True: pass"])
    with ExitStack() as stack:
        for _ in range(BUSY_LOOPS):
            process = stack.enter_context(subprocess.Popen(loop))
            stack.callback(process.kill)
        yield


async def read_client(url: str) -> None:
    """Ask like `perf`, with aiohttp, and print TTFT in ms by the time at which a chunk was read."""
    import aiohttp

    left = iter(range(REQUESTS))
    body = {"model": "m", "stream": True, "messages": [{"role": "user", "content": "hello"}]}

    async def user(session: aiohttp.ClientSession) -> None:
        for _ in left:
            sent_ns, first_ns = time.monotonic_ns(), 0
            async with session.post(f"{url}/chat/completions", json=body) as response:
                async for line in response.content:
                    if not first_ns and b'"content":"' in line:
                        first_ns = time.monotonic_ns()
            print((first_ns - sent_ns) / 1e6)

    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:
        await asyncio.gather(*(user(session) for _ in range(USERS)))


FIGURES: Final = {"time": "time-ttft", "tokens": "tokens-itl", "early-stopping": "early-stopping"}


def main() -> None:
    """Draw the figures that are named, or all."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("figures", nargs="*", help=f"of {', '.join(FIGURES)}; default: all")
    parser.add_argument(
        "--folder", type=Path, default=Path(__file__).parents[1] / "docs", help="of the SVG files"
    )
    parser.add_argument("--read-client", metavar="URL", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read_client:
        asyncio.run(read_client(arguments.read_client))
        return
    for name in arguments.figures or FIGURES:
        with TemporaryDirectory(prefix="loadgen-bench-") as scratch:
            if name == "early-stopping":
                plots = early_stopping()
            else:
                plots = (stamps if name == "time" else tokens)(Path(scratch))
        file = arguments.folder / f"{FIGURES[name]}.svg"
        file.write_bytes(picture(plots, "svg"))
        print(file)


if __name__ == "__main__":
    main()
