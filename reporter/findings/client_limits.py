"""Whether the client limited the run: client overhead and limits must not count as the server's."""

from __future__ import annotations

from math import floor, log10
from typing import TYPE_CHECKING, Final

from reporter.client_health import OWN_TTFT_LIMIT
from reporter.findings.check_inputs import Check, CheckInputs, listed
from reporter.findings.overhead_effect import FEWEST, affected, in_words, may_be_too_late, too_late
from reporter.findings.remedies import (
    COMFORTABLE,
    FULL_SHARE,
    is_contended,
    lacks_cpu,
    machine_share,
    relief,
    worker_share,
)
from reporter.number_text import as_written, between, counted, fixed, percent
from reporter.report import Finding
from reporter.run_facts import is_open_loop
from rulesets.evaluators.client_delay import IN_DOUBT
from rulesets.request_metrics import REQUEST_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from reporter.findings.client_overhead import ClientOverhead, OwnPart
    from reporter.report import MetricBounds, RequestCounts, Summary

NOTEWORTHY: Final = 0.01
"""The uncertainty of a figure, as a share, above which it is reported."""

_LABELS: Final = {
    metric.column: metric.label if metric.label.isupper() else metric.label.lower()
    for metric in REQUEST_METRICS
    if metric.console is not None and metric.console.headline
}
_PERCENTILES: Final = ("p50", "p99")


def late_reads(evidence: CheckInputs) -> Finding | None:
    """Find figures that are only known as ranges; with CPU contention, the TTFT however small its range."""
    doubtful: list[str] = []
    for name, label in _LABELS.items():
        bounds, reported = evidence.bounds.get(name), evidence.reported.get(name)
        if bounds is not None and reported is not None:
            least = 0.0 if name == "ttft_ms" and is_contended(evidence) else NOTEWORTHY
            doubtful += _ranges(label, reported, bounds, least)
    if not doubtful:
        return None
    first = evidence.bounds.get("ttft_ms")
    late = first.late if first is not None and first.late else 0
    what = f"{late:,} of {evidence.counts.completed:,} first tokens" if late else "chunks"
    return Finding(
        "late_reads",
        "warning",
        f"The client read {what} late, so only ranges are known: {', '.join(doubtful)}. "
        "A rule whose bound lies in such a range is INCONCLUSIVE.",
        relief(evidence),
    )


def _ranges(label: str, reported: Summary, bounds: MetricBounds, least: float) -> Iterator[str]:
    """The figures of a metric whose range is wider than the share `least` of them, each with its range."""
    for name in _PERCENTILES:
        value, low, high = (getattr(summary, name) for summary in (reported, bounds.low, bounds.high))
        if high - low > least * value:
            # The last decimal shows the difference between the ends.
            decimals = max(1, -floor(log10(high - low)))
            yield f"{label} {name} {between(fixed(low, decimals), fixed(high, decimals))} ms"


LATE_PART: Final = 0.5
"""The part of `OWN_TTFT_LIMIT`'s share from which on client overhead is reported."""

LAG_MS: Final = (1.0, 5.0)
LAG_SHARE: Final = (0.1, 0.25)
"""The median lag of a worker's event loop above which there is a warning, and an error: this many ms and this
share of the median latency. In a closed loop it adds to every request, and so lowers the rate."""

STALL_MS: Final = 500.0
"""A single delay of a worker's event loop that is reported."""

SLOW_COMMIT_MS: Final = 100.0

_LIMIT: Final = percent(OWN_TTFT_LIMIT.share, 1)

OWN_FAILURES: Final = {
    "client_limit": "For client_limit, raise `ulimit -n` or lower the load.",
    "client_bug": "Please report client_bug, with the log.",
    "worker_lost": "For worker_lost, see what ended the worker: lack of memory (`dmesg`), or a kill.",
}
"""Failures that are the client's own, and what to do about each."""

OWN_FAILURE_SHARE: Final = 0.01
"""The share of them above which a run says little of the server."""

_REMEDY_BOUNDED: Final = (
    "Give a higher --max-concurrency, or a lower rate: requests that never left have no latency."
)

LIMITED: Final = "client_limited"
"""The code of the errors that the client's speed limited a run."""

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
    of = "latency" if evidence.asked_for_stream is False else "TTFT"
    facts = [
        f"Client overhead is {_share(own)} of {of} p99 ({_of(own.p99)}; limit {_LIMIT}).",
        *_of_few(own, of),
        *in_words(own, kind),
        *_asked(evidence),
    ]
    if doubtful:
        facts.append("Rules on affected figures are INCONCLUSIVE.")
    if invalid:
        return Finding(LIMITED, "error", " ".join(facts), relief(evidence))
    return Finding(IN_DOUBT if doubtful else "client_late", "warning", " ".join(facts), relief(evidence))


