"""Whether the client limited the run: client overhead and limits must not count as the server's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings.check_inputs import Check, CheckInputs, listed
from reporter.findings.overhead_effect import FEWEST, affected, in_words, may_be_too_late, too_late
from reporter.findings.overload import OPEN_LOOP
from reporter.findings.remedies import (
    COMFORTABLE,
    FULL_SHARE,
    KEEP_OFF,
    is_contended,
    machine_share,
    relief,
    worker_share,
)
from reporter.report import Finding
from reporter.values.overhead_limit import OWN_TTFT_LIMIT
from rulesets.evaluators.client_delay import IN_DOUBT

if TYPE_CHECKING:
    from reporter.findings.client_overhead import ClientOverhead
    from reporter.report import RequestCounts

LATE_PART: Final = 0.5
"""The part of `OWN_TTFT_LIMIT`'s share from which on client overhead is reported."""

LAG_MS: Final = (1.0, 5.0)
LAG_SHARE: Final = (0.1, 0.25)
"""The median lag of a worker's event loop above which there is a warning, and an error: this many ms and this
share of the median latency. In a closed loop it adds to every request, and so lowers the rate."""

STALL_MS: Final = 500.0
"""A single delay of a worker's event loop that is reported."""

OWN_FAILURES: Final = {
    "client_limit": "Raise `ulimit -n` or put on less load at once for client_limit.",
    "client_bug": "Please report client_bug, with the log.",
    "worker_lost": "See what ended the worker for worker_lost: memory that ran out (`dmesg`), or a kill.",
}
"""Failures that are the client's own, and what to do about each."""

OWN_FAILURE_SHARE: Final = 0.01
"""The share of them above which a run says little of the server."""

_REMEDY_BOUNDED: Final = (
    "Give a higher --max-concurrency, or a lower rate: what never left has no latency at all."
)

RATE_SHARE: Final = 0.95
"""The share of the rate asked for that must be reached, and of requests that must be due while it is."""


def _late(evidence: CheckInputs) -> Finding | None:
    own, kind = evidence.own, evidence.load.get("kind")
    # Offline, all requests are due at once, and no client can be in time.
    if own is None or kind == "offline":
        return None
    invalid = too_late(own.least, evidence.deciding, kind)
    doubtful = may_be_too_late(own, evidence.deciding, kind)
    if not (invalid or doubtful or own.p99.exceeds(OWN_TTFT_LIMIT, LATE_PART)):
        return None
    facts = (
        f"at the p99, {own.p99.ms:.1f} of the {own.p99.of_ms:.1f} ms from schedule to answer are client "
        f"overhead ({own.p99.share:.0%}{_between(own)}; {OWN_TTFT_LIMIT.share:.0%} is the limit)"
    )
    if own.count < FEWEST:
        facts += (
            f". With fewer than {FEWEST} requests ({own.count}) the median decides as well: there the client "
            f"overhead is {own.p50.share:.0%}"
        )
    effect = in_words(own, kind)
    facts = ". ".join(filter(None, (facts, effect and f"{effect[0].upper()}{effect[1:]}", _asked(evidence))))
    if invalid:
        return Finding("client_limited", "error", f"The client limited the run: {facts}.", relief(evidence))
    if doubtful:
        return Finding(
            IN_DOUBT,
            "warning",
            f"The client may have limited the run, as chunks were read late: {facts}.",
            f"Rules that depend on it are inconclusive. {relief(evidence)}",
        )
    return Finding("client_late", "warning", f"The client was late: {facts}.", relief(evidence))


def _between(own: ClientOverhead) -> str:
    """The interval of the share, where stamps are uncertain."""
    low, high = own.least.p99.share, own.greatest.p99.share
    return "" if own.ends is None else f", and could be {low:.0%} to {high:.0%}"


def _asked(evidence: CheckInputs) -> str:
    """Which of the figures that the rules ask for are affected; empty where the TTFT decides."""
    own, asked, kind = evidence.own, evidence.deciding, evidence.load.get("kind")
    if own is None or asked is None:
        return ""
    sure = list(map(str, affected(own.least, asked, kind)))
    perhaps = [name for name in map(str, affected(own.greatest, asked, kind)) if name not in sure]
    clauses = [
        f"The rules ask for {' and '.join(names)}, which this {verb}"
        for names, verb in ((sure, "affects"), (perhaps, "may affect"))
        if names
    ]
    return ". ".join(clauses) or (
        "No rule depends on it: what the rules ask for is not affected by more than the limit, or is farther "
        "from its bound than the delay reaches"
    )


def _own_failures(evidence: CheckInputs) -> Finding | None:
    counts = evidence.counts
    ended = counts.completed + counts.failed + counts.cancelled
    own = {name: n for name, n in counts.by_error.items() if name in OWN_FAILURES}
    if sum(own.values()) <= OWN_FAILURE_SHARE * ended:
        return None
    return Finding(
        "client_limited",
        "error",
        f"The client limited the run: of {ended} requests it failed {listed(own)} itself.",
        " ".join(OWN_FAILURES[name] for name in own),
    )


def _loop_lag(evidence: CheckInputs) -> Finding | None:
    lag_ms, most_ms = evidence.client.loop_lag_p50_ms or 0.0, evidence.client.loop_lag_max_ms or 0.0
    if evidence.latency_ms is None:
        # Nothing completed: there is no figure that the delay could be in.
        return None
    median_ms = evidence.latency_ms.p50
    warning, error = (max(ms, share * median_ms) for ms, share in zip(LAG_MS, LAG_SHARE, strict=True))
    loops = "event loops were" if evidence.client.workers > 1 else "event loop was"
    facts = (
        f"its {loops} {lag_ms:.1f} ms late at the median and {most_ms:.0f} ms at most, "
        f"with a median latency of {median_ms:.1f} ms."
    )
    if lag_ms > error:
        return Finding("client_limited", "error", f"The client limited the run: {facts}", relief(evidence))
    if lag_ms > warning or most_ms > max(STALL_MS, median_ms):
        return Finding("client_stalled", "warning", f"The client was held up: {facts}", relief(evidence))
    return None


