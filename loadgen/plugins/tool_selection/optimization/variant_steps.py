"""The steps of one variant, in order: training, then the validation of baseline and best.

A generator, which asks nothing itself: the same results lead to the same steps. Whether the best descriptions
are kept is decided by the validation scenarios, pair by pair.
"""

from __future__ import annotations

from enum import StrEnum
from random import Random
from typing import TYPE_CHECKING, Final, NamedTuple

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.optimization import attempts_search, training
from loadgen.plugins.tool_selection.optimization.candidate_evidence import Evaluate, key_of
from loadgen.sessions.errors import UsageError
from rulesets.statistics.paired import difference, newcombe, sign_flips

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping, Sequence

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import (
        Answered,
        OptimizationBudget,
        Step,
        StepResult,
    )
    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.optimization.training import Trained
    from loadgen.plugins.tool_selection.scenarios import ToolScenario
    from loadgen.plugins.tool_selection.selection_task import Variant


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
    """Compare answers by scenario; None with fewer than two scenarios that both have scores for."""
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


class Split(NamedTuple):
    """Two sets of scenarios without a common one, each in the order of the file."""

    training: tuple[ToolScenario, ...]
    validation: tuple[ToolScenario, ...]


def split(scenarios: Sequence[ToolScenario], share: float, seed: int) -> Split:
    """Draw the validation scenarios from every level in proportion.

    Raises:
        UsageError: One of the sets would be empty.
    """
    random = Random(seed)  # noqa: S311 (a draw, not a secret)
    by_level: dict[str, list[str]] = {}
    for scenario in scenarios:
        by_level.setdefault(scenario.level, []).append(scenario.id)
    # Shuffled by level and interleaved by their rank in it: a prefix has each level in proportion.
    ranked = []
    for level, ids in sorted(by_level.items()):
        random.shuffle(ids)
        ranked += [((rank + 0.5) / len(ids), level, name) for rank, name in enumerate(ids)]
    count = round(share * len(scenarios))
    if not 0 < count < len(scenarios):
        raise UsageError(
            f"--validation-share {share:g} of {len(scenarios)} scenarios leaves no scenario for "
            f"{'validation' if count == 0 else 'training'}: choose another share, or add scenarios"
        )
    chosen = {name for _, _, name in sorted(ranked)[:count]}
    return Split(
        tuple(scenario for scenario in scenarios if scenario.id not in chosen),
        tuple(scenario for scenario in scenarios if scenario.id in chosen),
    )


@dataclass(frozen=True, slots=True)
class Optimized:
    """The end of a variant."""

    variant: Variant
    status: OptimizationStatus
    proposals: int
    usable: int
    descriptions: Descriptions
    baseline: StepResult | None = None
    validated: StepResult | None = None
    change: Paired | None = None

    @property
    def message(self) -> str:
        """The result in a sentence."""
        name, change = self.variant.name, self.change
        tried = f"{self.proposals} proposal{'s' * (self.proposals != 1)}, {self.usable} usable"
        if change is None:
            return f"{name}: {self.status}; the baseline is kept ({tried})"
        (low, high), (score_low, score_high) = change.accuracy_interval, change.score_interval
        conclusion = "kept" if change.is_significant else "not significant: the baseline is kept"
        accuracy = f"accuracy {100 * change.accuracy:+.1f} % [{100 * low:+.1f} %, {100 * high:+.1f} %]"
        score = f"score per scenario {change.score:+.3f} [{score_low:+.3f}, {score_high:+.3f}]"
        return f"{name}: {accuracy}, {score}, p = {change.p:.2g}: {conclusion} ({tried})"


SEARCHES: Final[Mapping[str, Callable[..., Generator[Step, StepResult | None, Trained]]]] = {
    "gepa": training.train,
    "copro": attempts_search.train,
}
"""The searches by the name of the optimizer."""


def optimize(
    baseline: Descriptions,
    split: Split,
    variant: Variant,
    budget: OptimizationBudget,
    *,
    proposals: int,
    seed: int,
    optimizer: str = "gepa",
) -> Generator[Step, StepResult, Optimized]:
    """Optimize descriptions for one variant.

    Yields:
        The next step; send its result.
    """
    validation = 2 * len(split.validation)
    search = SEARCHES[optimizer](baseline, split.training, variant, proposals=proposals, seed=seed)
    trained = yield from _train(search, budget, reserved=validation)
    is_changed = key_of(trained.best) != key_of(baseline)
    if not budget.allows(validation if is_changed else len(split.validation)):
        return Optimized(variant, OptimizationStatus.BUDGET, trained.proposals, trained.usable, baseline)
    before = yield from _step(Evaluate("baseline", baseline, split.validation), budget)
    if not is_changed:
        return Optimized(
            variant,
            OptimizationStatus.NO_BETTER_PROPOSAL,
            trained.proposals,
            trained.usable,
            baseline,
            before,
        )
    after = yield from _step(Evaluate("validation", trained.best, split.validation), budget)
    change = paired(before.answers, after.answers, seed)
    is_kept = change is not None and change.is_significant
    return Optimized(
        variant,
        OptimizationStatus.IMPROVED if is_kept else OptimizationStatus.NOT_SIGNIFICANT,
        trained.proposals,
        trained.usable,
        trained.best if is_kept else baseline,
        before,
        after,
        change,
    )


def _train(
    search: Generator[Step, StepResult | None, Trained], budget: OptimizationBudget, *, reserved: int
) -> Generator[Step, StepResult, Trained]:
    """The steps of the training that the budget allows."""
    result: StepResult | None = None
    try:
        step = next(search)
        while True:
            calls = len(step.scenarios) if isinstance(step, Evaluate) else 1
            result = (yield from _step(step, budget)) if budget.allows(calls + reserved) else None
            step = search.send(result)
    except StopIteration as ended:
        trained: Trained = ended.value
        return trained


def _step(step: Step, budget: OptimizationBudget) -> Generator[Step, StepResult, StepResult]:
    result = yield step
    budget.add(result)
    return result
