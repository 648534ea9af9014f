"""Optimizing descriptions against a model in this process, whose choices depend on known words."""

from __future__ import annotations

import re
from random import Random
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.plugins.tool_selection.optimization.candidate_evidence import (
    Answered,
    Evaluate,
    OptimizationBudget,
    Reflect,
    Spent,
    StepResult,
)
from loadgen.plugins.tool_selection.optimization.descriptions import (
    LONGEST,
    descriptions_of,
    parts_of,
    proposed_in,
    to_yaml,
)
from loadgen.plugins.tool_selection.optimization.variant_steps import OptimizationStatus, optimize, split
from loadgen.plugins.tool_selection.scenarios import ToolScenario, get_benchmark_scenarios
from loadgen.plugins.tool_selection.selection_task import VARIANTS
from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Step
    from loadgen.plugins.tool_selection.optimization.variant_steps import Optimized

SCENARIOS = get_benchmark_scenarios()
SPLIT = split(SCENARIOS, 1 / 3, seed=0)
VARIANT = VARIANTS["maximum_accuracy"]
BASELINE = descriptions_of(load_tool_set("4-tool"), VARIANT.form)


class Model:
    """Right with a probability that only the word `exactly` in a description raises."""

    def __init__(self, seed: int, *, usual: float = 0.6, with_word: float = 0.95) -> None:
        self.steps: list[Step] = []
        self._random = Random(seed)  # noqa: S311 (a simulation)
        self._usual, self._with_word = usual, with_word

    def __call__(self, step: Step) -> StepResult:
        """Answer a step."""
        self.steps.append(step)
        if isinstance(step, Reflect):
            word = self._random.choice(["quickly", "exactly", "always"])
            reply = {tool: {"what": f"{parts_of(text)['what']} {word}"} for tool, text in BASELINE.items()}
            return StepResult(Spent(1, 900), reply=orjson.dumps(reply).decode())
        has_word = any("exactly" in text for text in step.candidate.values())
        share = self._with_word if has_word else self._usual
        answers = {}
        for scenario in step.scenarios:
            correct = self._random.random() < share
            answers[scenario.id] = Answered(float(correct), correct, "some_tool")
        return StepResult(Spent(len(answers), 500 * len(answers)), answers)


OPTIMIZERS = pytest.mark.parametrize("optimizer", ["gepa", "copro"])


def optimized(
    model: Model,
    *,
    seed: int = 0,
    proposals: int = 6,
    budget: OptimizationBudget | None = None,
    optimizer: str = "gepa",
) -> Optimized:
    """Optimize against a model."""
    steps = optimize(
        *(BASELINE, SPLIT, VARIANT, budget or OptimizationBudget()),
        proposals=proposals,
        seed=seed,
        optimizer=optimizer,
    )
    try:
        step = next(steps)
        while True:
            step = steps.send(model(step))
    except StopIteration as end:
        outcome: Optimized = end.value
        return outcome


@OPTIMIZERS
def test_the_words_that_matter_are_kept(optimizer: str) -> None:
    """With 18 proposals, of which a third has the word."""
    model = Model(1)
    outcome = optimized(model, proposals=18, optimizer=optimizer)
    assert outcome.status is OptimizationStatus.IMPROVED
    assert outcome.change is not None
    assert outcome.change.accuracy_interval[0] > 0
    assert any("exactly" in text for text in outcome.descriptions.values())


@OPTIMIZERS
def test_no_proposal_is_made_from_a_validation_scenario(optimizer: str) -> None:
    """Neither a prompt nor a training run has one, and both validations ask all of them."""
    model = Model(2)
    optimized(model, proposals=18, optimizer=optimizer)
    validation = {scenario.id for scenario in SPLIT.validation}
    asks = [scenario.ask for scenario in SPLIT.validation]
    trained = [step for step in model.steps if isinstance(step, Evaluate) and step.role == "training"]
    decided = [step for step in model.steps if isinstance(step, Evaluate) and step.role != "training"]
    prompts = [step.prompt for step in model.steps if isinstance(step, Reflect)]
    assert len(prompts) == (18 if optimizer == "gepa" else 17)
    assert not any(f"Request: {ask}\n" in prompt for ask in asks for prompt in prompts)
    assert not validation & {scenario.id for step in trained for scenario in step.scenarios}
    assert [{scenario.id for scenario in step.scenarios} for step in decided] == [validation] * 2


@pytest.mark.slow
@OPTIMIZERS
def test_the_baseline_is_kept_where_descriptions_do_not_matter(optimizer: str) -> None:
    """In 95 of 100 seeds at least: a gain by chance is kept in at most 2.5 % of the sessions."""
    outcomes = (optimized(Model(seed, with_word=0.6), seed=seed, optimizer=optimizer) for seed in range(100))
    unchanged = [outcome.status is not OptimizationStatus.IMPROVED for outcome in outcomes]
    assert sum(unchanged) >= 95


