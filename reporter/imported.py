"""What an imported run can tell: start times of requests, and figures of another program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from reporter.json_values import members

if TYPE_CHECKING:
    from collections.abc import Mapping

HERE: Final[Mapping[str, str]] = {
    "TTFT": "request sent → first token",
    "TPOT": "(last token - first token) ÷ (n - 1)",
    "ITL": "each gap between chunks with tokens",
    "latency": "request issued → response complete",
    "output tokens": "usage, else a tokenizer's, else chunks",
    "percentiles": "interpolated",
    "throughput": "completions or arrivals in the window ÷ its duration",
    "std": "of the sample",
}
"""The definitions of docs/metrics.md, in words: what other programs may define in another way."""


def is_measured(imported: Mapping[str, Any] | None) -> bool:
    """Whether this program, or an imported load generator, measured requests; a harness measures none."""
    return imported is None or imported.get("measured") is True


def has_starts(imported: Mapping[str, Any] | None) -> bool:
    """Whether the start times of requests are known."""
    return imported is None or imported.get("starts") is not False


def own_figures(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The imported program's own figures, of a run without records of requests; empty for other runs."""
    return figures_of(members(report.get("run")).get("imported"))


def figures_of(imported: object) -> Mapping[str, Any]:
    """The figures in `run.imported` of a report."""
    return members(members(imported).get("figures"))


def definitions_of(report: Mapping[str, Any]) -> Mapping[str, Any]:
    """The definitions of a run's figures, in words; a load generator's own where they differ."""
    theirs = members(members(members(report.get("run")).get("imported")).get("definitions"))
    return {**HERE, **theirs}
