"""Rules over runs whose scores are not certain."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from rulesets.demands import Sweep
from rulesets.sweeps.sweep_evaluation import evaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rulesets.evaluators.rule_row import VerdictRow
    from rulesets.sweeps.point import Point
    from rulesets.verdict import Verdict

    Make = Callable[..., Point]
    Judged = Callable[..., Verdict]


def check(name: str, parameters: Any, points: Sequence[Point]) -> VerdictRow:
    """Judge points by one check."""
    (row,) = evaluate(Sweep(checks=((name, parameters),)), points)
    return row


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (("PASS", "PASS", "PASS", "PASS"), "PASS"),
        (("PASS", "INCONCLUSIVE", "PASS", "PASS"), "INCONCLUSIVE"),
        (("PASS", "INCONCLUSIVE", "FAIL", "PASS"), "FAIL"),
    ],
)
@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("accuracy_per_region", 1),
        ("accuracy_per_region", {"exactly": 1}),
        ("accuracy_runs", {"metric": "accuracy.ROUGE1", "runs": 4, "combine": "each"}),
        ("accuracy_runs", {"metric": "accuracy.ROUGE1", "runs": 4, "combine": "mean"}),
    ],
)
def test_a_score_that_is_not_certain_is_not_missed(
    point: Make, judged: Judged, name: str, parameters: Any, statuses: tuple[str, ...], expected: str
) -> None:
    """It leaves rules over runs inconclusive; one that is missed still fails them."""
    points = []
    for concurrency, status in zip((8, 16, 64, 1024), statuses, strict=True):
        verdict = judged(score=40, least=41 if status == "FAIL" else 30)
        row = replace(verdict.rows[0], status=status)
        points.append(point(concurrency, verdict=replace(verdict, rows=(row,))))
    if name == "accuracy_runs" and parameters["combine"] == "mean" and expected == "FAIL":
        expected = "INCONCLUSIVE"  # the score that is not certain may lift the mean
    assert check(name, parameters, points).status == expected


def test_a_region_needs_one_certain_score(point: Make, judged: Judged) -> None:
    """Another point of the same region passes in place of one whose score is not certain."""
    right, unclear = judged(accuracy="PASS"), judged(accuracy="INCONCLUSIVE")
    points = [point(c, verdict=right) for c in (8, 16, 64, 1024)]
    assert check("accuracy_per_region", 1, [*points, point(512, verdict=unclear)]).status == "PASS"
    nowhere = [*points[:2], point(64, verdict=unclear), *points[3:]]
    assert "concurrency 64 is not certain" in check("accuracy_per_region", 1, nowhere).reason
