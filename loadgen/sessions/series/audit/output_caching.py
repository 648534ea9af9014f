"""Whether an endpoint answers a prompt that is repeated faster than prompts that differ: from a cache.

mlcommons/inference@b66003e1:compliance/TEST04;
mlcommons/endpoints@ea332753:src/inference_endpoint/compliance/audit_test/output_caching_test.py.

Two phases, one after the other: *reference* asks samples that differ, *output_caching* repeats one of them.
The audit passes if each phase completed at least 1 - threshold of its requests, and the rate of the second is
below that of the first times 1 + threshold. A cache that already has the samples of the reference phase is
not found: that phase is then as fast as the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

TEST: Final = "output_caching_test"
REFERENCE: Final = "reference"
REPEATED: Final = "output_caching"
THRESHOLD: Final = 0.1
ONE_AT_A_TIME: Final = 0.2
"""The threshold where one request is in flight at a time: MLPerf doubles it for a single stream."""


@dataclass(frozen=True, slots=True)
class AuditPhase:
    """The result of a phase."""

    qps: float | None
    completed: int
    requested: int


@dataclass(frozen=True, slots=True)
class AuditResult:
    """The result of an audit."""

    reference: AuditPhase
    repeated: AuditPhase
    threshold: float
    passed: bool
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """The audit under the names that mlcommons/endpoints writes, and submission checkers read."""
        return {
            "test": TEST,
            "passed": self.passed,
            "ref_qps": self.reference.qps,
            "audit_qps": self.repeated.qps,
            "threshold": self.threshold,
            "ref_completed": self.reference.completed,
            "ref_requested": self.reference.requested,
            "audit_completed": self.repeated.completed,
            "audit_requested": self.repeated.requested,
            "reason": self.reason,
        }


def audit(reference: AuditPhase, repeated: AuditPhase, threshold: float) -> AuditResult:
    """Evaluate the two phases."""
    short = [
        f"{name} completed {phase.completed} of {phase.requested}"
        for name, phase in ((REFERENCE, reference), (REPEATED, repeated))
        if phase.completed < phase.requested * (1 - threshold)
    ]
    if short or reference.qps is None or repeated.qps is None:
        reason = f"{' and '.join(short) or 'a phase has no rate'}; at least {1 - threshold:.0%} must complete"
        return AuditResult(reference, repeated, threshold, passed=False, reason=reason)
    greatest_qps = reference.qps * (1 + threshold)
    passed = repeated.qps < greatest_qps
    reason = (
        f"one prompt repeated was answered at {repeated.qps:.4f}/s, {'below' if passed else 'not below'} "
        f"{1 + threshold:g} times the {reference.qps:.4f}/s of prompts that differ ({greatest_qps:.4f}/s)"
    )
    return AuditResult(reference, repeated, threshold, passed=passed, reason=reason)
