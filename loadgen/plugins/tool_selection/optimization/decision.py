"""Whether the best descriptions of the training are kept: by the validation scenarios, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

from rulesets.statistics.paired import difference, newcombe, sign_flips

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Answered

LEVEL: Final = 0.95
"""Of the intervals. Descriptions are kept where chance alone gives their gain in at most half of the rest."""


class OptimizationStatus(StrEnum):
    """The decision on the descriptions of a variant."""

    IMPROVED = "improved"
    """The gain on the validation scenarios is significant: the new descriptions are kept."""
    NOT_SIGNIFICANT = "not significant"
    """Chance may explain the gain, or there is none: the baseline is kept."""
    NO_BETTER_PROPOSAL = "no better proposal"
    """No proposal was better than the baseline in training, so nothing was validated."""
    BUDGET = "budget"
    """The budget ended the session before the validation."""
    INTERRUPTED = "interrupted"
    """The session was interrupted."""


@dataclass(frozen=True, slots=True)
class Paired:
    """The change from the baseline to new descriptions, on equal scenarios.

    Attributes:
        count: The scenarios that both have a score for.
        accuracy: The difference of the shares of correct answers.
        accuracy_interval: Of it: Newcombe's, at `LEVEL`.
        score: The mean difference of the scores of single answers.
        score_interval: Of it: Student's t, at `LEVEL`.
        p: Of no gain in the score, one-sided: random sign flips.
    """

    count: int
    accuracy: float
    accuracy_interval: tuple[float, float]
    score: float
    score_interval: tuple[float, float]
    p: float

    @property
    def is_significant(self) -> bool:
        """Whether the gain is beyond chance."""
        return self.score > 0 and self.p <= (1 - LEVEL) / 2


def paired(baseline: Mapping[str, Answered], changed: Mapping[str, Answered], seed: int) -> Paired | None:
    """Compare answers by scenario; None with fewer than two scenarios that both have scores for.

    Args:
        baseline: The answers with the descriptions of before, by the scenario's id.
        changed: Those with the new descriptions.
        seed: Of the test.
    """
    common = [
        (now, before)
        for name, now in changed.items()
        if (before := baseline.get(name)) and now.score is not None and before.score is not None
    ]
    apart = difference([now.score or 0.0 for now, _ in common], [before.score or 0.0 for _, before in common])
    if apart is None:
        return None
    both = sum(now.correct and before.correct for now, before in common)
    gained = sum(now.correct and not before.correct for now, before in common)
    lost = sum(before.correct and not now.correct for now, before in common)
    differences = [(now.score or 0.0) - (before.score or 0.0) for now, before in common]
    return Paired(
        count=len(common),
        accuracy=(gained - lost) / len(common),
        accuracy_interval=newcombe(both, gained, lost, len(common) - both - gained - lost, LEVEL),
        score=apart.mean,
        score_interval=apart.interval(len(common), LEVEL),
        p=sign_flips(differences, seed),
    )
