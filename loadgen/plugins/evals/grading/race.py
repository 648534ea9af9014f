"""RACE: the score of a report next to a reference report, from a judge's marks for each criterion.

The definition is Ayanami0730/deep_research_bench at 214741e4, `utils/score_calculator.py` and
`deepresearch_bench_race.py`: a criterion that the judge words otherwise is matched without case, then by one
being a part of the other, else it has the mean weight of its dimension.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from statistics import fmean
from typing import Any, Final

import orjson

from lazy_dataclasses import dataclass

DIMENSIONS: Final = ("comprehensiveness", "insight", "instruction_following", "readability")

_FENCED: Final = re.compile(r"```json\s*([\s\S]*?)\s*```")


@dataclass(frozen=True, slots=True)
class RaceScore:
    """How a report compares with the reference; 0.5 is as good."""

    overall: float
    dimensions: Mapping[str, float]


def marks_in(reply: str) -> dict[str, Any] | None:
    """The judge's JSON object with all four dimensions; None where the reply has none."""
    fenced = _FENCED.search(reply)
    braces = reply[reply.find("{") : reply.rfind("}") + 1]
    for candidate in (reply, fenced[1] if fenced else "", braces):
        try:
            value = orjson.loads(candidate)
        except orjson.JSONDecodeError:
            continue
        if isinstance(value, dict) and all(dimension in value for dimension in DIMENSIONS):
            return value
    return None


def race(marks: Mapping[str, Any], criteria: Mapping[str, Any]) -> RaceScore:
    """Weigh the marks of a judge.

    Args:
        marks: By dimension a list of `criterion`, `article_1_score` and `article_2_score`; the first article
            is the report.
        criteria: The task's `dimension_weight`, and by dimension in `criterions` a list of `criterion` and
            `weight`.
    """
    totals = [0.0, 0.0]
    dimensions = dict.fromkeys(DIMENSIONS, 0.0)
    for dimension, items in marks.items():
        listed = criteria["criterions"].get(dimension, ())
        weights = {item["criterion"]: float(item["weight"]) for item in listed}
        if dimension not in criteria["dimension_weight"] or not weights or not isinstance(items, list):
            continue
        means = _means(items, weights)
        if dimension in dimensions:
            dimensions[dimension] = _share(*means)
        for place, mean in enumerate(means):
            totals[place] += mean * float(criteria["dimension_weight"][dimension])
    return RaceScore(_share(*totals), dimensions)


def _means(items: list[Any], weights: Mapping[str, float]) -> tuple[float, float]:
    """The weighted means of a dimension's marks, of the report and of the reference."""
    sums = [0.0, 0.0]
    total = 0.0
    is_compared = False
    for item in items:
        if not isinstance(item, Mapping):
            continue
        name = item.get("criterion")
        first = item.get("article_1_score", item.get("target_score"))
        try:
            scores = [None if mark is None else float(mark) for mark in (first, item.get("article_2_score"))]
        except (TypeError, ValueError):
            continue
        # Whether the reference counts is decided by the last item, as in the definition.
        is_compared = scores[1] is not None
        if not isinstance(name, str) or not name.strip() or scores[0] is None:
            continue
        weight = _weight(name.strip(), weights)
        total += weight
        sums[0] += scores[0] * weight
        sums[1] += (scores[1] or 0.0) * weight
    if total <= 0:
        return 0.0, 0.0
    return sums[0] / total, sums[1] / total if is_compared else 0.0


def _weight(name: str, weights: Mapping[str, float]) -> float:
    if name in weights:
        return weights[name]
    lowered = name.lower()
    for criterion, weight in weights.items():
        if criterion.lower() == lowered:
            return weight
    for criterion, weight in weights.items():
        if lowered in criterion.lower() or criterion.lower() in lowered:
            return weight
    return fmean(weights.values())


def _share(report: float, reference: float) -> float:
    return report / (report + reference) if report + reference > 0 else 0.0
