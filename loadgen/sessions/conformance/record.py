"""A row of the self-test in plain types."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from loadgen.sessions.conformance.evaluation import RowResult


def record(one: RowResult) -> dict[str, object]:
    """A row as JSON has it."""
    return {
        "scenario": one.row.scenario.name,
        "protocol": one.row.protocol,
        "transport": one.row.transport,
        "passed": one.passed,
        "tries": one.tries,
        "expected": one.row.expected.sees,
        "seen": one.seen,
        "true_ms": one.true._asdict(),
        "measured_ms": one.measured._asdict(),
        "expected_tokens": one.row.expected.tokens,
        "tokens": one.tokens,
        "misses": [miss.what for miss in one.misses],
    }
