"""The finding that a run began on a server that was not ready."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from reporter.number_text import figure
from reporter.report import Finding

if TYPE_CHECKING:
    from reporter.findings.check_inputs import Check, CheckInputs
    from reporter.findings.cold_start import ColdStart


def _cold(evidence: CheckInputs) -> Finding | None:
    cold = evidence.cold
    if cold is None:
        return None
    whole, rest = cold.whole, cold.rest
    first = f"first {cold.requests} requests" if cold.requests > 1 else "first request"
    return Finding(
        "cold_start",
        "warning",
        f"The {first} had a TTFT of {figure(cold.ttft_ms)} ms, later ones {figure(cold.usual_ms)} ms "
        f"(medians): a cold start. Without {'them' if cold.requests > 1 else 'it'} TTFT p99 would be "
        f"{figure(rest.p99)} ms instead of {figure(whole.p99)} ms, and the mean {figure(rest.mean)} "
        f"ms instead of {figure(whole.mean)} ms.",
        f"Repeat the run with a warm-up, which no figure includes: --warmup {_warmup(evidence, cold)}.",
    )


def _warmup(evidence: CheckInputs, cold: ColdStart) -> int:
    """As many requests as were affected, and as many as are in flight at once."""
    concurrency = evidence.load.get("concurrency")
    return max(cold.requests, concurrency if isinstance(concurrency, int) else 0)


CHECKS: Final[tuple[Check, ...]] = (_cold,)