def _share(own: ClientOverhead) -> str:
    """The share of client overhead in the p99, with its interval where stamps are uncertain."""
    share = percent(own.p99.share, 1)
    if own.ends is None:
        return share
    low, high = (percent(end.p99.share, 1) for end in (own.least, own.greatest))
    return share if low == high else f"{share} (between {low} and {high})"


def _of(part: OwnPart) -> str:
    return f"{part.ms:.1f} of {part.of_ms:.1f} ms"


def _of_few(own: ClientOverhead, of: str) -> Iterator[str]:
    """The share in the median, which decides as well where requests are few."""
    if own.count < FEWEST:
        yield (
            f"With fewer than {FEWEST} requests ({own.count}) the median decides as well: client overhead is "
            f"{percent(own.p50.share, 1)} of {of} p50."
        )


def _asked(evidence: CheckInputs) -> Iterator[str]:
    """Which of the figures that the rules ask for are affected; nothing where the TTFT decides."""
    own, asked, kind = evidence.own, evidence.deciding, evidence.load.get("kind")
    if own is None or asked is None:
        return
    sure = list(map(str, affected(own.least, asked, kind)))
    perhaps = [name for name in map(str, affected(own.greatest, asked, kind)) if name not in sure]
    for names, verb in ((sure, "affects"), (perhaps, "may affect")):
        if names:
            yield f"Client overhead {verb} {' and '.join(names)}, which rules ask for."
    if not sure and not perhaps:
        yield "Client overhead cannot change the result of a rule."


def _own_failures(evidence: CheckInputs) -> Finding | None:
    counts = evidence.counts
    ended = counts.completed + counts.failed + counts.cancelled
    own = {name: n for name, n in counts.by_error.items() if name in OWN_FAILURES}
    if sum(own.values()) <= OWN_FAILURE_SHARE * ended:
        return None
    return Finding(
        LIMITED,
        "error",
        f"The client itself failed {sum(own.values()):,} of {ended:,} requests ({listed(own)}).",
        " ".join(OWN_FAILURES[name] for name in own),
    )


def _loop_lag(evidence: CheckInputs) -> Finding | None:
    lag_ms, most_ms = evidence.client.loop_lag_p50_ms or 0.0, evidence.client.loop_lag_max_ms or 0.0
    if evidence.latency_ms is None:
        # Nothing completed: there is no figure that the delay could be in.
        return None
    median_ms = evidence.latency_ms.p50
    warning, error = (max(ms, share * median_ms) for ms, share in zip(LAG_MS, LAG_SHARE, strict=True))
    loops = "event loops" if evidence.client.workers > 1 else "event loop"
    facts = (
        f"The client's {loops} ran {lag_ms:.1f} ms late at the median, {most_ms:.0f} ms at most (median "
        f"latency: {median_ms:.1f} ms)."
    )
    if lag_ms > error:
        return Finding(LIMITED, "error", facts, relief(evidence))
    if lag_ms > warning or most_ms > max(STALL_MS, median_ms):
        return Finding("client_stalled", "warning", facts, relief(evidence))
    return None


def _busy(evidence: CheckInputs) -> Finding | None:
    share, whole = worker_share(evidence), machine_share(evidence)
    facts = f"The {_whose(evidence, 'cpu_share_mean')} used {percent(share, 1)} of a core."
    if share <= FULL_SHARE < whole:
        facts = (
            f"The client's processes used {percent(whole, 1)} of its {counted(evidence.usable_cpus, 'CPU')}."
        )
    if max(share, whole) > FULL_SHARE:
        return Finding(LIMITED, "error", facts, relief(evidence))
    if share > COMFORTABLE:
        return Finding("client_busy", "warning", facts, relief(evidence))
    return None


def _contended(evidence: CheckInputs) -> Finding | None:
    if not is_contended(evidence):
        return None
    return Finding(
        "cpu_contended",
        "warning",
        f"CPU contention: the {_whose(evidence, 'cpu_wait_share_mean')} waited for a CPU "
        f"{percent(evidence.client.cpu_wait_share_mean or 0.0, 1)} of the time.",
        relief(evidence),
    )


