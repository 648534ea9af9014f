"""The load in the terms of mlcommons/endpoints, and the measuring program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.report import Report

_PATTERNS: Final[Mapping[str, str]] = {
    "closed": "concurrency",
    "offline": "max_throughput",
}
"""The patterns that it knows; every other one keeps our name."""


def measured_by(report: Report) -> str:
    """This program with version, as the measuring program."""
    return f"llm-loadgen {report.run.versions.get('llm-loadgen') or 'of an unknown version'}"


def pattern(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The load pattern with parameters."""
    load = settings.get("load") or {}
    kind = str(load.get("kind"))
    rate_or_concurrency = {"target_qps": load.get("rate"), "target_concurrency": load.get("concurrency")}
    return {
        "type": _PATTERNS.get(kind, kind),
        **{name: value for name, value in rate_or_concurrency.items() if value is not None},
    }


def issued(report: Report) -> int:
    """The measured requests; one that was asked again by a later segment counts once."""
    return report.counts.issued - report.counts.abandoned


def is_offline(settings: Mapping[str, Any]) -> bool:
    """Whether everything was asked at once."""
    return (settings.get("load") or {}).get("kind") == "offline"


def seeds(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The seeds of arrivals, and of which sample is asked when. A log of old has one for both."""
    seed, schedule = settings.get("seed"), settings.get("schedule_seed")
    return {
        "scheduler_random_seed": seed if schedule is None else schedule,
        "dataloader_random_seed": seed,
    }
