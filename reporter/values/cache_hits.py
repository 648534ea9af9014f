"""The share of cached prompt tokens of a run with a target: `cache_hits` in report.json."""

from __future__ import annotations

from lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CacheHits:
    """The share of cached prompt tokens of a run with a target (`--cache-hit`).

    Attributes:
        target: The target.
        planned: The share of a prompt that is its prefix: whole blocks.
        groups: How many prefixes the prompts share.
        prefix_tokens: The length of each.
        block_tokens: The tokens of a block that the prompts were made for.
        measured: The share by the responses' usage, of the measured requests; None where usage lacks it.
        by_server: The share by the server's counters; None without them.
        counts_warmup: Whether `by_server` is of all requests, as usage does not say what the warm-up had.
    """

    target: float
    planned: float
    groups: int
    prefix_tokens: int
    block_tokens: int
    measured: float | None = None
    by_server: float | None = None
    counts_warmup: bool = False
