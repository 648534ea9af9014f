"""Requests that a timeout of this client ended while they waited in a queue that the load itself made.

Offline, all requests leave at once and wait in the server's queue: the whole run gets as much time as
`--timeout` gives each request. Answers that it cuts off are missing from every figure, and it is the client's
setting that says how many there are.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from reporter.report import Finding
from workloads.units import duration_text

if TYPE_CHECKING:
    from reporter.findings.check_inputs import CheckInputs

OPTIONS: Final = {"total_timeout": "--timeout", "first_byte_timeout": "--first-byte-timeout"}
"""The failures whose limit counts from the start of an offline run, and the options that set it."""

_MARGIN: Final = 2.0
"""How much longer the timeout that a remedy names is than the run would have taken at its pace."""

_ROUND_S: Final = (60, 120, 300, 600, 1200, 1800, 3600, 7200, 14_400, 28_800, 86_400)


def waits_together(kind: object, max_concurrency: int | None, requests: int | None) -> bool:
    """Whether all requests of a load wait in the server from its start on."""
    unbounded = max_concurrency is None or (requests is not None and max_concurrency >= requests)
    return kind == "offline" and unbounded


def backlog_cut(evidence: CheckInputs) -> Finding | None:
    """The finding that limits of time ended requests of an offline run."""
    load, issued = evidence.load, evidence.counts.issued
    if not waits_together(load.get("kind"), load.get("max_concurrency"), issued):
        return None
    cut = {name: n for name in OPTIONS if (n := evidence.counts.by_error.get(name, 0))}
    if not cut:
        return None
    limits = [
        f"{OPTIONS[name]}{f' {duration_text(limit_s)}' if (limit_s := evidence.timeouts_s.get(name)) else ''}"
        for name in cut
    ]
    requests = sum(cut.values())
    return Finding(
        "backlog_cut",
        "error",
        f"The client's {' and '.join(limits)} ended {requests:,} of {issued:,} requests. With --offline "
        "every request waits from the start of the run, so the figures lack the slowest answers.",
        f"Repeat the run with a longer limit: {_longer(evidence, cut)}.",
    )


def _longer(evidence: CheckInputs, cut: dict[str, int]) -> str:
    """The options with limits that would have been enough at the pace at which requests completed."""
    counts, options = evidence.counts, []
    for name in cut:
        limit_s = evidence.timeouts_s.get(name)
        value = "TIME"
        if limit_s and counts.completed:
            value = duration_text(round_up(_MARGIN * limit_s * counts.issued / counts.completed))
        options.append(f"{OPTIONS[name]} {value}")
    return " ".join(options)


def round_up(seconds: float) -> float:
    """The next duration that is easy to read: whole minutes up to a day, then whole days."""
    day_s = _ROUND_S[-1]
    return next((each for each in _ROUND_S if each >= seconds), math.ceil(seconds / day_s) * day_s)
