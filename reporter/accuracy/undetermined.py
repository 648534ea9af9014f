"""Scores that failures of graders or judges leave open: between two figures, or unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reporter.report import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reporter.values.task_score import TaskScore

CODE = "score_undetermined"


def undetermined(accuracy: Iterable[TaskScore]) -> list[TaskScore]:
    """Those scores that are open because answers could not be judged, or because a judge failed.

    Answers that wait for a judge that was not named are not among the reasons: they were left open on
    purpose.
    """
    return [score for score in accuracy if score.unscored and _failures(score) and score.value != score.best]


def findings(accuracy: Iterable[TaskScore]) -> list[Finding]:
    """A warning for each undetermined score."""
    return [_finding(score) for score in undetermined(accuracy)]


def _failures(score: TaskScore) -> int:
    """How many samples could not be judged."""
    pending = score.judge_pending if score.judge_model is not None else 0
    return score.infra_error + pending


def _finding(score: TaskScore) -> Finding:
    failures, issued = _failures(score), score.issued
    return Finding(
        CODE,
        "warning",
        f"{score.task}: the score is {_bounds(score)}, because {failures:,} of {issued:,} samples "
        f"could not be scored by {score.scorer}.",
        "See the notes of the score. `loadgen score` grades the stored answers again.",
    )


def _bounds(score: TaskScore) -> str:
    """The bounds of a score, in words."""
    value, best = score.value, score.best
    if value is None or best is None:
        return "unknown"
    low, high = sorted((value, best))
    return f"between {low:.4f} and {high:.4f}"
