"""The definitions behind the figures of a verdict; docs/metrics.md explains each."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import asdict, dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

PercentileMethod = Literal["linear", "lower", "loadgen_floor", "nearest_rank"]
Origin = Literal["scheduled", "issued", "sent"]
Denominator = Literal["seen", "n_minus_1", "n", "tokens_after_first_chunk"]
End = Literal["last_token", "complete"]
OneToken = Literal["drop", "zero", "error"]
TokenSource = Literal["server_usage", "client_tokenizer"]
Category = Literal["reasoning", "content", "tool_call"]
WindowKind = Literal["run", "steady_state", "last_issued_done", "tracked", "first_user_done"]
FailedRequests = Literal["exclude", "count_as_violation"]

PERCENTILES: Final[Mapping[str, Fraction]] = {
    "p50": Fraction(50, 100),
    "p90": Fraction(90, 100),
    "p95": Fraction(95, 100),
    "p99": Fraction(99, 100),
    "p999": Fraction(999, 1000),
}
"""The percentiles that a report holds, by the names of fields."""

CATEGORIES: Final[tuple[Category, ...]] = ("reasoning", "content", "tool_call")


@dataclass(frozen=True, slots=True)
class Definitions:
    """The meaning of figures for which the field has several definitions.

    Attributes:
        percentile_method: See `reporter.percentiles`.
        latency_origin: What a latency counts from, whatever its metric's own origin is; None for that.
        tpot_denominator: The tokens that TPOT divides by.
        tpot_end: Where the time ends that it divides.
        tpot_n1: What becomes of an answer of one token: it has no TPOT, one of 0, or is an error.
        token_source: Who counts tokens; None for the server, and a tokenizer where it does not.
        tokenizer: The tokenizer's name, where the rules name one.
        throughput_window: The span of time that rates are counted over.
        failed_requests: Whether a failed request is left out of latencies, or exceeds every bound.
    """

    percentile_method: PercentileMethod = "linear"
    latency_origin: Origin | None = None
    tpot_denominator: Denominator = "seen"
    tpot_end: End = "last_token"
    tpot_n1: OneToken = "drop"
    token_source: TokenSource | None = None
    tokenizer: str | None = None
    token_categories: tuple[Category, ...] = CATEGORIES
    throughput_window: WindowKind = "run"
    failed_requests: FailedRequests = "exclude"

    def to_dict(self) -> dict[str, Any]:
        """The definitions as JSON-able values."""
        return asdict(self)
