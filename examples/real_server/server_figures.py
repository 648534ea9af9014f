"""Print what the server's own log says of the requests that it answered.

    python server_figures.py LOG [--last N]

FastAPI measures them itself: a request's duration is the time from its arrival in the application until the
last byte of the response has been handed on.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from pathlib import Path
from statistics import fmean, quantiles
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


@dataclass(frozen=True, slots=True, order=True)
class Served:
    """One request that the server answered; times in seconds since the epoch."""

    start_s: float
    end_s: float
    name: str
    status: int


def served(log: str) -> Iterator[Served]:
    """Find the requests among everything else that the log holds."""
    decoder = json.JSONDecoder()
    place = log.find("\n{\n")
    while place >= 0:
        span, place = decoder.raw_decode(log, place + 1)
        if span["kind"] == "SpanKind.SERVER":
            start, end = (datetime.fromisoformat(span[key]).timestamp() for key in ("start_time", "end_time"))
            # A client that goes away early may leave none.
            yield Served(start, end, span["name"], span["attributes"].get("http.response.status_code", 0))
        place = log.find("\n{\n", place - 1)


def most_at_once(requests: Sequence[Served]) -> int:
    """Count the requests that were in the server at the same time, at its busiest moment."""
    steps = sorted(
        [(request.start_s, 1) for request in requests] + [(request.end_s, -1) for request in requests]
    )
    return max(accumulate(step for _, step in steps))


def figures(requests: Sequence[Served]) -> str:
    """Say how many requests there were, and how long they took."""
    durations = sorted((request.end_s - request.start_s) * 1e3 for request in requests)
    if len(durations) <= 1:
        return f"{len(durations)} request(s)"
    wall_s = max(request.end_s for request in requests) - min(request.start_s for request in requests)
    cuts = quantiles(durations, n=100, method="inclusive")
    named = {
        "mean": fmean(durations), "min": durations[0],
        "p50": cuts[49], "p90": cuts[89], "p99": cuts[98], "max": durations[-1],
    }  # fmt: skip
    listed = ", ".join(f"{name} {value:.1f}" for name, value in named.items())
    at_once = most_at_once(requests)
    return f"{len(durations)} requests in {wall_s:.3f} s, at most {at_once} at once; duration in ms: {listed}"


def main() -> None:
    """Print the figures by route and status, and those of the last requests for themselves."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path)
    parser.add_argument(
        "--last", type=int, default=0, help="also: the last N generations, to leave a warm-up out"
    )
    options = parser.parse_args()
    requests = sorted(served(options.log.read_text()))
    for name, status in sorted({(request.name, request.status) for request in requests}):
        alike = [request for request in requests if (request.name, request.status) == (name, status)]
        print(f"{name} {status}: {figures(alike)}")
    if options.last:
        generations = [request for request in requests if request.name.endswith("completions")]
        print(f"the last {options.last}: {figures(generations[-options.last :])}")


if __name__ == "__main__":
    main()
