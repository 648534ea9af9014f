"""What several machines cost: the same work through Ray on one node, and a coordinator of up to 1,000 nodes.

    python benchmarks/nodes.py [--rounds N] [--requests N] [--only ray|coordinator|copy|schedule]

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
from importlib.util import find_spec
from itertools import islice
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from scorecard import Row, table
from timed_run import MODEL, PROGRAM, Pace

from loadgen.driver.load import Open, ProcessArrivals
from loadgen.driver.nodes.group import NodeGroup
from loadgen.driver.nodes.link import NodeStatus
from loadgen.driver.phase import Phase
from loadgen.driver.progress import SessionProgress
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.cluster.homecoming import PIECE_BYTES
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    from collections.abc import Iterator


NODES: Final = (10, 100, 1000)
ROUND_TRIP_S: Final = 0.002
WATCHED_S: Final = 10.0
COPIED_BYTES: Final = 512 * 1024 * 1024
DRAWN: Final = 300_000
WORK: Final = Pace(ttft_ms=0, gap_ms=0, tokens=16)
STREAMS: Final = 64

_INVALID: Final = 4


def through_ray(rounds: int, requests: int) -> Iterator[Row]:
    """The same work by plain worker processes and through Ray, in turns."""
    ratios, rates = [], []
    with _cluster() as address:
        for number in range(rounds):
            pair = {name: _rate(requests, options) for name, options in _in_turns(address, number)}
            tell(f"round {number + 1}: plain {pair['plain']:,.0f}, Ray {pair['ray']:,.0f} requests/s")
            ratios.append(pair["ray"] / pair["plain"])
            rates.append(pair["ray"])
    note = f"{min(rates, default=0):,.0f} to {max(rates, default=0):,.0f} requests/s through Ray"
    yield Row("Ray on one node: requests/s relative to plain", ratios, (0.95, 0.99), least=True, note=note)


def _in_turns(address: str, number: int) -> list[tuple[str, list[str]]]:
    both = [("plain", []), ("ray", ["--ray", address, "--nodes", "1"])]
    return both if number % 2 else both[::-1]


def _rate(requests: int, options: list[str]) -> float:
    with TemporaryDirectory() as folder, start_mock(**WORK.options()) as mock:
        command = [*PROGRAM, "perf", "--url", mock.url, "--model", MODEL, "--workers", "1", "--json", "-q"]
        run = subprocess.run(
            [*command, "-c", str(STREAMS), "-n", str(requests), "--out", f"{folder}/run", *options],
            stdout=subprocess.PIPE,
            check=False,
        )
        if run.returncode not in {0, _INVALID}:
            sys.exit(run.returncode)
        return float(json.loads(run.stdout)["throughput"]["qps"])


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
