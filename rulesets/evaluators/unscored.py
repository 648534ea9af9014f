"""Scores that are not final yet: some answers wait for a judge model, or could not be judged.

Such a score never passes. It fails where it would fail whatever these answers score: with all of them right,
and with all of them wrong, as they count now.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from rulesets.evaluators.rule_row import RuleOutcome
from rulesets.quantity import COMPARE, SCORES

if TYPE_CHECKING:
    from rulesets.evidence import Accuracy, Evidence
    from rulesets.target import Target


def evaluate(target: Target, run: Evidence) -> RuleOutcome | None:
    """Evaluate a target on a score that is not final; None for a final or absent score.

    Raises:
        Unanswerable: The name of the score may mean several.
    """
    score = run.accuracy(target.metric.removeprefix(SCORES))
    if score is None or not score.unscored:
        return None
    name, best = target.metric.removeprefix(SCORES), score.best
    if score.unscored == score.n and score.value is None:
        reason = f"{name} is not known: none of {score.n:,} answers has a score"
    else:
        reason = f"{name} is not known: {score.unscored:,} of {score.n:,} answers have no score"
    if best is None or any(COMPARE[target.op](end, target.bound) for end in (_worst(score), best)):
        return RuleOutcome(
            "INCONCLUSIVE", score.value, score.n, "lower bound", reason=reason, remedy=score.remedy
        )
    return RuleOutcome(
        "FAIL",
        score.value,
        score.n,
        "lower bound",
        reason=f"{reason}; were they all right it would be {best:.6g}; "
        f"required: {target.op} {target.value:.6g}",
    )


def _worst(score: Accuracy) -> float:
    """The score if every unscored answer were wrong; 0 without any scored answer."""
    return 0.0 if score.value is None else score.value
