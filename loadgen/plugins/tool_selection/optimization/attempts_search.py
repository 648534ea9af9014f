"""The search of DSPy's COPRO, as a generator of steps: proposals are made from the scores of earlier ones.

DSPy 3.4.1, `dspy/teleprompt/copro_optimizer.py`. In each round a model proposes descriptions: in the first
from the baseline alone, later from the best attempts so far, in increasing order of their scores. Each new
candidate answers all training scenarios. The package itself is not used: it brings 68 others, optimizes the
instructions of its own programs, and asks through its own clients.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.tool_selection.optimization.candidate_evidence import (
    Evaluate,
    Reflect,
    TrialEvidence,
    key_of,
)
from loadgen.plugins.tool_selection.optimization.descriptions import proposed_in
from loadgen.plugins.tool_selection.optimization.prompt import attempts_prompt
from loadgen.plugins.tool_selection.optimization.training import Trained, best_of

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Step, StepResult
    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.scenarios import ToolScenario
    from loadgen.plugins.tool_selection.selection_task import Variant

ROUNDS: Final = 3
"""COPRO's `depth`."""

TEMPERATURE: Final = 1.4
"""COPRO's `init_temperature`: several proposals are made from one prompt."""


def train(
    baseline: Descriptions,
    training: Sequence[ToolScenario],
    variant: Variant,
    *,
    proposals: int,
    seed: int,
) -> Generator[Step, StepResult | None, Trained]:
    """Search for better descriptions; see `loadgen.plugins.tool_selection.optimization.training.train`.

    Of `proposals`, as many are made as equal rounds take: with a breadth of b candidates in each of three
    rounds, the baseline among those of the first, 3 b - 1.
    """
    del seed  # nothing is drawn
    breadth = max(2, (proposals + 1) // ROUNDS)
    evidence, usable = TrialEvidence(), 0
    candidates = {key_of(baseline): dict(baseline)}
    latest = [baseline]
    for round_number in range(ROUNDS):
        if not (yield from _evaluated(latest, training, evidence)):
            break
        latest, best = [], best_of(evidence, candidates, training, usable).best
        prompt = attempts_prompt(
            variant.name, variant.form, _attempts(evidence, candidates, training, breadth)
        )
        for _ in range(breadth - (round_number == 0)):
            step = Reflect(prompt, TEMPERATURE)
            result = yield step
            if result is None:
                return best_of(evidence, candidates, training, usable)
            evidence.add(step, result)
            changed = proposed_in(result.reply or "", best, variant.form)
            usable += bool(changed)
            candidate = {**best, **changed}
            if key_of(candidate) not in candidates:
                candidates[key_of(candidate)] = candidate
                latest.append(candidate)
    else:
        yield from _evaluated(latest, training, evidence)
    return best_of(evidence, candidates, training, usable)


def _evaluated(
    latest: Sequence[Descriptions], training: Sequence[ToolScenario], evidence: TrialEvidence
) -> Generator[Step, StepResult | None, bool]:
    """Let candidates answer all training scenarios; whether none was cut short by the budget."""
    for candidate in latest:
        step = Evaluate("training", dict(candidate), tuple(training))
        result = yield step
        if result is None:
            return False
        evidence.add(step, result)
    return True


def _attempts(
    evidence: TrialEvidence,
    candidates: dict[str, Descriptions],
    training: Sequence[ToolScenario],
    limit: int,
) -> list[tuple[Descriptions, float]]:
    """The best candidates with mean scores, the best one last."""
    scored = [(candidate, evidence.mean(candidate, training)) for candidate in candidates.values()]
    measured = [(candidate, mean) for candidate, mean in scored if mean is not None]
    return sorted(measured, key=lambda attempt: attempt[1])[-limit:]
