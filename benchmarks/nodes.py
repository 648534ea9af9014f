"""What several machines cost: the same work through Ray on one node, and a coordinator of up to 1,000 nodes.

    python benchmarks/nodes.py [--rounds N] [--requests N] [--only ray|coordinator|copy|schedule]

The same work: a native server has one core; the command, its worker and Ray share the other. Ray's own
processes run in both cases. So whatever a run through Ray takes in addition, the worker lacks. Unpinned, a
worker takes up to twice the CPU for the same request, by what the scheduler happens to put where.
On a busy machine compare the CPU per request: the rate depends on what else runs.

The coordinator's nodes are simulated: they answer after a network's round trip, and issue nothing. What Ray
itself takes for a call is measured with one actor.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import islice
from statistics import median
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from cores import choose, on_core
from native_server import MissingServerError, NativeServer, executable
from process_tree import Watch
from scorecard import Row, table
from timed_run import MODEL, PROGRAM, Pace

from loadgen.driver.load import Open, ProcessArrivals
from loadgen.driver.phase import Phase
from loadgen.driver.progress import SessionProgress
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.plugins.ray.collect_shards import PIECE_BYTES
from loadgen.plugins.ray.group import NodeGroup
from loadgen.plugins.ray.node_links import NodeStatus
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cores import Cores


NODES: Final = (10, 100, 1000)
ROUND_TRIP_S: Final = 0.002
WATCHED_S: Final = 10.0
COPIED_BYTES: Final = 512 * 1024 * 1024
DRAWN: Final = 300_000
WORK: Final = Pace(ttft_ms=0, gap_ms=0, tokens=16)
STREAMS: Final = 64
LOOK_S: Final = 0.5

_INVALID: Final = 4


def through_ray(rounds: int, requests: int) -> Iterator[Row]:
    """The same work by plain worker processes and through Ray, in turns."""
    rate, cpu = "Ray on one node: req/s relative to plain", "Ray on one node: CPU per request, as above"
    try:
        executable()
    except MissingServerError as error:
        yield Row(rate, [], (0, 0), note=f"skipped: {error}")
        return
    cores, pairs = choose(), []
    tell(str(cores))
    with on_core(cores.client), _cluster() as address, on_core(cores.server):
        for number in range(rounds):
            pair = {name: _run(cores, requests, options) for name, options in _in_turns(address, number)}
            pairs.append((pair["plain"], pair["ray"]))
            tell(f"round {number + 1}: plain {pair['plain']}; Ray {pair['ray']}")
    ratios = [ray.requests_s / plain.requests_s for plain, ray in pairs]
    yield Row(rate, ratios, (0.95, 0.99), least=True, note=_note(pairs, "requests_s", "req/s"))
    ratios = [ray.cpu_us / plain.cpu_us for plain, ray in pairs]
    yield Row(cpu, ratios, (1.05, 1.01), note=_note(pairs, "cpu_us", "µs"))


@dataclass(frozen=True, slots=True)
class _Run:
    """What one run took.

    Attributes:
        requests_s: Requests per second.
        cpu_us: CPU time of all processes but the server for a request: Ray's own, and this one, which looks.
    """

    requests_s: float
    cpu_us: float

    def __str__(self) -> str:
        return f"{self.requests_s:,.0f} req/s, {self.cpu_us:.1f} µs"


def _note(pairs: Sequence[tuple[_Run, _Run]], figure: str, unit: str) -> str:
    plain, ray = (median(getattr(run, figure) for run in runs) for runs in zip(*pairs, strict=True))
    return f"plain {plain:,.4g}, Ray {ray:,.4g} {unit}"


def _in_turns(address: str, number: int) -> list[tuple[str, list[str]]]:
    both = [("plain", []), ("ray", ["--ray", address, "--nodes", "1"])]
    return both if number % 2 else both[::-1]


def _run(cores: Cores, requests: int, options: list[str]) -> _Run:
    with TemporaryDirectory() as folder, NativeServer(cores.server, WORK) as server:
        command = [*PROGRAM, "perf", "--url", server.url, "--model", MODEL, "--workers", "1", "--json", "-q"]
        command += ["-c", str(STREAMS), "-n", str(requests), "--out", f"{folder}/run", *options]
        with on_core(cores.client):
            process = subprocess.Popen(command, stdout=subprocess.PIPE)
        # Ray's processes are children of this one.
        everything = Watch(os.getpid(), memory=False, interval_s=LOOK_S)
        with everything, Watch(server.pid, memory=False) as served:
            report = process.communicate()[0]
    if process.returncode not in {0, _INVALID}:
        sys.exit(process.returncode)
    throughput, window = (json.loads(report)[part] for part in ("throughput", "window"))
    start_ns, end_ns = window["start_ns"], window["end_ns"]
    cpu_s = (everything.cpu_s(start_ns, end_ns) or 0.0) - (served.cpu_s(start_ns, end_ns) or 0.0)
    return _Run(throughput["qps"], cpu_s / requests * 1e6)


@contextmanager
def _cluster() -> Iterator[str]:
    """A cluster of one node, by its address."""
    os.environ["RAY_AUTH_MODE"] = "disabled"
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    yield cluster.address
    cluster.shutdown()


class SimulatedLink:
    """A node that answers after a round trip, and issues nothing."""

    host = "simulated"

    def __init__(self, number: int) -> None:
        self.name = f"node-{number}"
        self.announced_ns: list[int] = []

    async def call(self, method: str, *values: Any) -> Any:
        """Answer as a node would."""
        await asyncio.sleep(ROUND_TRIP_S / 2)
        if method == "status":
            answer: Any = NodeStatus(time.monotonic_ns(), SessionProgress().snapshot())
        elif method == "issue":
            phase: Phase = values[1]
            self.announced_ns.append(phase.start_ns - time.monotonic_ns())
            answer = 0
        else:
            answer = None
        await asyncio.sleep(ROUND_TRIP_S / 2)
        return answer

    def kill(self) -> None:
        """There is nothing to end."""


def coordinator() -> Iterator[Row]:
    """What a coordinator of many nodes uses while a session runs, and whether every node hears in time."""
    for number in NODES:
        share, spare_ms, readings = asyncio.run(_coordinated(number))
        note = (
            f"{readings:.0f} clock readings/s; a phase is heard of {spare_ms:.0f} ms ahead by the last node"
        )
        yield Row(f"coordinator of {number:,} nodes: share of a core", [share], (0.5, 0.2), note=note)
        yield Row(
            f"{number:,} nodes: the last hears of a phase ahead by", [spare_ms], (0, 50), "ms", least=True
        )


async def _coordinated(number: int) -> tuple[float, float, float]:
    links, events = [SimulatedLink(place) for place in range(number)], []
    plan = prepare(perf_settings(model="m", url=["http://127.0.0.1:1"], rate="100", duration=60.0)).plan
    group = NodeGroup(links, plan, events.append, system_clock(), Stop())
    await group.begin()
    first, started_s, cpu_s = len(events), time.monotonic(), time.process_time()
    await group.issue(Phase("performance", time.monotonic_ns() + group.lead_ns))
    await asyncio.sleep(WATCHED_S)
    passed_s = time.monotonic() - started_s
    share, readings = (time.process_time() - cpu_s) / passed_s, (len(events) - first) / passed_s
    await group.end()
    return share, min(link.announced_ns[0] for link in links) / 1e6, readings


def copy() -> Iterator[Row]:
    """How fast logs come home through Ray, and what a call takes."""
    with _cluster() as address:
        import ray

        ray.init(address, log_to_driver=False, logging_level="ERROR")
        rate, call_us = asyncio.run(_copied(ray))
        ray.shutdown()
    yield Row("bytes home through Ray, from one node", [rate / 1e6], (50, 200), "MB/s", least=True)
    yield Row("a call through Ray: the coordinator's CPU", [call_us], (1000, 500), "µs")


async def _copied(ray: Any) -> tuple[float, float]:
    class Source:
        async def read(self, size: int) -> bytes:
            return os.urandom(size)

        async def status(self) -> int:
            return time.monotonic_ns()

    actor = ray.remote(num_cpus=0)(Source).remote()
    await actor.read.remote(PIECE_BYTES)
    started_s, pieces = time.monotonic(), COPIED_BYTES // PIECE_BYTES
    coming = actor.read.remote(PIECE_BYTES)
    for _ in range(pieces):
        _, coming = await coming, actor.read.remote(PIECE_BYTES)
    rate = COPIED_BYTES / (time.monotonic() - started_s)
    cpu_s, calls = time.process_time(), 3000
    for _ in range(calls):
        await actor.status.remote()
    return rate, (time.process_time() - cpu_s) / calls * 1e6


def schedule() -> Iterator[Row]:
    """What a worker takes for an arrival of the whole schedule, most of which others issue."""
    load = prepare(perf_settings(model="m", url=["http://127.0.0.1:1"], rate="100", requests=1)).plan.load
    arrivals = load.arrivals if isinstance(load, Open) else None
    offsets = arrivals.offsets(1) if isinstance(arrivals, ProcessArrivals) else iter(())
    cpu_s = time.process_time()
    for _ in islice(offsets, 0, DRAWN, 8):
        pass
    yield Row("an arrival drawn in each worker", [(time.process_time() - cpu_s) / DRAWN * 1e6], (2, 1), "µs")


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def main() -> None:
    """Print the table."""
    parts = {"coordinator": coordinator, "schedule": schedule, "copy": copy}
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--requests", type=int, default=30_000)
    options.add_argument("--only", choices=[*parts, "ray"])
    chosen = options.parse_args()
    if find_spec("ray") is None:
        print("not measured: the extra ray is not installed")
        return
    rows = [row for name, part in parts.items() if chosen.only in {None, name} for row in part()]
    if chosen.only in {None, "ray"}:
        rows += through_ray(chosen.rounds, chosen.requests)
    print(table(rows))


if __name__ == "__main__":
    main()
