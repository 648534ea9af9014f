"""The findings on a run: each check reads the evidence and gives a finding, or none.

An error makes the run invalid: its figures do not represent the server. A run in progress is not valid
either, without an error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.findings import (
    client_limits,
    load_findings,
    response_shapes,
    token_findings,
    undefined,
)
from reporter.findings.acceptance import marked, one_for_one_cause
from reporter.findings.check_inputs import Check, CheckInputs, Violation, listed
from reporter.findings.remedies import relief
from reporter.number_text import counted, whole
from reporter.report import Finding, Validity
from reporter.run_facts import COMPLETED, OVERLOADED, RUNNING
from rulesets.evaluators.client_delay import LATENCIES_INVALID

if TYPE_CHECKING:
    from collections.abc import Iterable

COALESCED_SHARE: Final = 0.1
"""Of the chunks; above it single gaps between chunks are blurred."""


def findings(evidence: CheckInputs) -> list[Finding]:
    """All findings, errors first."""
    checks = (*_of_the_end(evidence), _bare, _nothing_issued, *_of_nodes(evidence), *_CHECKS)
    each = [marked(check, finding, evidence) for check in checks if (finding := check(evidence))]
    all_findings = one_for_one_cause(each, relief(evidence))
    all_findings += [_violated(violation) for violation in evidence.violations]
    all_findings += evidence.logged
    return in_order(all_findings)


def _of_the_end(evidence: CheckInputs) -> tuple[Check, ...]:
    if evidence.ended == COMPLETED and evidence.counts.completed:
        return ()
    from reporter.findings import run_endings

    return run_endings.CHECKS


def _of_nodes(evidence: CheckInputs) -> tuple[Check, ...]:
    if evidence.nodes is None and evidence.shard is None:
        return ()
    from reporter.findings import node_findings

    return node_findings.CHECKS


def in_order(unordered: Iterable[Finding]) -> list[Finding]:
    """Findings by severity, errors first."""
    return sorted(unordered, key=lambda finding: _ORDER[finding.severity])


def validity(unordered: Iterable[Finding]) -> Validity:
    """Whether the run is valid: every error is a reason against, and so is that it still runs."""
    all_findings = list(unordered)
    errors = [finding for finding in all_findings if finding.severity == "error"]
    reasons = [finding.message for finding in all_findings if finding in errors or finding.code == RUNNING]
    overloaded = any(finding.code == OVERLOADED for finding in errors)
    named = next((finding for finding in all_findings if finding.code in _ON_THE_ENDPOINT), None)
    late = [finding.message for finding in all_findings if finding.code == LATENCIES_INVALID]
    summary = "valid for its scores, not for latencies and rates" if late and not reasons else ""
    return Validity(
        not reasons,
        reasons,
        overloaded=overloaded,
        summary=summary if named is None else _first_sentence(named.message),
        latency_reasons=late,
    )


_ON_THE_ENDPOINT: Final = frozenset(
    (OVERLOADED, "endpoint_gone", "rate_limited", "many_failures", "nothing_completed")
)
"""Findings on the endpoint whose first sentence is in the first line of a report."""


def _first_sentence(message: str) -> str:
    return message.partition(". ")[0].removesuffix(".")


_ORDER: Final = {"error": 0, "warning": 1, "info": 2}


def _resumed(evidence: CheckInputs) -> Finding | None:
    if evidence.segments < 2:  # noqa: PLR2004 (one segment was resumed from nothing)
        return None
    abandoned = evidence.counts.abandoned
    again = f" Abandoned requests that were sent again: {whole(abandoned)}." if abandoned else ""
    return Finding(
        "resumed",
        "warning",
        f"The run was resumed: {evidence.segments} segments, each with a ramp-up and with the "
        f"server's caches as they were. Rates count only the time of the segments.{again}",
        "For figures of one steady state, measure without a pause.",
    )


def _bare(evidence: CheckInputs) -> Finding | None:
    if not evidence.bare:
        return None
    return Finding(
        "phases_assumed",
        "warning",
        "The log has no phases and no REQUEST_SENT, so all requests are measured. TTFT counts from "
        "LOADGEN_ISSUE_CALLED, and TPOT ends with COMPLETE.",
        "Record the phase of each request, REQUEST_SENT and the arrivals (docs/python.md).",
    )


def _nothing_issued(evidence: CheckInputs) -> Finding | None:
    if evidence.counts.issued or evidence.figures_only:
        return None
    return Finding(
        "nothing_issued",
        "error",
        "No request of the performance phase was issued.",
        "Check whether the warm-up failed, and whether the number of requests and the duration are above 0.",
    )


def _tokens_from_chunks(evidence: CheckInputs) -> Finding | None:
    requests, refused = evidence.token_sources.get("chunks", 0), evidence.refused_to_chunks
    if not requests:
        return None
    unsent = f"The server sent no token counts for {counted(requests - refused, 'request')}"
    unused = f"the counts of {counted(refused, 'request')} were refused"
    why = " and ".join([unsent] * (refused < requests) + [unused] * (refused > 0))
    return Finding(
        "tokens_from_chunks",
        "warning",
        f"{why[0].upper()}{why[1:]}: each chunk counts as one token, too few where a chunk has several.",
        "Let the server send usage (stream_options.include_usage), or report with a tokenizer."
        if refused < requests
        else "Report with a tokenizer.",
    )


def _mixed_token_sources(evidence: CheckInputs) -> Finding | None:
    sources = {name: n for name, n in evidence.token_sources.items() if n and name != "unknown"}
    if len(sources) < 2:  # noqa: PLR2004 (two sources are a mixture)
        return None
    return Finding(
        "mixed_token_sources",
        "warning",
        f"Token counts come from different sources: {listed(sources)} requests.",
        "Counts from different sources are not comparable; find out why the server counts only some "
        "responses.",
    )


def _tokens_unknown(evidence: CheckInputs) -> Finding | None:
    requests = evidence.token_sources.get("unknown", 0)
    if not requests or evidence.imported:
        return None
    name = evidence.definitions.tokenizer or "NAME"
    remedy = {
        "client_tokenizer": f"The rules ask for a recount: report with --tokenizer {name}.",
        "server_usage": "The rules ask for the server's counts: let it send usage.",
    }
    return Finding(
        "tokens_unknown",
        "warning",
        f"The token counts of {counted(requests, 'request')} are unknown, and missing from TPOT and "
        "token throughput.",
        remedy.get(
            evidence.definitions.token_source or "", "Let the server send usage, or report with a tokenizer."
        ),
    )


def _input_unknown(evidence: CheckInputs) -> Finding | None:
    # Those of `token_counts_refused` are not what a server fails to send.
    requests, completed = evidence.input_unknown - evidence.refused_input, evidence.counts.completed
    if evidence.imported or not evidence.token_sources.get("unknown", 0) < requests < completed:
        return None
    return Finding(
        "tokens_unknown",
        "warning",
        f"{requests:,} of {completed:,} requests have no input token count, and are missing from input "
        "tokens and total token throughput.",
        "Report with a tokenizer (--tokenizer)."
        if evidence.definitions.token_source == "client_tokenizer"  # noqa: S105 (not a password)
        else "Let the server send usage.",
    )


def _prompts_repeated(evidence: CheckInputs) -> Finding | None:
    asked, prompts = evidence.asked, evidence.prompts
    if not prompts or asked <= prompts:
        return None
    often = "most were sent more than once" if asked >= 2 * prompts else "some were sent twice"
    used = f"{asked:,} requests used {prompts:,} different prompts"
    if prompts == 1:
        often, used = "every request sent the same prompt", f"{asked:,} requests used one prompt"
    if evidence.turns:
        requests = asked + evidence.turns
        different = "one" if prompts == 1 else f"{prompts} different ones"
        used = f"{asked:,} conversations ({requests:,} requests) used {different}"
    return Finding(
        "prompts_repeated",
        "info",
        f"{used}: {often}.",
        "A server that caches prefixes answers a repeated prompt faster: use more prompts.",
    )


def _unencoded(evidence: CheckInputs) -> Finding | None:
    if not evidence.unencoded:
        return None
    return Finding(
        "data_not_written",
        "error",
        f"The data of {counted(evidence.unencoded, 'event')} (such as {evidence.unencoded_example}) "
        "is not valid JSON, so the log and all figures lack that data.",
        "Record only numbers, lists, mappings, and text without lone surrogates. The causes: "
        "SELECT type, data FROM events WHERE data ->> '$.encode_error' IS NOT NULL.",
    )


def _coalesced(evidence: CheckInputs) -> Finding | None:
    if not evidence.chunks or not evidence.coalesced:
        return None
    share = evidence.coalesced / evidence.chunks
    if share <= COALESCED_SHARE:
        return None
    return Finding(
        "coalesced_reads",
        "info",
        f"{evidence.coalesced} reads had more than one of the {evidence.chunks} chunks "
        f"({100 * share:.0f} %); the chunks of a read share a stamp.",
        "Chunks that were sent together arrive together; the finding `late_reads` covers chunks that "
        "the client read late.",
    )


def _some_failed(evidence: CheckInputs) -> Finding | None:
    """Failed requests, which alone load the check."""
    if not evidence.counts.failed:
        return None
    from reporter.findings.failed_requests import some_failed

    return some_failed(evidence)


def _backlog_cut(evidence: CheckInputs) -> Finding | None:
    """Limits that cut an offline run, which alone loads the check."""
    if evidence.load.get("kind") != "offline":
        return None
    from reporter.findings.client_timeouts import backlog_cut

    return backlog_cut(evidence)


_CHECKS: Final[tuple[Check, ...]] = (
    _some_failed,
    *load_findings.OVERLOAD,
    *client_limits.CHECKS,
    _backlog_cut,
    *load_findings.CHECKS,
    *response_shapes.CHECKS,
    *token_findings.CHECKS,
    _tokens_from_chunks,
    _mixed_token_sources,
    _tokens_unknown,
    _input_unknown,
    *undefined.CHECKS,
    _prompts_repeated,
    _unencoded,
    _resumed,
    *response_shapes.CONNECTION_CHECKS,
    _coalesced,
)


def _violated(violation: Violation) -> Finding:
    return Finding(
        violation.name,
        "error",
        f"{violation.name.replace('_', ' ').capitalize()}: {counted(violation.requests, 'request')}, "
        f"such as {violation.example}. The load generator has a bug.",
        "Please report it, with the log. All cases: SELECT * FROM violations.",
    )
