"""The steps of an optimization as runs: files, options, and results from logs."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.optimization.candidate_evidence import (
    Answered,
    Evaluate,
    Spent,
    StepResult,
)
from loadgen.plugins.tool_selection.optimization.descriptions import to_yaml
from loadgen.plugins.tool_selection.tool_files import available
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import write_whole
from loadgen.sessions.series.point_options import point_of
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.query import queries

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from loadgen.plugins.tool_selection.optimization.candidate_evidence import Reflect, Step
    from loadgen.plugins.tool_selection.scenarios import ToolScenario
    from loadgen.plugins.tool_selection.selection_task import Variant
    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.series_outcome import PointOutcome

INPUTS: Final = "inputs"
"""The folder of what the runs are asked."""

REFLECTION: Final = "reflection"
"""The role of a call to the reflecting model."""

_STYLE: Final = "candidate"
_ANSWERS: Final = """
SELECT question_id, {score}, coalesce(max(value), 0) = 1, max(extracted)
FROM scores WHERE pass = (SELECT max(pass) FROM passes) GROUP BY question_id
"""
_SCORE: Final = """
SELECT {score}, avg(input_tokens), avg(output_tokens)
FROM scores WHERE pass = (SELECT max(pass) FROM passes)
"""
_COST: Final = """
SELECT coalesce(sum(input_tokens), 0) + coalesce(sum(output_tokens), 0),
    (coalesce(sum(input_tokens), 0) * {input_cost} + coalesce(sum(output_tokens), 0) * {output_cost}) / 1e6
FROM samples
"""
_REPLY: Final = "SELECT output FROM samples JOIN outputs USING (sample_uuid) WHERE error IS NULL LIMIT 1"


@dataclass(frozen=True, slots=True)
class Runs:
    """The common part of all runs of an optimization.

    Attributes:
        folder: That of the optimization.
        tools: The name of the tool set.
        mode: `fc` or `prompt`, as of `tool_selection`.
        data: The user's folder of tool sets.
        asked: The options of the runs that ask scenarios, those of `loadgen perf`.
        reflecting: The options of the runs that ask the reflecting model.
        prices: Dollars per million input and output tokens.
    """

    folder: Path
    tools: str
    mode: str
    data: Path | None
    asked: Mapping[str, Any]
    reflecting: Mapping[str, Any]
    prices: tuple[float, float] = (0.0, 0.0)

    def point(self, number: int, variant: Variant, step: Step) -> SeriesPoint:
        """The run of a step; writes the run's input files."""
        inputs = self.folder / INPUTS / f"{number + 1:02}"
        inputs.mkdir(parents=True, exist_ok=True)
        role = step.role if isinstance(step, Evaluate) else REFLECTION
        if isinstance(step, Evaluate):
            options = self._evaluation(inputs, variant, step)
        else:
            options = self._reflection(inputs, step)
        axes = {"variant": variant.name, "step": role}
        return point_of(f"{variant.name}-{role}", axes, perf_settings(**options))

    def _evaluation(self, inputs: Path, variant: Variant, step: Evaluate) -> dict[str, Any]:
        scorer = {} if self.mode == "fc" else {"scorer": ["tool_selection=text"]}
        _write(inputs / "scenarios.jsonl", _lines(step.scenarios))
        _write(inputs / "descriptions" / f"{_STYLE}.yaml", to_yaml(_STYLE, _STYLE, step.candidate))
        (inputs / "tool_sets").mkdir(exist_ok=True)
        shutil.copyfile(
            available("tool_sets", self.data)[self.tools], inputs / "tool_sets" / f"{self.tools}.yaml"
        )
        task = (
            f"tool_selection:tools={self.tools},descriptions={_STYLE},format={variant.form},mode={self.mode}"
        )
        return {**self.asked, **scorer, "task": [task], "data": inputs}

    def _reflection(self, inputs: Path, step: Reflect) -> dict[str, Any]:
        _write(inputs / "prompt.jsonl", orjson.dumps({"prompt": step.prompt}) + b"\n")
        prompts = str(inputs / "prompt.jsonl")
        asked = {**self.reflecting, "prompts": prompts, "requests": 1, "concurrency": 1}
        if asked["temperature"] is None:
            asked["temperature"] = step.temperature
        return asked

    def result(self, variant: Variant, step: Step, outcome: PointOutcome) -> StepResult:
        """The result of a step from the run's log.

        Raises:
            LogError: It cannot be read.
            UsageError: The score of the variant needs tokens, and none were counted.
        """
        run = outcome.folder
        input_cost, output_cost = self.prices
        cost = _COST.format(input_cost=repr(input_cost), output_cost=repr(output_cost))
        is_evaluation = isinstance(step, Evaluate)
        figures = [sql.format(score=variant.sql) for sql in (_ANSWERS, _SCORE)] if is_evaluation else [_REPLY]
        costs, rows, *scores = (answer.rows for answer in queries(run, [cost, *figures]))
        ((tokens, dollars),) = costs
        spent = Spent(outcome.report.counts.issued, int(tokens), float(dollars))
        if not is_evaluation:
            return StepResult(spent, reply=rows[0][0] if rows else None, folder=run.name)
        answers = {
            name: Answered(score, correct, called or "no answer") for name, score, correct, called in rows
        }
        (((score, input_tokens, output_tokens),),) = scores
        if answers and all(answer.score is None for answer in answers.values()):
            raise UsageError(
                f"{run}: the score {variant.name} cannot be computed, as no tokens were counted: give a "
                "--tokenizer, or optimize --variant maximum_accuracy"
            )
        return StepResult(spent, answers, score, (input_tokens, output_tokens), folder=run.name)


def _lines(scenarios: Sequence[ToolScenario]) -> bytes:
    rows = (
        {"id": scenario.id, "level": scenario.level, "ask": scenario.ask, "expect": scenario.expected}
        for scenario in scenarios
    )
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_whole(path, content)
