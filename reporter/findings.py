"""What a reader of the figures should know: each check looks at the evidence and says what it found.

An error makes the run invalid: its figures cannot stand for the server. A run that is still going on is not
valid either, though nothing is wrong with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter import client_limits, response_shapes, steadiness, undefined
from reporter.evidence import Check, Evidence, Violation, listed
from reporter.report import Finding, Validity

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reporter.report import Counts

RUNNING: Final = "running"
"""How a run has ended that has not; also the code of the finding that says so."""

SLOW_COMMIT_MS: Final = 100.0
_EXCERPT: Final = 160
MANY_FAILURES: Final = 0.05
"""Of the requests that ended; above it what is reported of the others is not the whole story."""

COALESCED_SHARE: Final = 0.1
"""Of the chunks; above it single gaps between chunks are blurred."""


def findings(evidence: Evidence) -> list[Finding]:
    """Everything that there is to say, errors first."""
    found = [finding for check in _CHECKS if (finding := check(evidence))]
    found += [_violated(violation) for violation in evidence.violations]
    found += evidence.logged
    return sorted(found, key=lambda finding: _ORDER[finding.severity])


def validity(found: Iterable[Finding]) -> Validity:
    """Whether the run is valid: every error is a reason why not, and that it is not over is another."""
    reasons = [finding.message for finding in found if finding.severity == "error" or finding.code == RUNNING]
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
        "What had completed is reported. `loadgen resume` finishes a run of so many requests.",
    )


def _running(evidence: Evidence) -> Finding | None:
    if evidence.ended != RUNNING:
        return None
    counts = evidence.counts
    return Finding(
        "running",
        "warning",
        f"The run is still going on: {counts.completed} requests have completed, {counts.in_flight} are in "
        "flight. These are the figures so far.",
        "`loadgen watch` shows it until it ends.",
    )


def _resumed(evidence: Evidence) -> Finding | None:
    if evidence.sittings < 2:  # noqa: PLR2004 (one sitting was resumed from nothing)
        return None
    abandoned = evidence.counts.abandoned
    again = f" {abandoned} requests had been given up, and were asked again." if abandoned else ""
    return Finding(
        "resumed",
        "warning",
        f"The run was resumed: it was done in {evidence.sittings} sittings, each of which ramped up anew and "
        f"met the server's caches as they were. Rates count the time of the sittings alone.{again}",
        "For the figures of a server in one steady state, run it in one go.",
    )


def _interrupted(evidence: Evidence) -> Finding | None:
    if evidence.ended != "interrupted":
        return None
    return Finding(
        "interrupted",
        "error",
        f"The run was interrupted after {evidence.counts.issued} requests had been issued.",
        "The figures are true of what was done. `loadgen resume` finishes a run of so many requests.",
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
    many = counts.failed > MANY_FAILURES * ended
    return Finding(
        "many_failures" if many else "requests_failed",
        "warning",
        f"{counts.failed} of {ended} requests failed ({counts.failed / ended:.1%}): "
        f"{_classes(counts.by_error)}. They are in no latency and no throughput"
        f"{': the figures are about the others' if many else ''}.{_for_example(evidence)}",
        "All of them: SELECT error, error_message, count(*) FROM samples WHERE error <> '' GROUP BY ALL.",
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
        f"Token counts come from different sources: {listed(sources)} requests.",
        "Tokens of different sources do not compare; find out why the server counts only some responses.",
    )


def _tokens_unknown(evidence: Evidence) -> Finding | None:
    requests = evidence.token_sources.get("unknown", 0)
    if not requests:
        return None
    name = evidence.definitions.tokenizer or "NAME"
    remedy = {
        "client_tokenizer": f"The rules ask for a recount: report with --tokenizer {name}.",
        "server_usage": "The rules ask for the server's counts: let it send usage.",
    }
    return Finding(
        "tokens_unknown",
        "warning",
        f"{requests} requests have no token count: they are missing from TPOT and token throughput.",
        remedy.get(
            evidence.definitions.token_source or "", "Let the server send usage, or report with a tokenizer."
        ),
    )


def _input_unknown(evidence: Evidence) -> Finding | None:
    requests, completed = evidence.input_unknown, evidence.counts.completed
    if not evidence.token_sources.get("unknown", 0) < requests < completed:
        return None
    return Finding(
        "tokens_unknown",
        "warning",
        f"{requests} of {completed} requests have no count of input tokens: they are missing from the input "
        "tokens and the total token throughput.",
        "Report with a tokenizer (--tokenizer)."
        if evidence.definitions.token_source == "client_tokenizer"  # noqa: S105 (not a password)
        else "Let the server send usage.",
    )


def _prompts_repeated(evidence: Evidence) -> Finding | None:
    asked = evidence.asked
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


def _stale_connections(evidence: Evidence) -> Finding | None:
    retried = evidence.counts.retried
    if not retried:
        return None
    return Finding(
        "stale_connections",
        "info",
        f"{retried} stale connections were replaced: the server had closed them when a request was sent. "
        "The request was sent again over a new one, and its figures count from then on.",
        "The server closes connections that are idle; a longer keep-alive timeout there avoids that.",
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
    _running,
    _interrupted,
    _nothing_issued,
    _nothing_completed,
    *client_limits.CHECKS,
    *steadiness.CHECKS,
    _some_failed,
    *response_shapes.CHECKS,
    _tokens_from_chunks,
    _mixed_token_sources,
    _tokens_unknown,
    _input_unknown,
    *undefined.CHECKS,
    _prompts_repeated,
    _recorder_slow,
    _resumed,
    _stale_connections,
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
    others = {"cancelled": counts.cancelled, "in flight": counts.in_flight, "given up": counts.abandoned}
    return _classes({**counts.by_error, **{name: n for name, n in others.items() if n}})


def _classes(by_error: Mapping[str, int], most: int = 3) -> str:
    """The biggest classes of failures, the others together."""
    ranked = sorted(by_error.items(), key=lambda item: (-item[1], item[0]))
    others = sum(n for _, n in ranked[most:])
    return listed({**dict(ranked[:most]), **({"others": others} if others else {})})
