"""The budget of an optimization: a step begins only if the rest of the budget suffices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from loadgen.plugins.tool_selection.optimization.candidate_evidence import Spent

if TYPE_CHECKING:
    from loadgen.plugins.tool_selection.optimization.candidate_evidence import StepResult


@dataclass(slots=True)
class OptimizationBudget:
    """The budget, and the spending so far.

    Calls are known before a step, so that their limit is exact. Tokens and dollars of a step are bounded by
    the most expensive step so far, per call: exact as far as no later step is more expensive per call.

    Attributes:
        calls: The most requests; None for no limit.
        tokens: The most tokens of input and output.
        dollars: The highest cost.
        spent: What all steps have cost.
    """

    calls: int | None = None
    tokens: int | None = None
    dollars: float | None = None
    spent: Spent = field(default_factory=Spent)
    _highest: Spent = field(default_factory=Spent)

    def add(self, result: StepResult) -> None:
        """Add the cost of a step."""
        cost = result.spent
        self.spent = self.spent.plus(cost)
        if cost.calls:
            self._highest = Spent(
                1,
                max(self._highest.tokens, math.ceil(cost.tokens / cost.calls)),
                max(self._highest.dollars, cost.dollars / cost.calls),
            )

    def allows(self, calls: int) -> bool:
        """Whether this number of further calls cannot exceed the budget."""
        return (
            (self.calls is None or self.spent.calls + calls <= self.calls)
            and (self.tokens is None or self.spent.tokens + calls * self._highest.tokens <= self.tokens)
            and (self.dollars is None or self.spent.dollars + calls * self._highest.dollars <= self.dollars)
        )
