"""Whether the client limited the run: its own delay must not pass for the server's, nor its limits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.evidence import Check, Evidence, listed
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.report import Counts

OPEN_LOOP: Final = frozenset({"constant", "poisson"})
"""Loads that have a schedule of their own, which the client can be late for."""

LATE_MS: Final = (1.0, 5.0)
LATE_SHARE: Final = (0.1, 0.5)
"""Above which the p99 of the issue lag is a warning, and above which an error: so many ms, or that share of
the median TTFT, whichever is more."""

LOOP_SHARE: Final = (0.1, 0.25)
"""Likewise for the median lag of the client's event loop, beside the median latency: in a closed loop the lag
comes on top of every request."""

STALL_MS: Final = 500.0
"""A single delay of the client's event loop that is worth a word."""

OWN_FAILURES: Final = frozenset({"client_limit", "client_bug"})
OWN_FAILURE_SHARE: Final = 0.01
"""Failures that are the client's own, and the share of them above which a run says little of the server."""

BUSY_SHARE: Final = (0.7, 0.9)
"""The share of a core that the client used, above which a warning, and above which an error: what answers a
server could have had from a quicker client cannot be told then."""

RATE_SHARE: Final = 0.95
"""The share of the rate asked for that must be reached."""


def _late(evidence: Evidence) -> Finding | None:
    lag, beside = evidence.issue_lag_ms, evidence.ttft_ms or evidence.latency_ms
    if evidence.load.get("kind") not in OPEN_LOOP or lag is None or beside is None:
        return None
    warning, error = (max(ms, share * beside.p50) for ms, share in zip(LATE_MS, LATE_SHARE, strict=True))
    if lag.p99 <= warning:
        return None
    what = "TTFT" if evidence.ttft_ms else "latency"
    facts = f"the p99 of its issue lag is {lag.p99:.1f} ms, beside a median {what} of {beside.p50:.1f} ms."
    remedy = "Lower the rate, give the client more CPU, or spread the load over several clients."
    if lag.p99 > error:
        return Finding("client_limited", "error", f"The client limited the run: {facts}", remedy)
    return Finding("issue_lag", "warning", f"The client was late: {facts}", remedy)


def _own_failures(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    ended = counts.completed + counts.failed + counts.cancelled
    own = {name: n for name, n in counts.by_error.items() if name in OWN_FAILURES}
    if sum(own.values()) <= OWN_FAILURE_SHARE * ended:
        return None
    return Finding(
        "client_limited",
        "error",
        f"The client limited the run: of {ended} requests it failed {listed(own)} itself.",
        "Raise `ulimit -n` or put on less load at once for client_limit; please report client_bug.",
    )


def _loop_lag(evidence: Evidence) -> Finding | None:
    lag_ms, most_ms = (evidence.client.get(f"loop_lag_{which}_ms") or 0.0 for which in ("p50", "max"))
    beside = evidence.latency_ms.p50 if evidence.latency_ms else 0.0
    warning, error = (max(ms, share * beside) for ms, share in zip(LATE_MS, LOOP_SHARE, strict=True))
    facts = (
        f"its event loop was {lag_ms:.1f} ms late at the median and {most_ms:.0f} ms at most, "
        f"beside a median latency of {beside:.1f} ms."
    )
    remedy = "Keep other work off the client's machine, give it more CPU, or put on less load."
    if lag_ms > error:
        return Finding("client_limited", "error", f"The client limited the run: {facts}", remedy)
    if lag_ms > warning or most_ms > max(STALL_MS, beside):
        return Finding("client_stalled", "warning", f"The client was held up: {facts}", remedy)
    return None


def _busy(evidence: Evidence) -> Finding | None:
    share = evidence.client.get("cpu_share_mean") or 0.0
    warning, error = BUSY_SHARE
    if share <= warning:
        return None
    facts = f"its process used {share:.0%} of a core while it issued requests."
    remedy = "Put on less load, or spread it over several clients; keep other work off the client's core."
    if share > error:
        return Finding("client_limited", "error", f"The client limited the run: {facts}", remedy)
    return Finding("client_busy", "warning", f"The client was close to its limit: {facts}", remedy)


def _rate_not_reached(evidence: Evidence) -> Finding | None:
    asked, counts = evidence.load.get("rate"), evidence.counts
    if evidence.load.get("kind") not in OPEN_LOOP or not asked or not counts.issued:
        return None
    share = _share_issued(counts) if evidence.ended == "completed" else 1.0
    if evidence.scheduled_span_ns and evidence.issued_span_ns:
        share *= evidence.scheduled_span_ns / evidence.issued_span_ns
    if share >= RATE_SHARE:
        return None
    return Finding(
        "rate_not_reached",
        "error",
        f"Requests were issued at {share:.1%} of the rate that was asked for, {asked:g} a second: "
        f"{counts.issued} of {counts.scheduled}, the last ones late.",
        "Lower the rate, give the client more CPU, or spread the load over several clients.",
    )


def _share_issued(counts: Counts) -> float:
    """How much of the schedule was issued; the one request that its end came before is forgiven."""
    return min(1.0, (counts.issued + 1) / counts.scheduled)


CHECKS: Final[tuple[Check, ...]] = (_late, _own_failures, _loop_lag, _busy, _rate_not_reached)
