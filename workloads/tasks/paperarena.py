"""PaperArena: questions over scientific papers, for agents with tools (Melmaphother/PaperArena).

Every kind of answer is judged. A reply of the judge that is not as asked for counts as wrong, officially; the
figure `parsed` is over the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from workloads.cells import tag, text
from workloads.judging.prompts import judge_prompts
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, with_replies
from workloads.scorer import Headline, Inquiry, Reference, Scorer
from workloads.tasks import baseline
from workloads.workload import Inputs, Source, Typical, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer

_KEY: Final = "verdict"
_PROMPTS: Final = judge_prompts("paperarena")
_SURE: Final = range(11)
_TYPES: Final = {
    "multi_choice": "Multi-Choice Answer",
    "concise": "Concise Answer",
    "open": "Open Answer",
}


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a row."""
    for index, row in enumerate(inputs.rows):
        tags = {name: tag(row, name) for name in ("qa_type", "difficulty")}
        reference = {
            "question": text(row, "question"),
            "answer": tag(row, "answer"),
            "qa_type": tags["qa_type"],
        }
        yield Question(tag(row, "qa_id"), Sample(index, reference["question"], tags=tags), reference)


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Whether the answer is correct."""
    messages = _PROMPTS.prompts["verdict"].messages(
        question=reference["question"],
        qa_type=reference["qa_type"],
        correct=reference["answer"],
        answer=answer.text,
    )
    return (Inquiry(_KEY, messages, temperature=0.0),)


def verdict_in(reply: str) -> tuple[bool, int] | None:
    """Whether the answer is correct, and how sure the judge is (0 to 10); None for an invalid reply."""
    try:
        value = orjson.loads(reply[reply.find("{") : reply.rfind("}") + 1])
    except orjson.JSONDecodeError:
        return None
    match value:
        case {"correct": "true" | "false" as correct, "reasoning": str(), "confidence": int() as confidence}:
            is_valid = confidence in _SURE and not isinstance(confidence, bool)
            return (correct == "true", confidence) if is_valid else None
    return None


def grade(_reference: Reference, answer: Answer) -> Score:
    """1 where the judge says that it is correct."""
    reply = answer.judged.get(_KEY)
    if reply is None:
        return pending()
    verdict = verdict_in(reply)
    if verdict is None:
        score = graded(0, None, "the judge's reply is not the JSON that was asked for", invalid_reply=1)
        return with_replies(score, reply)
    correct, confidence = verdict
    return graded(correct, "true" if correct else "false", "", confidence=confidence / max(_SURE))


WORKLOAD: Final = Workload(
    name="paperarena",
    title="questions over scientific papers",
    version=1,
    tier=3,
    category="agentic",
    typical=Typical(200, 500),
    source=Source(
        files=("paperarena*.jsonl*", "qa*.jsonl*", "qa*.parquet", "train*.parquet"),
        hub="Melmaphother/PaperArena-Data",
        config="qa",
        split="train",
        columns=("qa_id", "question", "answer", "qa_type", "difficulty"),
        licence="not stated",
    ),
    questions=questions,
    scorers=(
        Scorer(
            "official",
            1,
            grade,
            "Melmaphother/PaperArena@35e4a83d: paperarena_hub/tools/scorer.py",
            headlines=(
                Headline("accuracy"),
                Headline("parsed", "avg(value) FILTER (coalesce(metrics['invalid_reply'], 0) = 0)"),
                *(
                    Headline(name, f"avg(value) FILTER (tags['qa_type'] = '{title}')")
                    for name, title in _TYPES.items()
                ),
            ),
            ask=ask,
            judge=_PROMPTS.label,
            note="the judge's prompt is this project's own; officially an agent with tools answers",
        ),
        baseline.paperarena(),
    ),
    groups=("qa_type", "difficulty"),
)
