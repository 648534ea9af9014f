"""HumanEval: 164 Python functions to complete from docstrings (Chen et al., arXiv:2107.03374).

A solution passes when prompt, completion and tests run to their end within 3 s (openai/human-eval,
`execution.py`). pass@k over several attempts is the unbiased estimator: `--repeats n`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.code import defining_block, fenced_blocks, function_body, score_of
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.sandbox.job import Job
from workloads.cells import tag, text
from workloads.errors import TaskError, did_you_mean
from workloads.question import Question
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.score import Score
    from workloads.scorer import Reference
    from workloads.workload import Inputs

TIMEOUT_S: Final = 3.0

_PROMPTS: Final = ("chat", "completion")
_FUTURE: Final = re.compile(r"^from __future__ import .*\n", re.MULTILINE)
_INSTRUCTION: Final = (
    "Read the following function signature and docstring, and fully implement the function described. "
    "Your response should only contain the code for this function.\n"
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row; the prompt alone where completions are wanted."""
    prompt = inputs.options["prompt"]
    if prompt not in _PROMPTS:
        near = did_you_mean(prompt, _PROMPTS)
        raise TaskError(f"humaneval:prompt={prompt}: must be one of {', '.join(_PROMPTS)}{near}")
    instruction = _INSTRUCTION if prompt == "chat" else ""
    for index, row in enumerate(inputs.rows):
        reference = {name: text(row, name) for name in ("prompt", "test", "entry_point")}
        yield Question(tag(row, "task_id"), Sample(index, instruction + reference["prompt"]), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Judge a chat answer: the body of the answer's function completes the prompt."""
    return grade_completion(reference, function_body(answer.text))


def grade_raw(reference: Reference, answer: Answer) -> Score:
    """Judge a completion without extraction."""
    return grade_completion(reference, answer.text)


def grade_block(reference: Reference, answer: Answer) -> Score:
    """Judge a chat answer: the fenced block that defines the function runs after the prompt.

    A block without the function completes the prompt.
    """
    block = defining_block(answer.text, reference["entry_point"])
    if block is None:
        return grade_completion(reference, next(iter(fenced_blocks(answer.text)), answer.text))
    # Imports of __future__ stand first in a program, and the prompt is in front of the block.
    first = "".join(_FUTURE.findall(block))
    source = program_of({**reference, "prompt": f"{first}{reference['prompt']}\n"}, _FUTURE.sub("", block))
    return score_of(Job("program", source, TIMEOUT_S), block, TIMEOUT_S + 1)


def grade_completion(reference: Reference, completion: str) -> Score:
    """Run the tests."""
    job = Job("program", program_of(reference, completion), TIMEOUT_S)
    return score_of(job, completion, TIMEOUT_S + 1)


def program_of(reference: Reference, completion: str) -> str:
    """The prompt, a completion and the tests."""
    return f"{reference['prompt']}{completion}\n{reference['test']}\ncheck({reference['entry_point']})"


WORKLOAD: Final = benchmark(
    "humaneval", questions, official=grade, code_block=grade_block, completion=grade_raw
)
