"""Whether a run began on a server that was not ready: first requests that waited far longer than all others.

A server that loads weights, compiles kernels or captures graphs on its first requests answers none of them
until that is done. So the first token of the whole run comes late, which is what tells such a start from an
ordinary queue: however long a queue is, its first request is answered as fast as any other.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from reporter.distribution import summaries
from reporter.log.database import figures

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reporter.log.database import OpenLog
    from reporter.report import Summary
    from rulesets.definitions import PercentileMethod

FEWEST: Final = 20
"""Requests: of fewer it cannot be said what is usual."""

FACTOR: Final = 3.0
"""How many times the usual p95 the TTFT of the first requests is at least."""

LEAST_MS: Final = 50.0
"""By how much it is above the usual p95 at least."""

MOST_TOGETHER: Final = 16
"""A server may prefill prompts that come together in one batch, and answer none of them before the batch is
done. Up to this many, each of them may take the time of one."""

_LOOKED_AT: Final = 5000
"""Of the first requests."""


@dataclass(frozen=True, slots=True)
class ColdStart:
    """The first requests, which the server was not ready for.

    Attributes:
        ttft_ms: Their median TTFT.
        usual_ms: The median TTFT of the second half of the run's requests.
        whole: The TTFT of all requests.
        rest: That of all but the first ones.
    """

    requests: int
    ttft_ms: float
    usual_ms: float
    whole: Summary
    rest: Summary


@dataclass(frozen=True, slots=True)
class First:
    """One of the first requests, in the order of their issue.

    Attributes:
        issued_ms: When it was issued, from the first one's issue on.
    """

    issued_ms: float
    ttft_ms: float


@dataclass(frozen=True, slots=True)
class Usual:
    """The TTFT of the requests that were issued in the second half: how many, and percentiles in ms."""

    requests: int
    p50: float
    p95: float
    p99: float


def cold_requests(first: Sequence[First], usual: Usual) -> int:
    """How many of the first requests met a server that was not ready; 0 for an ordinary start.

    All of these hold: no token came before `wait` had passed; `wait` is longer than a ready server
    would have taken for the requests that were issued together at the start, one after the other; and each
    of their TTFTs is above `FACTOR` times the usual p95, the usual p99, and the usual p95 plus `LEAST_MS`.
    """
    if usual.requests < FEWEST / 2 or not first:
        return 0
    wait = min(each.issued_ms + each.ttft_ms for each in first)
    together = sum(each.issued_ms <= usual.p50 for each in first)
    bound = max(FACTOR * usual.p95, usual.p99, usual.p95 + LEAST_MS)
    if wait <= max(bound, min(together, MOST_TOGETHER) * usual.p95):
        return 0
    return sum(1 for _ in takewhile(lambda each: each.ttft_ms > bound, first))


def first_turns(log: OpenLog, load: object, warmup: int) -> list[tuple[Any, ...]]:
    """The first turns that were answered first: issue, name and TTFT; empty for a run with a warm-up."""
    if warmup or load == "offline":
        return []
    return log.execute(f"{_FIRST_TURNS} ORDER BY issued_ns, sample_uuid LIMIT {_LOOKED_AT:d}").fetchall()


def cold_start(
    log: OpenLog, rows: Sequence[tuple[Any, ...]], method: PercentileMethod, least_ms: float
) -> ColdStart | None:
    """Look at the beginning of a run, which has these `first_turns`; None where there is nothing to say.

    `least_ms` is the least TTFT: where the first one is not far above it, no usual p95 has to be computed.
    """
    if not rows or rows[0][-1] <= max(FACTOR * least_ms, least_ms + LEAST_MS):
        return None
    turns, *percentiles = figures(log, "beginning").values()
    usual = Usual(*percentiles)
    first = [First((issued_ns - rows[0][0]) / 1e6, ttft_ms) for issued_ns, _, ttft_ms in rows[: turns // 2]]
    if not (cold := cold_requests(first, usual)):
        return None
    later = f"{_MEASURED} AND (issued_ns > {rows[cold - 1][0]:d} OR coalesce(turn, 0) > 0)"
    whole, rest = (summaries(log, query, ("ttft_ms",), method)["ttft_ms"] for query in (_MEASURED, later))
    if whole is None or rest is None:
        return None
    early = sorted(each.ttft_ms for each in first[:cold])
    return ColdStart(cold, early[cold // 2], usual.p50, whole, rest)


_MEASURED: Final = "FROM samples WHERE measured AND status = 'completed' AND ttft_ms IS NOT NULL"
_FIRST_TURNS: Final = f"SELECT issued_ns, sample_uuid, ttft_ms {_MEASURED} AND coalesce(turn, 0) = 0"
"""A later turn of a conversation finds its prefix in the server's cache: it does not say what is usual."""
