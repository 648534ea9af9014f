"""The figure of a report that a target speaks of, and how many samples stand behind it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.target import Target

_SUMMARY_KEYS: Final = {"p99.9": "p999"}
"""Statistics that a report spells otherwise."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a report, in the report's own unit.

    Attributes:
        value: None when the report holds none: there were no samples, or the key is not there.
        n: The number of samples behind it: gaps between tokens for `itl`, requests for all others.
    """

    value: float | None
    n: int


def observe(target: Target, report: Mapping[str, Any]) -> Figure:
    """Find the figure that a target bounds. A report holds none of a part of the requests (`where`)."""
    if target.where:
        return Figure(None, 0)
    return _OBSERVE[target.quantity.kind](target, report)


def error_rate(report: Mapping[str, Any]) -> Figure:
    """Failed among those that ended: what was still in flight has neither failed nor not."""
    failed = _count(report, "failed")
    ended = _count(report, "completed") + failed + _count(report, "cancelled")
    return Figure(failed / ended if ended else None, ended)


def completed(report: Mapping[str, Any]) -> Figure:
    """Give the number of requests that succeeded, of those that were issued."""
    issued = _count(report, "issued")
    return Figure(_count(report, "completed") if issued else None, issued)


def window_s(report: Mapping[str, Any]) -> Figure:
    """Give the length of the window in seconds."""
    return Figure(_finite(_section(report, "window").get("duration_s")), _count(report, "completed"))


def _latency(target: Target, report: Mapping[str, Any]) -> Figure:
    summary = _section(report, f"{target.metric}_ms")
    n = summary.get("count") or 0
    return Figure(_finite(summary.get(_SUMMARY_KEYS.get(target.stat, target.stat))) if n else None, n)


def _throughput(target: Target, report: Mapping[str, Any]) -> Figure:
    n = _count(report, "completed")
    return Figure(_finite(_section(report, "throughput").get(target.metric)) if n else None, n)


def _bookkeeping(target: Target, report: Mapping[str, Any]) -> Figure:
    """Give a count. Of a run that issued nothing not even `failed==0` is known."""
    issued = _count(report, "issued")
    return Figure(_count(report, target.metric) if issued else None, issued)


_OBSERVE: Final = {
    "latency": _latency,
    "throughput": _throughput,
    "error": lambda _target, report: error_rate(report),
    "count": _bookkeeping,
}


def _section(report: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    return report.get(key) or {}


def _count(report: Mapping[str, Any], key: str) -> int:
    return _section(report, "counts").get(key) or 0


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
