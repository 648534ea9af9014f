"""The steps of one variant, in order: training, then the validation of baseline and best.

A generator, which asks nothing itself: the same results lead to the same steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from loadgen.plugins.tool_selection.optimization import attempts_search, training
from loadgen.plugins.tool_selection.optimization.candidate_evidence import Evaluate, key_of
from loadgen.plugins.tool_selection.optimization.decision import OptimizationStatus, Paired, paired

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Mapping

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Step, StepResult
    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.optimization.split import Split
    from loadgen.plugins.tool_selection.optimization.step_budget import OptimizationBudget
    from loadgen.plugins.tool_selection.optimization.training import Trained
    from loadgen.plugins.tool_selection.variant import Variant


@dataclass(frozen=True, slots=True)
class Optimized:
    """The end of a variant.

    Attributes:
        variant: What was optimized.
        status: Whether new descriptions are kept, or why not.
        proposals: How many proposals were made.
        usable: How many of them changed a description.
        descriptions: Those that are kept.
        baseline: The validation of the baseline; None where the budget ended before it.
        validated: The validation of the best of the training; None where there was none, or no budget.
        change: The change between both.
    """

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
        accuracy = f"accuracy {change.accuracy:+.1%} [{low:+.1%}, {high:+.1%}]"
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

    Args:
        baseline: The descriptions to begin with, in the format of the variant.
        split: The training and validation scenarios.
        variant: The objective.
        budget: Common to all variants; both validations are reserved from it.
        proposals: How many proposals are made.
        seed: Of the training and the test.
        optimizer: The search, one of `SEARCHES`.

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
