"""WildChat: what people asked a chat assistant (Zhao et al., arXiv:2405.01470), judged beside its answers.

There is no official definition. Ours: the first question of a conversation is asked, and a judge holds the
answer against the recorded one, in both orders, with MT-Bench's words. A tie is half a win, and the score is
the mean over both orders. `either_order` counts a win or a tie in one of the orders, as some tools do: a
judge that looks at the order alone then gives every model 1.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from workloads.cells import tag
from workloads.errors import ColumnError
from workloads.grading.pairwise import HEADLINES, Comparison
from workloads.judging.prompts import judge_prompts
from workloads.judging.side_by_side import compared, inquiries
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded
from workloads.scorer import Inquiry, Reference, Scorer
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.sources import Row

_ANY: Final = "any"
_PROMPTS: Final = judge_prompts("mt_bench")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One question a conversation that begins with a question and an answer, of those that are wanted.

    Conversations of the same words have the same hash: the second is called `HASH/2`.
    """
    index, seen = 0, Counter[str]()
    for row in inputs.rows:
        if _wanted(inputs, row) and (turns := _first_turns(row)) is not None:
            asked, answered = turns
            tags = {"language": tag(row, "language")}
            reference = {"question": asked, "answer": answered}
            name = tag(row, "conversation_hash")
            seen[name] += 1
            identity = name if seen[name] == 1 else f"{name}/{seen[name]}"
            yield Question(identity, Sample(index, asked, tags=tags), reference)
            index += 1


def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Which is better, in both orders."""
    texts = {"question": reference["question"]}
    return inquiries(_PROMPTS.prompts["pair-v2"], texts, [answer.text], [reference["answer"]])


def both_orders(_reference: Reference, answer: Answer) -> Score:
    """The mean of both orders."""
    found = compared(answer.judged)
    return found if isinstance(found, Score) else _score(found, found.mean)


def either_order(_reference: Reference, answer: Answer) -> Score:
    """A win or a tie in at least one of them."""
    found = compared(answer.judged)
    return found if isinstance(found, Score) else _score(found, found.either)


def _score(found: Comparison, value: float) -> Score:
    said = f"{found.shown_first} shown first, {found.shown_second} shown second"
    return graded(value, said, "" if found.consistent else "the orders disagree", **found.figures())


def _wanted(inputs: Inputs, row: Row) -> bool:
    language = inputs.options["language"]
    return language in {_ANY, row["language"]} and (inputs.options["toxic"] or not row["toxic"])


def _first_turns(row: Row) -> tuple[str, str] | None:
    """What the user said first, and what was answered; None where one of them is missing or empty."""
    match row["conversation"]:
        case [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}, *_]:
            texts = isinstance(asked, str) and isinstance(answered, str)
            return (asked, answered) if texts and asked.strip() and answered.strip() else None
        case [] | [{"role": _, "content": _}, *_]:
            return None
    raise ColumnError(
        f"{row.place}: `conversation` is not a list of messages, each with `role` and `content`"
    )


_BOTH: Final = Scorer(
    "both_orders",
    1,
    both_orders,
    "lm-sys/FastChat, fastchat/llm_judge: prompt pair-v2; the mean of both orders",
    headlines=HEADLINES,
    ask=ask,
    judge=_PROMPTS.label,
    note="the benchmark has no official score",
)

WORKLOAD: Final = Workload(
    name="wildchat",
    title="what people ask a chat assistant",
    version=1,
    source=Source(
        files=("wildchat*.jsonl*", "wildchat*.parquet", "train*.parquet", "train*.jsonl*"),
        hub="allenai/WildChat-1M",
        repository=("data/train-*.parquet",),
        columns=("conversation_hash", "conversation", "language", "toxic"),
        licence="ODC-BY",
    ),
    questions=questions,
    scorers=(
        _BOTH,
        replace(
            _BOTH,
            name="either_order",
            grade=either_order,
            definition="a win or a tie in at least one order",
            note="a judge that looks at the order alone gives every model 1",
        ),
    ),
    options={"language": "English", "toxic": False},
    groups=("language",),
)
