"""A row of the self-test in plain types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.conformance.evaluation import RowResult


def record(result: RowResult) -> dict[str, object]:
    """A row as JSON has it."""
    return {
        "scenario": result.row.scenario.name,
        "protocol": result.row.protocol,
        "transport": result.row.transport,
        "passed": result.passed,
        "tries": result.tries,
        "expected": result.row.expected.sees,
        "seen": result.seen,
        "true_ms": result.true._asdict(),
        "measured_ms": result.measured._asdict(),
        "expected_tokens": result.row.expected.tokens,
        "tokens": result.tokens,
        "misses": [miss.what for miss in result.misses],
    }
