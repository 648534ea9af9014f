"""Daily digest: the open tasks and meetings of a day, in order, a line each. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.headlines import metric_shares
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.scorer import Reference
    from workloads.workload import Inputs

MOST_WORDS: Final = 12
NOTHING: Final = "nothing today"

_SYSTEM: Final = prompt("daily_digest", "system")

_LINE: Final = re.compile(r"\s*(?:[-*•]|\d+[.)])?\s*\[(\w+)\]\s*(.*)")


def questions(inputs: Inputs) -> Iterator[Question]:
    """The day and the items of a question."""
    for index, row in enumerate(inputs.rows):
        items = "\n".join(
            f"[{item['id']}] {item['kind']}, {item['when']}, {item['state']}: {item['text']}"
            for item in row["items"]
        )
        asked = f"Today is {row['today']}.\n\n{items}"
        ids = [item["id"] for item in row["items"]]
        sample = Sample(index, asked, _SYSTEM, tags=difficulty(row))
        yield Question(row["id"], sample, {"expected": row["expected"], "known": ids})


def grade(reference: Reference, answer: Answer) -> Score:
    """Right where the lines are exactly those that belong there, in order, short, and nothing else."""
    lines = [line for line in answer.text.strip().split("\n") if line.strip()]
    matches = [_LINE.fullmatch(line) for line in lines]
    ids = [match[1] for match in matches if match]
    empty = len(lines) == 1 and lines[0].strip().rstrip(".").casefold() == NOTHING
    chatter = 0 if empty else sum(match is None for match in matches)
    expected = reference["expected"]
    hits = len(set(ids) & set(expected))
    selection = 2 * hits / (len(ids) + len(expected)) if ids or expected else float(empty)
    short = all(0 < len(match[2].split()) <= MOST_WORDS for match in matches if match)
    wrong = [
        *(["another selection"] if sorted(ids) != sorted(expected) or (not ids and not empty) else []),
        *(["another order"] if sorted(ids) == sorted(expected) != [] and ids != expected else []),
        *(
            [f"ids that are not in the list: {', '.join(invented)}"]
            if (invented := [name for name in ids if name not in reference["known"]])
            else []
        ),
        *([] if short else [f"a line without words, or with more than {MOST_WORDS}"]),
        *([f"{chatter} other lines"] if chatter else []),
    ]
    figures = {
        "selection_f1": selection,
        "in_order": float(ids == expected and bool(ids or empty)),
        "short": float(short),
    }
    return graded(not wrong, " ".join(ids), "; ".join(wrong), **figures)


WORKLOAD: Final = benchmark(
    "daily_digest",
    questions,
    official(
        grade,
        "exactly the lines that belong there, in order, within the limit",
        *metric_shares("selection_f1", "in_order"),
        version=2,
    ),
)
