"""What is unusual about the form of the responses, and what it means for the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from recorder.finish_reasons import AnswerEnding, ending_of
from reporter.findings.check_inputs import listed
from reporter.json_values import document, members
from reporter.number_text import counted
from reporter.report import Finding

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.findings.check_inputs import Check, CheckInputs

_UNASKED: Final = "unasked_response"
_SHOWN: Final = 5


def _not_streamed(evidence: CheckInputs) -> Finding | None:
    if not evidence.asked_for_stream or not evidence.unstreamed:
        return None
    return Finding(
        "not_streamed",
        "warning",
        f"{evidence.unstreamed:,} of {evidence.counts.completed:,} responses were one JSON text instead "
        "of a stream, and have no TTFT, TPOT or ITL.",
        "A gateway may buffer streams, or the server may not stream; `loadgen check` shows which.",
    )


def _silent_chunks(evidence: CheckInputs) -> Finding | None:
    if not evidence.silent_chunks:
        return None
    rules = []
    if requests := evidence.silent_as_tokens:
        rules.append(
            f"In {counted(requests, 'request')} empty chunks count as tokens, as the server's usage "
            "counts them. TTFT, TPOT and ITL begin with the first empty chunk, TTFV with the first text."
        )
    if requests := evidence.silent_as_none:
        rules.append(
            f"In {counted(requests, 'request')} empty chunks do not count, as no usage includes them. "
            "TTFT begins with the first text."
        )
    return Finding(
        "silent_chunks",
        "info",
        f"{counted(evidence.silent_chunks, 'chunk')} had an empty content. {' '.join(rules)}",
        ("The rule of each request: SELECT silent_chunks, silent_tokens, ttft_ms, ttfv_ms FROM samples."),
    )


def _token_counts_refused(evidence: CheckInputs) -> Finding | None:
    example = evidence.refused_example
    if example is None:
        return None
    counts = listed(members(document(example["counts"])))
    return Finding(
        "token_counts_refused",
        "warning",
        f"In {counted(evidence.refused, 'response')} the server's token counts are impossible: "
        f"{counts} in {example['bytes']} bytes (request {example['request']}). No figure uses such "
        "counts; tokens are counted as if the server had sent none.",
        "Each output token takes at least a byte of the response, unless it is reasoning that the server "
        "reports (reasoning_tokens) and does not send, or the request allows as many (--max-tokens); above "
        "that limit also a character or a chunk. All of "
        "them: SELECT sample_uuid, refused_tokens, bytes FROM samples WHERE refused_tokens IS NOT NULL.",
    )


def _usage_contradicted(evidence: CheckInputs) -> Finding | None:
    if not evidence.contradicted:
        return None
    return Finding(
        "usage_contradicted",
        "warning",
        f"In {counted(evidence.contradicted, 'response')} the server counted fewer output tokens than "
        "there were chunks with content. TPOT and token rates use the server's count, or one token "
        "per chunk where that count is 0.",
        "The server, or a gateway before the server, counts wrongly: SELECT output_tokens, chunks "
        "FROM samples.",
    )


def _unasked(evidence: CheckInputs) -> Finding | None:
    failed = evidence.counts.by_error.get(_UNASKED, 0)
    responses = max(failed, evidence.unasked)
    if not responses:
        return None
    return Finding(
        "unasked_responses",
        "error",
        f"The server sent {counted(responses, 'unsolicited response')}; {counted(failed, 'request')} "
        "failed for that reason. Times and texts of other requests may be wrong: an unsolicited "
        "response can look like the answer to the next request.",
        "The server, or a proxy before the server, answers requests twice on kept connections: check "
        "the logs.",
    )


def _unended(evidence: CheckInputs) -> Finding | None:
    if not evidence.unended:
        return None
    return Finding(
        "unended_responses",
        "warning",
        f"The HTTP responses of {counted(evidence.unended, 'complete answer')} did not end. The "
        "server closed the connection, or the client did after --idle-timeout, --timeout or 64 KiB "
        "of trailers; until then the request was in flight.",
        "The server, or a proxy before the server, does not end responses. How each ended: SELECT "
        "data ->> '$.unended' FROM events WHERE type = 'COMPLETE'.",
    )


_ENDINGS: Final[Mapping[AnswerEnding, tuple[str, str, str]]] = {
    AnswerEnding.FILTERED: (
        "answers_filtered",
        ("were ended by a filter or refused, which makes answers shorter. Such answers count as complete"),
        "Use prompts that the filter passes, or turn the filter off.",
    ),
    AnswerEnding.ABORTED: (
        "answers_aborted",
        (
            "were aborted by the server, but this log counts them as complete. Latencies and throughput "
            "are wrong"
        ),
        "Measure again: requests with such an ending fail.",
    ),
    AnswerEnding.UNKNOWN: (
        "finish_reasons_unknown",
        "have an unknown finish reason and count as complete",
        "See docs/protocols.md for the finish reasons that are known.",
    ),
}


def _ended(ending: AnswerEnding) -> Check:
    """A check for answers that count as complete, and may not be."""

    def check(evidence: CheckInputs) -> Finding | None:
        reasons = {
            repr(reason): answers
            for reason, answers in (evidence.finish_reasons or {}).items()
            if ending_of(reason) is ending
        }
        if not reasons:
            return None
        code, problem, remedy = _ENDINGS[ending]
        shown = ", ".join(f"{reason} ({answers:,})" for reason, answers in list(reasons.items())[:_SHOWN])
        count = f"{sum(reasons.values())} of {counted(evidence.counts.completed, 'answer')}"
        return Finding(code, "warning", f"{count} {problem}: {shown}.", remedy)

    return check


def _deviations(evidence: CheckInputs) -> Finding | None:
    if not evidence.deviations:
        return None
    shown = [f"{deviation} ({responses:,})" for deviation, responses in evidence.deviations.items()][:_SHOWN]
    return Finding(
        "protocol_deviations",
        "warning",
        f"Responses deviated from their protocol and were read anyway: {'; '.join(shown)}.",
        "Other clients may refuse such responses: check the server, or the gateway before the server.",
    )


def _thinking_in_content(evidence: CheckInputs) -> Finding | None:
    if not evidence.tagged:
        return None
    return Finding(
        "thinking_in_content",
        "info",
        f"{counted(evidence.tagged, 'answer')} began with reasoning in tags such as <think>. The "
        "tagged text is not scored, and counts as content in TTFO and TTFV.",
        "Start the server with a reasoning parser (an option of vLLM and SGLang).",
    )


def _reasoning_only(evidence: CheckInputs) -> Finding | None:
    if not evidence.reasoning_only or not evidence.has_questions:
        return None
    return Finding(
        "reasoning_only",
        "warning",
        f"{counted(evidence.reasoning_only, 'answer')} of {evidence.counts.completed:,} had reasoning, "
        "but no content, and are scored as empty answers.",
        "Raise --max-tokens if finish_reason is length; else check the server's reasoning parser.",
    )


CHECKS: Final[tuple[Check, ...]] = (
    _unasked,
    _not_streamed,
    _silent_chunks,
    _token_counts_refused,
    _usage_contradicted,
    _unended,
    *map(_ended, _ENDINGS),
    _deviations,
    _thinking_in_content,
    _reasoning_only,
)


_FEWEST_REUSED: Final = 20
"""Requests, from which on a pattern is one."""

_USED_AGAIN: Final = 0.1
"""The share of connections that a server which keeps them lets be used again, at least."""


def _stale_connections(evidence: CheckInputs) -> Finding | None:
    retried = evidence.counts.retried
    if not retried:
        return None
    return Finding(
        "stale_connections",
        "info",
        f"{counted(retried, 'request')} found a kept connection closed and took a new one; latencies "
        "start at the second attempt.",
        "Raise the server's keep-alive timeout, or use one connection per request: --connection new.",
    )


def _connections_closed(evidence: CheckInputs) -> Finding | None:
    needed, reused = evidence.reusable, evidence.counts.reused
    if needed < _FEWEST_REUSED or reused > _USED_AGAIN * needed:
        return None
    return Finding(
        "connections_closed",
        "info",
        f"The server closes its connection after each response: {reused} of {needed} requests reused "
        "a connection.",
        "Enable keep-alive in the server, or use one connection per request: --connection new.",
    )


CONNECTION_CHECKS: Final[tuple[Check, ...]] = (_stale_connections, _connections_closed)
