"""The search for better descriptions by GEPA, as a generator of steps without requests.

GEPA (L. A. Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning", arXiv
2507.19457, 2025) evolves candidates from reflections on their answers. The library calls functions and waits
for their results; here a call that has no result yet ends the call of the library, and becomes a step. With
the result, GEPA runs again from its start and reaches the same place, as its random generator is seeded. So
a search can be interrupted anywhere, and continued from the logs of its runs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.optimization.candidate_evidence import (
    Evaluate,
    Reflect,
    TrialEvidence,
    key_of,
)
from loadgen.plugins.tool_selection.optimization.descriptions import proposed_in
from loadgen.plugins.tool_selection.optimization.prompt import reflection_prompt
from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Answered, Step, StepResult
    from loadgen.plugins.tool_selection.optimization.descriptions import Descriptions
    from loadgen.plugins.tool_selection.scenarios import ToolScenario
    from loadgen.plugins.tool_selection.selection_task import Variant

MINIBATCH: Final = 12
"""Scenarios that a proposal is made from, and first compared on."""

_IDLE_ITERATIONS: Final = 4
"""Iterations for each proposal: one whose scenarios were all answered correctly makes no proposal."""


@dataclass(frozen=True, slots=True)
class Trained:
    """The end of a search."""

    best: Descriptions
    proposals: int
    usable: int


class _Unanswered(BaseException):
    """A step without a result. Not an `Exception`, of which GEPA takes some for the end of one iteration."""

    def __init__(self, step: Step) -> None:
        self.step = step


def train(
    baseline: Descriptions,
    training: Sequence[ToolScenario],
    variant: Variant,
    *,
    proposals: int,
    seed: int,
) -> Generator[Step, StepResult | None, Trained]:
    """Search for better descriptions.

    Yields:
        The next step. Send its result, or None to end the search before it.
    """
    evidence = TrialEvidence()
    candidates = {key_of(baseline): baseline}
    while True:
        search = _Search(training, variant, proposals, evidence, candidates)
        try:
            search.run(baseline, seed)
        except _Unanswered as unanswered:
            result = yield unanswered.step
            if result is None:
                return best_of(evidence, candidates, training, search.usable)
            evidence.add(unanswered.step, result)
        else:
            return best_of(evidence, candidates, training, search.usable)


def best_of(
    evidence: TrialEvidence,
    candidates: Mapping[str, Descriptions],
    training: Sequence[ToolScenario],
    usable: int,
) -> Trained:
    """The candidate with the highest mean; of several the one that was first."""
    means = {key: evidence.mean(candidate, training) for key, candidate in candidates.items()}
    best = max(candidates, key=lambda key: -1.0 if means[key] is None else means[key] or 0.0)
    return Trained(candidates[best], len(evidence.replies), usable)


class _Search:
    """One run of GEPA over the results so far, as a GEPA adapter."""

    propose_new_texts = None

    def __init__(
        self,
        training: Sequence[ToolScenario],
        variant: Variant,
        proposals: int,
        evidence: TrialEvidence,
        candidates: dict[str, Descriptions],
    ) -> None:
        self.usable = 0
        self._training = training
        self._variant = variant
        self._proposals = proposals
        self._evidence = evidence
        self._candidates = candidates
        self._reflections = 0

    def run(self, baseline: Descriptions, seed: int) -> None:
        with importing("loadgen optimize tools", "optimize"):
            from gepa.api import optimize

        optimize(
            dict(baseline),
            list(self._training),
            adapter=self,  # type: ignore[arg-type]  # its attributes are optional in fact, not in its type
            custom_candidate_proposer=self._propose,  # type: ignore[arg-type]  # its arguments have other names
            module_selector="all",
            reflection_minibatch_size=min(MINIBATCH, len(self._training)),
            stop_callbacks=self._is_over,  # type: ignore[arg-type]  # as above
            logger=_Silent(),
            cache_evaluation=True,
            seed=seed,
        )

    def evaluate(
        self,
        batch: list[ToolScenario],
        candidate: Descriptions,
        capture_traces: bool = False,  # noqa: FBT001, FBT002 (GEPA's protocol)
    ) -> Any:
        """The scores of a candidate, which GEPA asks for."""
        from gepa.core.adapter import EvaluationBatch

        self._candidates.setdefault(key_of(candidate), dict(candidate))
        if missing := self._evidence.missing(candidate, batch):
            raise _Unanswered(Evaluate("training", dict(candidate), missing))
        answers = self._evidence.of(candidate, batch)
        traces = list(zip(batch, answers, strict=True)) if capture_traces else None
        return EvaluationBatch(answers, [answer.score or 0.0 for answer in answers], traces)

    def make_reflective_dataset(
        self, candidate: Descriptions, evaluated: Any, components: list[str]
    ) -> Mapping[str, Sequence[Mapping[str, Any]]]:
        """The material for a proposal: equal answers for every tool."""
        del candidate
        examples = [{"scenario": scenario, "answer": answer} for scenario, answer in evaluated.trajectories]
        return dict.fromkeys(components, examples)

    def _propose(
        self,
        candidate: Descriptions,
        dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components: list[str],
    ) -> Descriptions:
        answered: list[tuple[ToolScenario, Answered]] = [
            (example["scenario"], example["answer"]) for example in dataset[components[0]]
        ]
        number, self._reflections = self._reflections, self._reflections + 1
        if number == len(self._evidence.replies):
            variant = self._variant
            raise _Unanswered(Reflect(reflection_prompt(variant.name, variant.form, candidate, answered)))
        changed = proposed_in(self._evidence.replies[number] or "", candidate, self._variant.form)
        self.usable += bool(changed)
        return changed

    def _is_over(self, state: Any) -> bool:
        return self._reflections >= self._proposals or state.i >= _IDLE_ITERATIONS * self._proposals


class _Silent:
    """GEPA's log is replaced by the logs of the runs."""

    def log(self, message: str) -> None:
        """Drop a message."""
