"""What each metric that a target can name is, in a phrase; docs/metrics.md defines them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

_FROM_SCHEDULE: Final = "from the scheduled time, so with queueing"

MEANINGS: Final[Mapping[str, str]] = {
    "ttft": "time to first token of any kind, from sending the request",
    "ttfo": "time to first output token: the first that is not reasoning",
    "ttfv": "time to first visible content: no reasoning, no tool call",
    "ttfb": "time to first byte of the response",
    "tpot": "time per output token after the first, the mean of each request",
    "itl": "inter-token latency: each gap between two chunks with tokens",
    "latency": "from issuing the request to the complete response",
    "latency_from_schedule": f"latency {_FROM_SCHEDULE}",
    "ttft_from_schedule": f"TTFT {_FROM_SCHEDULE}",
    "ttfo_from_schedule": f"TTFO {_FROM_SCHEDULE}",
    "ttfv_from_schedule": f"TTFV {_FROM_SCHEDULE}",
    "ttfb_from_schedule": f"TTFB {_FROM_SCHEDULE}",
    "last_token": "time to last token, from sending the request",
    "last_token_from_schedule": f"time to last token {_FROM_SCHEDULE}",
    "decode": "time from the first token to the last",
    "held": "how long a request waited for a place under --max-concurrency",
    "issue_lag": "dispatch delay: how late the client issued a request",
    "send_lag": "send delay: from issuing a request to its last byte sent",
    "connect": "time of the TCP handshake",
    "output_tokens": "output tokens of a request",
    "input_tokens": "input tokens of a request",
    "generation_tps": "generation speed of a request: tokens per second after its first token",
    "prompt_tps": "prompt speed of a request: input tokens / TTFT",
    "tps_per_user": "interactivity: output tokens per second that one user sees, 1 / TPOT",
    "qps": "completed requests per second",
    "output_tps": "output tokens per second",
    "total_tps": "input and output tokens per second",
    "tps_per_gpu": "input and output tokens per second and GPU (--gpus)",
    "error": "share of requests that failed, of those that ended",
    "good": "goodput: requests that met all conditions in parentheses",
    "issued": "number of requests that were issued",
    "completed": "number of requests that completed",
    "failed": "number of requests that failed",
    "cancelled": "number of requests that the client cancelled",
}
"""By the names of `rulesets.quantity.METRICS`."""
SCORE: Final = "score of a benchmark"
