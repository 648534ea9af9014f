"""MATH-500: solutions of Qwen2.5-Math with the verdicts of prm800k and of Math-Verify on them."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.prm800k import last_boxed
from loadgen.plugins.evals.tasks.math500 import grade, grade_math_verify
from tests.conformance.agreement import Agreement
from workloads.answer import Answer
from workloads.score import graded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from workloads.score import Score
    from workloads.scorer import Reference

NEEDS: Final = ("math500/qwen25math_cot.jsonl.gz", "math500/oracle_math_verdicts.jsonl.gz")


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a grader, and one of the comparison as texts, which must not agree."""
    problems = {row["idx"]: row for row in _rows(data / NEEDS[0])}
    verdicts = _rows(data / NEEDS[1])
    yield _agreement("math500/official, prm800k", problems, verdicts, "prm800k", grade)
    yield _agreement("math500/math_verify", problems, verdicts, "math_verify", grade_math_verify)
    yield _agreement("math500, as texts", problems, verdicts, "prm800k", _as_texts, shortcut=True)


def _rows(path: Path) -> Sequence[Any]:
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def _agreement(
    name: str,
    problems: Mapping[int, Any],
    verdicts: Sequence[Any],
    grader: str,
    scored: Callable[[Reference, Answer], Score],
    *,
    shortcut: bool = False,
) -> Agreement:
    wrong = []
    for verdict in verdicts:
        problem = problems[verdict["idx"]]
        score = scored({"answer": problem["gt"]}, Answer(problem["code"][verdict["i"]]))
        if (score.value == 1) != verdict[grader]:
            wrong.append(f"{verdict['idx']}/{verdict['i']}: {score.extracted!r} against {problem['gt']!r}")
    return Agreement(name, len(verdicts), len(verdicts) - len(wrong), wrong=tuple(wrong), shortcut=shortcut)


def _as_texts(reference: Reference, answer: Answer) -> Score:
    return graded(last_boxed(answer.text) == reference["answer"])
