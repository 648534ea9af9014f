"""The evidence on candidates so far: answers, the model's proposals, and costs."""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, NamedTuple

import orjson

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.scenarios import ToolScenario


class Answered(NamedTuple):
    """The answer to a scenario."""

    score: float | None
    correct: bool
    called: str


class Spent(NamedTuple):
    """The cost of requests."""

    calls: int = 0
    tokens: int = 0
    dollars: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """Both together."""
        return Spent(self.calls + other.calls, self.tokens + other.tokens, self.dollars + other.dollars)


@dataclass(frozen=True, slots=True)
class Evaluate:
    """Ask scenarios with the descriptions of a candidate."""

    role: str
    candidate: Descriptions
    scenarios: tuple[ToolScenario, ...]


@dataclass(frozen=True, slots=True)
class Reflect:
    """Ask the reflecting model for better descriptions."""

    prompt: str
    temperature: float | None = None


Step = Evaluate | Reflect


@dataclass(frozen=True, slots=True)
class StepResult:
    """The result of a step.

    Attributes:
        spent: Its cost.
        answers: Of an evaluation, by the scenario's id.
        score: Of an evaluation: the objective of all its answers; None where it cannot be computed.
        tokens: Of an evaluation: the mean input and output tokens; None where they were not counted.
        reply: Of a reflection; None where the request failed.
        folder: The name of the run's folder.
    """

    spent: Spent
    answers: Mapping[str, Answered] = field(default_factory=dict)
    score: float | None = None
    tokens: tuple[float | None, float | None] = (None, None)
    reply: str | None = None
    folder: str = ""


@dataclass(slots=True)
class TrialEvidence:
    """Everything that training has shown."""

    answers: dict[tuple[str, str], Answered] = field(default_factory=dict)
    replies: list[str | None] = field(default_factory=list)

    def add(self, step: Step, result: StepResult) -> None:
        """Add the result of a training step."""
        if isinstance(step, Reflect):
            self.replies.append(result.reply)
            return
        candidate = key_of(step.candidate)
        for scenario in step.scenarios:
            # A request that failed is an answer without a score: asking again would make the budget inexact.
            missing = Answered(None, correct=False, called="no answer")
            self.answers[candidate, scenario.id] = result.answers.get(scenario.id, missing)

    def missing(self, candidate: Descriptions, scenarios: Iterable[ToolScenario]) -> tuple[ToolScenario, ...]:
        """Those that the candidate has not answered."""
        key = key_of(candidate)
        return tuple(scenario for scenario in scenarios if (key, scenario.id) not in self.answers)

    def of(self, candidate: Descriptions, scenarios: Iterable[ToolScenario]) -> list[Answered]:
        """The answers of a candidate, in the order of the scenarios."""
        key = key_of(candidate)
        return [self.answers[key, scenario.id] for scenario in scenarios]

    def mean(self, candidate: Descriptions, scenarios: Sequence[ToolScenario]) -> float | None:
        """The mean score of a candidate; None until all scenarios are answered."""
        if self.missing(candidate, scenarios):
            return None
        return fmean(answer.score or 0.0 for answer in self.of(candidate, scenarios))


def key_of(candidate: Descriptions) -> str:
    """A candidate as a key."""
    return orjson.dumps(candidate, option=orjson.OPT_SORT_KEYS).decode()


@dataclass(slots=True)
class OptimizationBudget:
    """The budget (None for no limit), and the spending so far.

    Calls are known before a step, so that their limit is exact. Tokens and dollars of a step are bounded by
    the most expensive step so far, per call: exact as far as no later step is more expensive per call.
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
