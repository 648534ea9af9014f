"""What is unusual about the form of the responses, and what it means for the figures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.evidence import Check, Evidence


def _not_streamed(evidence: Evidence) -> Finding | None:
    if not evidence.asked_for_stream or not evidence.unstreamed:
        return None
    return Finding(
        "not_streamed",
        "warning",
        f"{evidence.unstreamed} of {evidence.counts.completed} responses came as one JSON text, although "
        "streams were asked for: they have no TTFT, TPOT or ITL.",
        "A gateway on the way may collect streams, or the server may not stream; `loadgen check` tells.",
    )


def _silent_chunks(evidence: Evidence) -> Finding | None:
    if not evidence.silent_chunks:
        return None
    rules = []
    if requests := evidence.silent_as_tokens:
        rules.append(
            f"In {requests} requests they are counted as tokens whose text came later, because with them "
            "the chunks add up to the server's usage: TTFT, TPOT and ITL begin with the first of them, TTFV "
            "with the first text."
        )
    if requests := evidence.silent_as_none:
        rules.append(
            f"In {requests} requests they are not counted, because no usage bears them out: TTFT begins "
            "with the first text."
        )
    return Finding(
        "silent_chunks",
        "info",
        f"{evidence.silent_chunks} chunks had a content, but an empty one. {' '.join(rules)}",
        "Which rule holds for a request: SELECT silent_chunks, silent_tokens, ttft_ms, ttfv_ms FROM samples.",
    )


def _usage_contradicted(evidence: Evidence) -> Finding | None:
    if not evidence.contradicted:
        return None
    return Finding(
        "usage_contradicted",
        "warning",
        f"In {evidence.contradicted} responses the server counted fewer output tokens than there were chunks "
        "with something in them: its usage is not that of the whole answer. TPOT and token rates rest on it, "
        "but where it is 0: there each chunk counts as a token.",
        "The server, or a gateway before it, counts wrongly: SELECT output_tokens, chunks FROM samples.",
    )


CHECKS: Final[tuple[Check, ...]] = (_not_streamed, _silent_chunks, _usage_contradicted)
