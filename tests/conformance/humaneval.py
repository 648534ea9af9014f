"""HumanEval: the canonical solutions, and those of models, with the verdicts recorded."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.tasks.humaneval import TIMEOUT_S, grade_block, grade_completion
from loadgen.plugins.sandbox.job import Job
from tests.conformance.agreement import Agreement
from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

NEEDS: Final = ("humaneval",)

RESULTS: Final = "_results.jsonl.gz"


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a set of completions, and the tests without the prompt's imports, which must not do."""
    problems = {row["task_id"]: row for row in rows_of(data / NEEDS[0] / "HumanEval.jsonl.gz")}
    rows: list[dict[str, Any]] = []
    for path in sorted((data / NEEDS[0]).glob(f"*{RESULTS}")):
        rows, name = rows_of(path), path.name.removesuffix(RESULTS)
        yield _line(f"humaneval/completion, {name}", rows, lambda row: _passes(problems[row["task_id"]], row))
        yield _line(
            f"humaneval/code_block, {name} in fences",
            rows,
            lambda row: _passes_in_fences(problems[row["task_id"]], row),
        )
    yield _line(
        "shortcut: the prompt's imports are left out",
        rows,
        lambda row: _passes_alone(problems[row["task_id"]], row),
        shortcut=True,
    )


def _line(
    name: str, rows: list[dict[str, Any]], judge: Callable[[dict[str, Any]], bool], *, shortcut: bool = False
) -> Agreement:
    with ThreadPoolExecutor(2) as pool:
        ours = list(pool.map(judge, rows))
    wrong = [
        f"{row['task_id']}: ours {passed}"
        for row, passed in zip(rows, ours, strict=True)
        if passed != row["passed"]
    ]
    return Agreement(name, len(rows), len(rows) - len(wrong), wrong=tuple(wrong), shortcut=shortcut)


def _passes(problem: dict[str, Any], row: dict[str, Any]) -> bool:
    return grade_completion(problem, row["completion"] or "").value == 1


def _passes_in_fences(problem: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether the completed prompt passes as a chat model sends it, in a block without a language."""
    text = f"Here it is:\n\n```\n{problem['prompt']}{row['completion'] or ''}\n```\n\nDone."
    return grade_block(problem, Answer(text)).value == 1


def _passes_alone(problem: dict[str, Any], row: dict[str, Any]) -> bool:
    """Whether the function alone passes, as where only an answer's own code is run."""
    from loadgen.plugins.sandbox.job import ProgramLimits
    from loadgen.plugins.sandbox.local import run

    prompt = problem["prompt"]
    function = prompt[prompt.rindex(f"def {problem['entry_point']}") :]
    source = f"{function}{row['completion'] or ''}\n{problem['test']}\ncheck({problem['entry_point']})"
    return run(Job("program", source, TIMEOUT_S), ProgramLimits(wall_s=TIMEOUT_S + 4)).ending == "passed"


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