def _writer_behind(evidence: CheckInputs) -> Finding | None:
    held_ms = evidence.client.held_up_ms or 0.0
    if not held_ms:
        return None
    return Finding(
        "writer_behind",
        "warning",
        f"Issuing paused for {held_ms:.0f} ms in all, because the log was written too slowly. Up to "
        f"{evidence.client.backlog_events_max or 0} events of a worker waited.",
        relief(evidence)
        if lacks_cpu(evidence)
        else f"Keep the run folder on a local disk, and leave its writer a CPU: {_room(evidence)}.",
    )


def _recorder_slow(evidence: CheckInputs) -> Finding | None:
    wait_ms = evidence.recorder.longest_wait_ms or 0.0
    if wait_ms <= SLOW_COMMIT_MS:
        return None
    return Finding(
        "recorder_slow",
        "warning",
        f"Events reached the disk up to {wait_ms:.0f} ms late; a kill can lose that much.",
        relief(evidence)
        if lacks_cpu(evidence)
        else "Keep the run folder on a local disk, and leave the client some CPU.",
    )


def _room(evidence: CheckInputs) -> str:
    """How to leave a whole CPU to the process that writes."""
    workers = evidence.client.workers or 1
    if evidence.usable_cpus and 1 < workers >= evidence.usable_cpus:
        return f"start it with --workers {max(1, evidence.usable_cpus - 1)}"
    return "lower the rate, or use fewer streams"


def _rate_not_reached(evidence: CheckInputs) -> Finding | None:
    """Find a rate that was not held, on the whole or, where it changes, at its height."""
    counts = evidence.counts
    if not is_open_loop(evidence.load) or not counts.issued:
        return None
    asked, bounded = evidence.load.get("rate"), evidence.load.get("max_concurrency") is not None
    share = _share_issued(counts) if evidence.ended == "completed" else 1.0
    # Where concurrency is bounded, waiting requests are intended.
    if not bounded and evidence.scheduled_span_ns and evidence.issued_span_ns:
        share = min(share, evidence.scheduled_span_ns / evidence.issued_span_ns)
    if share < RATE_SHARE:
        facts = (
            f"Requests were issued at {percent(share, 1)} of the requested rate"
            f"{f' of {as_written(asked)} req/s' if asked else ''}: {counts.issued:,} of "
            f"{counts.scheduled:,}, the last ones late."
        )
    elif not bounded and evidence.requests_behind > (1 - RATE_SHARE) * counts.issued:
        facts = (
            f"The requested rate was not held in {evidence.seconds_behind:,} of {evidence.seconds:,} s. "
            f"{evidence.requests_behind:,} of {counts.issued:,} requests were due in that time, and too "
            "many of them left late."
        )
    else:
        return None
    remedy = _REMEDY_BOUNDED if bounded and evidence.held_ms else relief(evidence)
    return Finding("rate_not_reached", "error", facts, remedy)


def _held_back(evidence: CheckInputs) -> Finding | None:
    """Find that requests waited under --max-concurrency, which latencies from the issue leave out."""
    held, limit = evidence.held_ms, evidence.load.get("max_concurrency")
    if held is None:
        return None
    return Finding(
        "held_back",
        "warning",
        f"{held.count:,} of {evidence.counts.issued:,} requests waited under --max-concurrency {limit}: "
        f"{held.p50:.0f} ms at the median, {held.max:.0f} ms at most.",
        'Use the "incl. queueing" rows; the others omit this wait. For independent callers, give a higher '
        "--max-concurrency, or none.",
    )


def _share_issued(counts: RequestCounts) -> float:
    """How much of the schedule was issued; the one request that its end came before is forgiven."""
    return min(1.0, (counts.issued + 1) / counts.scheduled)


def _whose(evidence: CheckInputs, figure: str) -> str:
    """The process with the worst value of a figure."""
    workers = evidence.client.per_worker
    if len(workers) < 2:  # noqa: PLR2004 (one worker needs no name)
        return "client"
    worst = max(workers, key=lambda worker: getattr(worker, figure) or 0.0)
    return f"client's worker {worst.worker}{f' on {worst.node}' if worst.node else ''}"


CHECKS: Final[tuple[Check, ...]] = (
    _contended,
    _busy,
    _late,
    late_reads,
    _loop_lag,
    _rate_not_reached,
    _writer_behind,
    _recorder_slow,
    _own_failures,
    _held_back,
)
"""Causes first: `reporter.findings.acceptance` joins messages in this order."""

ACCEPTABLE: Final[frozenset[Check]] = frozenset({_late, _loop_lag, _busy, _rate_not_reached})
"""The checks whose errors a user can accept, with the reasons in `reporter.findings.acceptance`."""