@OPTIMIZERS
def test_the_same_answers_lead_to_the_same_steps(optimizer: str) -> None:
    """So a session can be continued from its logs."""
    first, again = Model(3), Model(3)
    assert optimized(first, optimizer=optimizer) == optimized(again, optimizer=optimizer)
    assert first.steps == again.steps


@OPTIMIZERS
@pytest.mark.parametrize("calls", [300, 377, 500])
def test_the_budget_of_calls_is_not_exceeded(calls: int, optimizer: str) -> None:
    """And what is left is not enough for the next step."""
    budget = OptimizationBudget(calls=calls)
    outcome = optimized(Model(4), proposals=54, budget=budget, optimizer=optimizer)
    assert budget.spent.calls <= calls
    assert outcome.status is not OptimizationStatus.BUDGET
    assert outcome.baseline is not None


def test_attempts_are_proposed_from_with_their_scores() -> None:
    """COPRO's rounds: the baseline alone, then the best attempts, the best last; all scenarios are asked."""
    model = Model(6)
    optimized(model, proposals=18, optimizer="copro")
    trained = [step for step in model.steps if isinstance(step, Evaluate) and step.role == "training"]
    assert all(step.scenarios == SPLIT.training for step in trained)
    asked = [step for step in model.steps if isinstance(step, Reflect)]
    assert {step.temperature for step in asked} == {1.4}
    of_rounds = [asked[place].prompt for place in (0, 5, 11)]
    scores = [[float(score) for score in re.findall(r"Attempt \d+, score ([\d.]+):", of)] for of in of_rounds]
    assert [len(of_round) for of_round in scores] == [1, 4, 4]  # the baseline, and one for each word
    assert all(of_round == sorted(of_round) for of_round in scores)


def test_a_budget_that_is_too_small_for_a_validation() -> None:
    """The baseline is kept, and nothing is validated."""
    outcome = optimized(Model(5), budget=OptimizationBudget(tokens=80_000))
    assert outcome.status is OptimizationStatus.BUDGET
    assert outcome.descriptions == BASELINE


def test_the_split_has_every_level_in_proportion() -> None:
    """In both sets, and by the seed."""

    def shares(scenarios: Sequence[ToolScenario]) -> dict[str, float]:
        levels = [scenario.level for scenario in scenarios]
        return {level: levels.count(level) / len(levels) for level in set(levels)}

    whole, validation = shares(SCENARIOS), shares(SPLIT.validation)
    assert len(SPLIT.training) + len(SPLIT.validation) == len(SCENARIOS)
    assert all(abs(validation[level] - share) <= 1 / len(SPLIT.validation) for level, share in whole.items())
    assert split(SCENARIOS, 1 / 3, seed=0) == SPLIT
    assert split(SCENARIOS, 1 / 3, seed=1) != SPLIT
    with pytest.raises(UsageError, match="leaves no scenario for validation"):
        split(SCENARIOS[:3], 0.1, seed=0)


def test_replies_of_a_model() -> None:
    """Only usable descriptions of known tools change anything."""
    tool = next(iter(BASELINE))
    fenced = (
        f'Here:\n```json\n{{"{tool}": {{"what": "New.", "when": "Often."}}, "unknown": {{"what": "x"}}}}\n```'
    )
    assert {name: parts_of(text)["what"] for name, text in proposed_in(fenced, BASELINE, "full").items()} == {
        tool: "New."
    }
    bare = f'{{"{tool}": "In short."}}'
    assert parts_of(proposed_in(bare, BASELINE, "minimal")[tool]) == {"what": "In short."}
    unusable = [
        "",
        "no JSON",
        "[1]",
        f'{{"{tool}": ""}}',
        f'{{"{tool}": 3}}',
        f'{{"{tool}": {{"what": null}}}}',
    ]
    unusable.append(f'{{"{tool}": "{"x" * (LONGEST + 1)}"}}')
    assert [proposed_in(reply, BASELINE, "full") for reply in unusable] == [{}] * len(unusable)


def test_the_file_of_descriptions_is_read_again(tmp_path: Path) -> None:
    """With characters that YAML could take for something else."""
    (tmp_path / "descriptions").mkdir()
    changed = {tool: orjson.dumps({"what": f"Café: “{tool}”", "when": "# now"}).decode() for tool in BASELINE}
    (tmp_path / "descriptions" / "mine.yaml").write_bytes(to_yaml("mine", "mine", changed))
    tools = load_tool_set("4-tool", tmp_path, "mine")
    assert descriptions_of(tools, "full") == changed
