"""Who sees a stall of two seconds: the figure and the table of docs/coordinated-omission.md, from real runs.

A closed loop and an open one of about the same throughput meet a server that stands still, and so does the
open one when no more than a few of its requests may be in flight; and it stands still itself while its server
goes on.

    python benchmarks/coordinated_omission.py [--figure docs/coordinated-omission.svg]

Needs Linux, and the extra `plot`.
"""

from __future__ import annotations

import argparse
import os
import signal
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Final

from under_load import require_all, start, workers_of

from loadgen.mock_endpoint.process import start_mock
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.mock_endpoint.process import MockProcess

USERS: Final = 6
RATE: Final = 100
SECONDS: Final = 8
STALL_S: Final = 2.0
PACE: Final = {"ttft": "20ms", "itl": "5ms", "tokens": "8"}
"""An answer takes 55 ms: six users ask about a hundred times a second."""

STALLED: Final = {**PACE, "stall": f"{STALL_S}s,{STALL_S}s"}
OPEN: Final = ("--rate", RATE, "--arrival", "constant", "--duration", SECONDS, "--workers", 1)
PLACES: Final = 12
BOUNDED: Final = (*OPEN, "--max-concurrency", PLACES)
CLOSED: Final = ("--concurrency", USERS, "--duration", SECONDS, "--workers", 1)
SLOW_MS: Final = 100.0
QUANTILES: Final = (0.5, 0.9, 0.99, 1.0)
POINTS: Final = 250
"""How many points of a curve are drawn: more would not be seen."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The latencies of a run, in ms, in order.

    Attributes:
        issued: From the issue.
        scheduled: From the schedule.
    """

    issued: Sequence[float]
    scheduled: Sequence[float]


def seen(pace: dict[str, Any], load: Sequence[object], meanwhile: Callable[..., None]) -> Seen:
    """Run a load against a mock endpoint.

    Args:
        pace: The mock endpoint's options.
        load: The load's options.
        meanwhile: What else is done, with the mock endpoint and the load's one worker.
    """
    with TemporaryDirectory(prefix="loadgen-bench-") as scratch, start_mock(**pace) as mock:
        folder = Path(scratch) / "run"
        process = start(mock.url, folder, "--no-probe", *load)
        mock.truth(1)
        workers = workers_of(process.pid)
        require_all(workers, 1, process, folder)
        meanwhile(mock, workers[0])
        process.wait()
        columns = ("latency_ms", "latency_from_schedule_ms")
        columns_of_values = [query(folder, f"SELECT {column} FROM samples").rows for column in columns]  # noqa: S608 (its own)
    return Seen(*(sorted(ms for (ms,) in rows) for rows in columns_of_values))


def nothing(_mock: MockProcess, _worker: int) -> None:
    """Leave both alone."""


def stand_still(mock: MockProcess, worker: int) -> None:
    """Stop the client for as long as the server would stand still, at about the same time."""
    mock.truth(round(STALL_S * RATE))
    os.kill(worker, signal.SIGSTOP)
    time.sleep(STALL_S)
    os.kill(worker, signal.SIGCONT)


def quantile(ordered: Sequence[float], share: float) -> float:
    """The nearest rank."""
    return ordered[max(0, min(len(ordered) - 1, round(share * len(ordered)) - 1))]


def row(name: str, since: str, ordered: Sequence[float]) -> str:
    """One line of the table, in Markdown."""
    slow = sum(ms > SLOW_MS for ms in ordered)
    figures = " | ".join(f"{quantile(ordered, share):,.0f}" for share in QUANTILES)
    return f"| {name} | {since} | {len(ordered)} | {slow} ({100 * slow / len(ordered):.1f} %) | {figures} |"


def draw(panels: Sequence[tuple[str, Sequence[tuple[str, str, Sequence[float]]]]], to: Path) -> None:
    """Draw latency over percentiles, the higher ones ever wider, a panel for each stall.

    Args:
        panels: Of each its title, and of each of its curves a label, a style and the latencies.
        to: The SVG file.
    """
    import matplotlib as mpl

    mpl.use("svg")
    # Text stays text, and the same figures make the same file.
    mpl.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "loadgen", "font.size": 9})
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(panels), figsize=(9, 3.6), sharey=True, layout="constrained")
    for axis, (title, curves) in zip(axes, panels, strict=True):
        for label, style, ordered in curves:
            number = len(ordered)
            ranks = [number - number ** (k / POINTS) for k in range(POINTS, -1, -1)]
            beyond = [number / (number - rank) for rank in ranks]
            axis.plot(beyond, [ordered[int(rank)] for rank in ranks], style, label=label, linewidth=1.8)
        axis.set_xscale("log")
        ticks = [1, 2, 10, 100, 1000]
        axis.set_xticks(ticks, ["0", "50", "90", "99", "99.9"])
        axis.minorticks_off()
        axis.set(title=title, xlabel="percentile of all requests", xlim=(1, 1000), ylim=(0, 3600))
        axis.grid(alpha=0.3)
        axis.legend(loc="upper left", frameon=False)
    axes[0].set_ylabel("latency (ms)")
    figure.savefig(to, metadata={"Date": None, "Creator": None})


def main() -> None:
    """Run, draw, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = Path(__file__).parents[1] / "docs" / "coordinated-omission.svg"
    parser.add_argument("--figure", type=Path, default=default, help="where it is drawn")
    figure = parser.parse_args().figure
    closed = seen(STALLED, CLOSED, nothing)
    opened = seen(STALLED, OPEN, nothing)
    bounded = seen(STALLED, BOUNDED, nothing)
    stopped = seen(PACE, OPEN, stand_still)
    server = [
        (f"closed loop, {USERS} users", "C1-", closed.issued),
        (f"open loop, {RATE} req/s, from the issue", "C0-", opened.issued),
        ("the same, from the schedule", "k:", opened.scheduled),
        (f"with {PLACES} places, from the issue", "C2-", bounded.issued),
        ("the same, from the schedule", "C2:", bounded.scheduled),
    ]
    client = [
        ("open loop, from the issue", "C0-", stopped.issued),
        ("the same, from the schedule", "k:", stopped.scheduled),
    ]
    panels = [("the server stands still for 2 s", server), ("the client stands still for 2 s", client)]
    draw(panels, figure)
    print("| run | latency from | requests | above 100 ms | p50 | p90 | p99 | max |\n|" + "---|" * 8)
    runs = (
        (f"closed loop of {USERS}, server stalls", closed),
        (f"open loop, {RATE}/s, server stalls", opened),
        (f"open loop, {RATE}/s, {PLACES} places, server stalls", bounded),
        (f"open loop, {RATE}/s, client stopped", stopped),
    )
    for name, of in runs:
        print(row(name, "issue", of.issued))
        print(row(name, "schedule", of.scheduled))


main()