def _busy(evidence: CheckInputs) -> Finding | None:
    share, whole = worker_share(evidence), machine_share(evidence)
    facts = f"{_whose(evidence, 'cpu_share_mean')} used {share:.0%} of a core while it issued requests."
    if share <= FULL_SHARE < whole:
        facts = (
            f"all its processes together used {whole:.0%} of the {evidence.usable_cpus} CPUs that it may use."
        )
    if max(share, whole) > FULL_SHARE:
        return Finding("client_limited", "error", f"The client limited the run: {facts}", relief(evidence))
    if share > COMFORTABLE:
        return Finding("client_busy", "warning", f"The client was near its limit: {facts}", relief(evidence))
    return None


def _contended(evidence: CheckInputs) -> Finding | None:
    if not is_contended(evidence):
        return None
    return Finding(
        "cpu_contended",
        "warning",
        f"Something else on this machine takes the client's CPU: {_whose(evidence, 'cpu_wait_share_mean')} "
        f"was ready to run, but had no CPU, for {evidence.client.cpu_wait_share_mean:.0%} of the time.",
        KEEP_OFF,
    )


def _writer_behind(evidence: CheckInputs) -> Finding | None:
    held_ms = evidence.client.held_up_ms or 0.0
    if not held_ms:
        return None
    return Finding(
        "writer_behind",
        "warning",
        f"The log was written slower than it came: issuing was held up for {held_ms:.0f} ms in all, while up "
        f"to {evidence.client.backlog_events_max or 0} events of a worker waited to be written.",
        f"Keep the run folder on a local disk, and leave the process that writes a CPU: {_room(evidence)}.",
    )


def _room(evidence: CheckInputs) -> str:
    """How to leave the process that writes a CPU of its own."""
    workers = evidence.client.workers or 1
    if evidence.usable_cpus and 1 < workers >= evidence.usable_cpus:
        return f"start it with --workers {max(1, evidence.usable_cpus - 1)}"
    return "lower the rate, or use fewer streams"


def _rate_not_reached(evidence: CheckInputs) -> Finding | None:
    """Find a rate that was not held, on the whole or, where it changes, at its height."""
    counts = evidence.counts
    if evidence.load.get("kind") not in OPEN_LOOP or not counts.issued:
        return None
    asked, bounded = evidence.load.get("rate"), evidence.load.get("max_concurrency") is not None
    share = _share_issued(counts) if evidence.ended == "completed" else 1.0
    # Where concurrency is bounded, waiting requests are intended.
    if not bounded and evidence.scheduled_span_ns and evidence.issued_span_ns:
        share = min(share, evidence.scheduled_span_ns / evidence.issued_span_ns)
    if share < RATE_SHARE:
        facts = (
            f"Requests were issued at {share:.1%} of the rate that was asked for"
            f"{f', {asked:g} req/s' if asked else ''}: {counts.issued} of {counts.scheduled}, the last "
            "ones late."
        )
    elif not bounded and evidence.requests_behind > (1 - RATE_SHARE) * counts.issued:
        facts = (
            f"The rate that was asked for was not held in {evidence.seconds_behind} of {evidence.seconds} "
            f"seconds: {evidence.requests_behind} of {counts.issued} requests were due in them, and too many "
            "of those left too late."
        )
    else:
        return None
    remedy = _REMEDY_BOUNDED if bounded and evidence.held_ms else relief(evidence)
    return Finding("rate_not_reached", "error", facts, remedy)


def _held_back(evidence: CheckInputs) -> Finding | None:
    """Find that requests waited for a place, which the figures from the issue do not have."""
    held, limit = evidence.held_ms, evidence.load.get("max_concurrency")
    if held is None:
        return None
    return Finding(
        "held_back",
        "warning",
        f"{held.count} of {evidence.counts.issued} requests waited for a place, because no more than {limit} "
        f"were to be in flight: the median of them for {held.p50:.0f} ms, the longest for {held.max:.0f} ms.",
        "Read the latencies from the schedule, which have the wait; those from the issue leave it out. Give "
        "a higher --max-concurrency, or none, to ask as callers do who do not wait for each other.",
    )


def _share_issued(counts: RequestCounts) -> float:
    """How much of the schedule was issued; the one request that its end came before is forgiven."""
    return min(1.0, (counts.issued + 1) / counts.scheduled)


def _whose(evidence: CheckInputs, figure: str) -> str:
    """The process with the worst value of a figure."""
    workers = evidence.client.per_worker
    if len(workers) < 2:  # noqa: PLR2004 (one worker needs no name)
        return "its process"
    worst = max(workers, key=lambda worker: getattr(worker, figure) or 0.0)
    return f"its worker {worst.worker}{f' on {worst.node}' if worst.node else ''}"


CHECKS: Final[tuple[Check, ...]] = (
    _late,
    _own_failures,
    _loop_lag,
    _busy,
    _contended,
    _writer_behind,
    _rate_not_reached,
    _held_back,
)

ACCEPTABLE: Final[frozenset[Check]] = frozenset({_late, _loop_lag, _busy, _rate_not_reached})
"""The checks whose errors a user can accept, with the reasons in `reporter.findings.acceptance`."""
