"""FRAMES: 824 questions that take facts from several articles (Krishna et al., arXiv:2409.12941).

The question alone is asked (the paper's naive prompt), and a judge says `Decision: TRUE` or `Decision:
FALSE`. The last decision in its words counts. One that is neither (`not true`, the two words of the prompt
repeated) is not a verdict: then the answer has no score, and the judge is to be asked again.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag, text
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.workload import Inputs

_KEY: Final = "verdict"
_PROMPTS: Final = judge_prompts("frames")
_DECISION: Final = re.compile(
    r"\bdecision\b\W*(?:is\b\W*)?\b(true|false)\b(?![^\w\n]*(?:or\W+)?(?:true|false)\b)", re.IGNORECASE
)
_ALONE: Final = re.compile(r"\W*(true|false)\W*", re.IGNORECASE)
_TYPES: Final = {
    "numerical": "Numerical reasoning",
    "tabular": "Tabular reasoning",
    "constraints": "Multiple constraints",
    "temporal": "Temporal reasoning",
    "post_processing": "Post processing",
}
"""What a question takes; most take several."""


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        tags = {"reasoning_types": tag(row, "reasoning_types")}
        reference = {"question": text(row, "Prompt"), "answer": tag(row, "Answer")}
        yield Question(str(index), Sample(index, reference["question"], tags=tags), reference)


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """An inquiry: whether the answer contains the right one."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"],
        predicted_answer=answer.text,
        ground_truth_answer=reference["answer"],
    )
    return (Inquiry(_KEY, messages, temperature=0.0),)


def decision_in(text: str) -> bool | None:
    """The judge's decision; None without one."""
    decisions = _DECISION.findall(text)
    alone = _ALONE.fullmatch(text)
    if not decisions and alone is None:
        return None
    decision: str = decisions[-1] if decisions else alone[1]  # type: ignore[index]
    return decision.lower() == "true"


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge decided TRUE."""
    judgement = answer.judged.get(_KEY)
    if judgement is None:
        return pending()
    decision = decision_in(judgement)
    if decision is None:
        return unreadable("decision TRUE or FALSE", judgement)
    return graded(decision, "TRUE" if decision else "FALSE")


WORKLOAD: Final = benchmark(
    "frames",
    questions,
    official=ScoreRule(
        grade,
        headlines=(
            Headline("accuracy"),
            *(
                Headline(name, f"avg(value) FILTER (contains(tags['reasoning_types'], '{title}'))")
                for name, title in _TYPES.items()
            ),
        ),
        ask=ask,
        judge=_PROMPTS.label,
    ),
)
