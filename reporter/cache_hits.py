"""The share of prompt tokens that came from the server's prefix cache, alike in compared runs or a target."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from reporter.number_text import fixed
from reporter.report import Finding
from reporter.values.cache_hits import CacheHits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report

ALIKE_PCT: Final = 5.0
"""Percentage points, up to which two shares are alike."""

REMEDY: Final = "give --salt, or restart the server before each run"


def cached_pct(cached: object, inputs: object, prefix_hit_pct: object) -> float | None:
    """Return the share in percent; None where neither responses nor the server's metrics have it.

    Args:
        cached: Cached prompt tokens, by the responses' usage.
        inputs: Prompt tokens.
        prefix_hit_pct: The share by the server's metrics.
    """
    if isinstance(cached, int) and isinstance(inputs, int) and inputs > 0:
        return round(100.0 * cached / inputs, 1)
    return round(float(prefix_hit_pct), 1) if isinstance(prefix_hit_pct, int | float) else None


MOST_OFF: Final = 0.02
"""How far a measured share may be from its target."""


def with_cache_hits(report: Report, planned: Mapping[str, Any]) -> Report:
    """The report with the measured share of cached tokens, and what there is to say about its target.

    Args:
        report: The report, with the server's side.
        planned: The facts of the dataset on the target.
    """
    tokens, side = report.tokens, report.server_side
    measured = tokens.cached / tokens.input if tokens.cached is not None and tokens.input else None
    whole = None if side is None else side.prefix_hit_pct
    by_server = None if side is None else side.measured_prefix_hit_pct
    hits = CacheHits(
        **planned,
        measured=measured,
        by_server=None if whole is None else (whole if by_server is None else by_server) / 100,
        counts_warmup=whole is not None and by_server is None,
    )
    finding = _missed(hits)
    findings = report.findings if finding is None else [*report.findings, finding]
    return replace(report, cache_hits=hits, findings=findings)


def in_percent(share: float) -> str:
    """A share in percent, with one decimal."""
    return f"{fixed(100 * share, 1)} %"


def _missed(hits: CacheHits) -> Finding | None:
    share = hits.by_server if hits.measured is None else hits.measured
    if share is None:
        return Finding(
            "cache_hit_unknown",
            "warning",
            f"Neither usage nor the server's metrics have cached tokens, so that the target of "
            f"{in_percent(hits.target)} cannot be checked.",
            "Let the server report cached tokens: docs/cache.md names the options of vLLM and SGLang.",
        )
    if abs(share - hits.target) <= MOST_OFF:
        return None
    return Finding(
        "cache_hit_missed",
        "warning",
        f"{in_percent(share)} of the prompt tokens came from the server's prefix cache; the target is "
        f"{in_percent(hits.target)}, and the prompts were made for {in_percent(hits.planned)} in blocks of "
        f"{hits.block_tokens} tokens.",
        "Too few: is the prefix cache on, large enough for all groups, and of this block size? Chat "
        "templates add tokens: give longer --input-tokens, and --tokenizer. Too many: use more prompts, "
        "and --reset-cache.",
    )
