"""GSM8K: four models' published solutions with `is_correct`; they say `A: N` where the data says `#### N`."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.tasks.gsm8k import grade, grade_mlperf, grade_published, published_answer_in
from tests.conformance.agreement import Agreement
from workloads.answer import Answer
from workloads.score import graded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from workloads.score import Score
    from workloads.scorer import Reference

NEEDS: Final = ("gsm8k/example_model_solutions.jsonl.gz",)


def agreements(data: Path) -> Iterator[Agreement]:
    """One line a model and scorer; the official one reads the same solutions with the mark of the data."""
    with gzip.open(data / NEEDS[0], "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for model in sorted(set(rows[0]) - {"question", "ground_truth"}):
        yield _agreement(f"gsm8k/official, {model}", rows, model, _with_mark)
        yield _agreement(f"gsm8k/published_format, {model}", rows, model, grade_published)
        yield _agreement(f"gsm8k/mlperf, {model}", rows, model, grade_mlperf)
        yield _agreement(f"gsm8k, right number anywhere, {model}", rows, model, _anywhere, shortcut=True)


def _agreement(
    name: str,
    rows: Sequence[Mapping[str, Any]],
    model: str,
    scored: Callable[[Reference, Answer], Score],
    *,
    shortcut: bool = False,
) -> Agreement:
    wrong = []
    for row in rows:
        reference = {"answer": published_answer_in(row["ground_truth"])}
        ours = scored(reference, Answer(row[model]["solution"])).value == 1
        if ours != row[model]["is_correct"]:
            wrong.append(f"{row['question'][:60]}…: ours {ours}")
    return Agreement(name, len(rows), len(rows) - len(wrong), wrong=tuple(wrong), shortcut=shortcut)


def _with_mark(reference: Reference, answer: Answer) -> Score:
    before, _, number = answer.text.rpartition("A: ")
    return grade(reference, Answer(f"{before}#### {number}"))


def _anywhere(reference: Reference, answer: Answer) -> Score:
    return graded(reference["answer"] in answer.text.replace(",", ""))
