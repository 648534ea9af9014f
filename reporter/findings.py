"""What a reader of the figures should know: each check looks at the evidence and says what it found.

An error makes the run invalid: its figures cannot stand for the server.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from reporter.report import Finding, Validity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Counts, Summary

OPEN_LOOP: Final = frozenset({"constant", "poisson"})
"""Loads that have a schedule of their own, which the client can be late for."""

BUSY_SHARE: Final = (0.7, 0.9)
"""The share of a core that the client used, above which a warning, and above which an error: what answers a
server could have had from a quicker client cannot be told then."""

LATE_MS: Final = (1.0, 5.0)
LATE_SHARE: Final = (0.1, 0.5)
"""Above which the p99 of the issue lag is a warning, and above which an error: so many ms, or that share of
the median TTFT, whichever is more."""

RATE_SHARE: Final = 0.95
"""The share of the rate asked for that must be reached."""

SLOW_COMMIT_MS: Final = 100.0
_EXCERPT: Final = 160
COALESCED_SHARE: Final = 0.1
"""Of the chunks; above it single gaps between chunks are blurred."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A law of the log that requests broke: see the view `violations`."""

    name: str
    requests: int
    example: str


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the checks look at.

    Attributes:
        ended: `completed`, `interrupted` or `cut_off`.
        load: The settings' load: `kind`, `rate`, `concurrency`.
        counts: The measured requests.
        ttft_ms: Of those that completed, as `latency_ms` and `issue_lag_ms`.
        token_sources: How many of them have their token count from where; `unknown` for those without one.
        scheduled_span_ns: From the first to the last intended issue.
        issued_span_ns: From the first to the last issue.
        chunks: Chunks with a token, of all completed requests.
        coalesced: Reads that held more than one of them.
        recorder: The recorder's last reading of itself.
        client: How the load generator's process was doing (see docs/metrics.md); empty without readings.
        prompts: How many different prompts the run could ask; None where that is not known.
        messages: For failures by name, what was said about one of them.
        violations: Laws that were broken.
        logged: What the load generator found itself while it ran.
    """

    ended: str
    load: Mapping[str, Any]
    counts: Counts
    ttft_ms: Summary | None = None
    latency_ms: Summary | None = None
    issue_lag_ms: Summary | None = None
    token_sources: Mapping[str, int] = field(default_factory=dict)
    scheduled_span_ns: int | None = None
    issued_span_ns: int | None = None
    chunks: int | None = None
    coalesced: int | None = None
    recorder: Mapping[str, Any] = field(default_factory=dict)
    client: Mapping[str, Any] = field(default_factory=dict)
    prompts: int | None = None
    messages: Mapping[str, str] = field(default_factory=dict)
    violations: tuple[Violation, ...] = ()
    logged: tuple[Finding, ...] = ()


Check = Callable[[Evidence], Finding | None]


def findings(evidence: Evidence) -> list[Finding]:
    """Everything that there is to say, errors first."""
    found = [finding for check in _CHECKS if (finding := check(evidence))]
    found += [_violated(violation) for violation in evidence.violations]
    found += evidence.logged
    return sorted(found, key=lambda finding: _ORDER[finding.severity])


def validity(found: Iterable[Finding]) -> Validity:
    """Whether the run is valid: every error is a reason why not."""
    reasons = [finding.message for finding in found if finding.severity == "error"]
    return Validity(valid=not reasons, reasons=reasons)


_ORDER: Final = {"error": 0, "warning": 1, "info": 2}


def _cut_off(evidence: Evidence) -> Finding | None:
    if evidence.ended != "cut_off":
        return None
    counts = evidence.counts
    return Finding(
        "cut_off",
        "error",
        f"The run was cut off: its log has no end. {counts.completed} requests had completed, "
        f"{counts.in_flight} were in flight.",
        "What had completed is reported. Let a run end, or stop it with Ctrl-C, for figures that can stand.",
    )


def _interrupted(evidence: Evidence) -> Finding | None:
    if evidence.ended != "interrupted":
        return None
    return Finding(
        "interrupted",
        "error",
        f"The run was interrupted after {evidence.counts.issued} requests had been issued.",
        "The figures are true of what was done until then; run it to its end to compare it with others.",
    )


def _nothing_issued(evidence: Evidence) -> Finding | None:
    if evidence.counts.issued:
        return None
    return Finding(
        "nothing_issued",
        "error",
        "No request of the performance phase was issued.",
        "See whether the warm-up failed, and whether the number of requests or the duration is more than 0.",
    )


def _nothing_completed(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    if counts.completed or not counts.issued:
        return None
    return Finding(
        "nothing_completed",
        "error",
        f"None of the {counts.issued} requests completed: {_ends(counts)}.{_for_example(evidence)}",
        "`loadgen check` tells whether the endpoint answers and knows the model.",
    )


def _some_failed(evidence: Evidence) -> Finding | None:
    counts = evidence.counts
    if not counts.failed or not counts.completed:
        return None
    ended = counts.completed + counts.failed + counts.cancelled
    return Finding(
        "requests_failed",
        "warning",
        f"{counts.failed} of {ended} requests failed ({counts.failed / ended:.1%}): "
        f"{_classes(counts.by_error)}. They are in no latency and no throughput.{_for_example(evidence)}",
        "Their messages: SELECT error, error_message, count(*) FROM samples GROUP BY ALL.",
    )


def _tokens_from_chunks(evidence: Evidence) -> Finding | None:
    requests = evidence.token_sources.get("chunks", 0)
    if not requests:
        return None
    return Finding(
        "tokens_from_chunks",
        "warning",
        f"The server sent no token counts for {requests} requests: each chunk was taken for one token, "
        "which is too few where a chunk holds several.",
        "Let the server send usage (stream_options.include_usage), or report with a tokenizer.",
    )


def _mixed_token_sources(evidence: Evidence) -> Finding | None:
    sources = {name: n for name, n in evidence.token_sources.items() if n and name != "unknown"}
    if len(sources) < 2:  # noqa: PLR2004 (two sources are a mixture)
        return None
    return Finding(
        "mixed_token_sources",
        "warning",
        f"Token counts come from different sources: {_listed(sources)} requests.",
        "Tokens of different sources do not compare; find out why the server counts only some responses.",
    )


def _tokens_unknown(evidence: Evidence) -> Finding | None:
    requests = evidence.token_sources.get("unknown", 0)
    if not requests:
        return None
    return Finding(
        "tokens_unknown",
        "warning",
        f"{requests} requests have no token count: they are missing from TPOT and token throughput.",
        "Let the server send usage, or report with a tokenizer.",
    )


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


def _prompts_repeated(evidence: Evidence) -> Finding | None:
    asked = evidence.counts.issued + evidence.counts.warmup
    if not evidence.prompts or asked <= evidence.prompts:
        return None
    return Finding(
        "prompts_repeated",
        "info",
        f"{asked} requests asked {evidence.prompts} different prompts: most were asked more than once."
        if asked >= 2 * evidence.prompts
        else f"{asked} requests asked {evidence.prompts} different prompts: some were asked twice.",
        "A server that caches prefixes answers a prompt quicker the second time: use more prompts.",
    )


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


def _events_lost(evidence: Evidence) -> Finding | None:
    lost = evidence.recorder.get("lost")
    if not lost:
        return None
    return Finding(
        "events_lost",
        "error",
        f"The recorder could not write {lost} events.",
        "See whether the disk that holds the run folder is full or failing.",
    )


def _recorder_slow(evidence: Evidence) -> Finding | None:
    wait_ms = evidence.recorder.get("longest_wait_ms") or 0.0
    if wait_ms <= SLOW_COMMIT_MS:
        return None
    return Finding(
        "recorder_slow",
        "warning",
        f"It took the recorder up to {wait_ms:.0f} ms to commit an event; a killed run loses as much.",
        "Keep the run folder on a local disk, and leave the client some CPU.",
    )


def _coalesced(evidence: Evidence) -> Finding | None:
    if not evidence.chunks or not evidence.coalesced:
        return None
    share = evidence.coalesced / evidence.chunks
    if share <= COALESCED_SHARE:
        return None
    return Finding(
        "coalesced_reads",
        "info",
        f"{evidence.coalesced} reads held more than one of the {evidence.chunks} chunks ({share:.0%}): "
        "chunks of one read share its stamp, which blurs single inter-token times, though not TTFT or TPOT.",
        "The server or a proxy may send chunks together; a client with more CPU reads them more promptly.",
    )


_CHECKS: Final[tuple[Check, ...]] = (
    _cut_off,
    _interrupted,
    _nothing_issued,
    _nothing_completed,
    _late,
    _busy,
    _rate_not_reached,
    _events_lost,
    _some_failed,
    _tokens_from_chunks,
    _mixed_token_sources,
    _tokens_unknown,
    _prompts_repeated,
    _recorder_slow,
    _coalesced,
)


def _violated(violation: Violation) -> Finding:
    return Finding(
        violation.name,
        "error",
        f"{violation.name.replace('_', ' ').capitalize()}: {violation.requests} requests, "
        f"such as {violation.example}. This is a bug of the load generator.",
        "Please report it, with the log. All cases: SELECT * FROM violations.",
    )


def _for_example(evidence: Evidence) -> str:
    """What was said about the most frequent failure."""
    name = next(iter(evidence.counts.by_error), None)
    said = evidence.messages.get(name or "", "")
    return f" For example, {name}: {said[:_EXCERPT]}" if said else ""


def _ends(counts: Counts) -> str:
    """How requests ended that did not complete."""
    others = {"cancelled": counts.cancelled, "in flight": counts.in_flight}
    return _classes({**counts.by_error, **{name: n for name, n in others.items() if n}})


def _classes(by_error: Mapping[str, int], most: int = 3) -> str:
    """The biggest classes of failures, the others together."""
    ranked = sorted(by_error.items(), key=lambda item: (-item[1], item[0]))
    others = sum(n for _, n in ranked[most:])
    return _listed({**dict(ranked[:most]), **({"others": others} if others else {})})


def _listed(numbers: Mapping[str, int]) -> str:
    return ", ".join(f"{n} {name}" for name, n in numbers.items())
