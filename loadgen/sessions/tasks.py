"""The facts of a benchmark, in plain types."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from workloads.workload import Workload


def facts(workload: Workload, data: Path | None = None) -> Mapping[str, Any]:
    """The facts of a benchmark, as JSON values."""
    from workloads.catalog import package_of
    from workloads.needs import estimated_s, needs

    scorers = [
        {
            "name": scorer.name,
            "version": scorer.version,
            "definition": scorer.definition,
            "judge": scorer.judge or None,
            "runs_code": scorer.runs_code,
            "headlines": [headline.name for headline in scorer.headlines],
            "note": scorer.note or None,
        }
        for scorer in workload.scorers
    ]
    return {
        "title": workload.title,
        "plugin": package_of(workload.name) or None,
        "tier": workload.tier,
        "category": workload.category,
        "aliases": aliases_of(workload.name),
        "version": workload.version,
        "questions": workload.source.rows,
        "subsets": {name: source.rows for name, source in workload.subsets.items()},
        "typical": None if workload.typical is None else asdict(workload.typical),
        "estimated_s": estimated_s(workload),
        "needs": [asdict(need) for need in needs(workload, data)],
        "hub": workload.source.hub,
        "licence": workload.source.licence or None,
        "files": list(workload.source.files),
        "options": dict(workload.options),
        "max_tokens": workload.max_tokens,
        "temperature": workload.temperature,
        "groups": list(workload.groups),
        "scorers": scorers,
    }


def aliases_of(name: str) -> list[str]:
    """The other names of a benchmark."""
    from workloads.catalog import aliases

    return [alias for alias, canonical_name in aliases().items() if canonical_name == name]
