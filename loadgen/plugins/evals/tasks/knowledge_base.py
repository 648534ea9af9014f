"""Questions to a knowledge base with corrections among entries; some are unanswerable. Data of our own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.json_answer import plain
from loadgen.plugins.evals.prompts import prompt
from loadgen.plugins.evals.tasks.benchmarks import benchmark
from loadgen.plugins.evals.tasks.use_cases import difficulty, official
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.answer import Answer
    from workloads.workload import Inputs

UNKNOWN: Final = "unknown"

_SYSTEM: Final = prompt("knowledge_base", "system")

_ANSWER: Final = re.compile(
    r"^[ \t*_#>-]*answer[*_]*:[*_]*[ \t]*(.*?)[ \t*_]*$", re.IGNORECASE | re.MULTILINE
)


def questions(inputs: Inputs) -> Iterator[Question]:
    """The entries, followed by the question."""
    for index, row in enumerate(inputs.rows):
        entries = "\n".join(f"{entry['date']}: {entry['text']}" for entry in row["entries"])
        asked = f"{entries}\n\nQuestion: {row['question']}"
        kind = "unknown" if row["answers"] is None else "corrected" if row["outdated"] else "plain"
        reference = {name: row[name] for name in ("answers", "outdated")}
        tags = {**difficulty(row), "kind": kind}
        yield Question(row["id"], Sample(index, asked, _SYSTEM, tags=tags), reference)


def grade(reference: Reference, answer: Answer) -> Score:
    """Right for an accepted answer in the last `Answer:` line, or `unknown` where expected."""
    matches = _ANSWER.findall(answer.text)
    if not matches:
        return unparsed("no line with `Answer:`", outdated=0.0, invented=0.0)
    answer_text, answers = plain(matches[-1]), reference["answers"]
    right = answer_text == UNKNOWN if answers is None else answer_text in map(plain, answers)
    outdated = not right and answer_text in map(plain, reference["outdated"])
    invented = answers is None and not right and not outdated
    reason = "" if right else "outdated" if outdated else "invented" if invented else "another answer"
    return graded(right, matches[-1], reason, outdated=float(outdated), invented=float(invented))


def _share(figure: str, kind: str) -> str:
    where = f"FILTER (tags['kind'] = '{kind}')"
    return f"coalesce(sum(metrics['{figure}']) {where}, 0) / nullif(count(*) {where}, 0)"


WORKLOAD: Final = benchmark(
    "knowledge_base",
    questions,
    official(
        grade,
        "an accepted answer in the last line with `Answer:`",
        Headline("outdated", _share("outdated", "corrected"), better="lower"),
        Headline("invented", _share("invented", "unknown"), better="lower"),
    ),
)
