"""WildChat: questions of users to a chat assistant (Zhao et al., arXiv:2405.01470), next to recorded answers.

There is no official definition. Ours: the first question of a conversation is asked, and a judge holds the
answer against the recorded one, in both orders, with MT-Bench's words. A tie is half a win, and the score is
the mean over both orders. `either_order` counts a win or a tie in one of the orders, as some tools do: a
judge that looks at the order alone then gives every model 1. `five_verdicts` has the same rule over verdicts
of five steps, which a judge gives by one of two rubrics.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.five_verdicts import HEADLINES as FIVE_STEP_HEADLINES
from loadgen.plugins.evals.grading.five_verdicts import FiveVerdictsComparison as FiveStep
from loadgen.plugins.evals.grading.five_verdicts import JudgeReply, reply_in
from loadgen.plugins.evals.grading.pairwise import HEADLINES, PairwiseComparison, compared, inquiries, replies
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag
from workloads.errors import ColumnError
from workloads.question import Question
from workloads.sample import Sample
from workloads.score import Score, graded, pending, unreadable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.answer import Answer
    from workloads.scorer import Inquiry, Reference
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_ANY: Final = "any"
_PROMPTS: Final = judge_prompts("mt_bench")
_RUBRICS: Final = judge_prompts("wildchat_rubrics")


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
    comparison = compared(answer.judged)
    return comparison if isinstance(comparison, Score) else _score(comparison, comparison.mean)


def either_order(_reference: Reference, answer: Answer) -> Score:
    """A win or a tie in at least one order."""
    comparison = compared(answer.judged)
    return comparison if isinstance(comparison, Score) else _score(comparison, comparison.either)


def ask_five(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Which is better, in five steps, in both orders."""
    texts = {"question": reference["question"]}
    return inquiries(_RUBRICS.prompts["verdict"], texts, [answer.text], [reference["answer"]])


def five_verdicts(_reference: Reference, answer: Answer) -> Score:
    """A win or a tie in at least one order."""
    texts = replies(answer.judged)
    if texts is None:
        return pending()
    match [reply_in(text) for text in texts]:
        case [JudgeReply() as first, JudgeReply() as second]:
            step = FiveStep(first, second)
        case _:
            return unreadable("verdict [[A>>B]], [[A>B]], [[A=B]], [[B>A]] or [[B>>A]]", *texts)
    shown = f"{first.preference} shown first, {second.preference} shown second"
    reason = "" if step.consistent else "the orders disagree"
    score = graded(step.passed, shown, reason, **step.figures())
    return replace(score, details={"rubric": step.rubric or "none agreed on"})


def _score(comparison: PairwiseComparison, value: float) -> Score:
    shown = f"{comparison.shown_first} shown first, {comparison.shown_second} shown second"
    return graded(
        value, shown, "" if comparison.consistent else "the orders disagree", **comparison.figures()
    )


def _wanted(inputs: Inputs, row: FileRow) -> bool:
    language = inputs.options["language"]
    return language in {_ANY, row["language"]} and (inputs.options["toxic"] or not row["toxic"])


def _first_turns(row: FileRow) -> tuple[str, str] | None:
    """The user's first message and the recorded answer; None if one is missing or empty."""
    match row["conversation"]:
        case [{"role": "user", "content": asked}, {"role": "assistant", "content": answered}, *_]:
            texts = isinstance(asked, str) and isinstance(answered, str)
            return (asked, answered) if texts and asked.strip() and answered.strip() else None
        case [] | [{"role": _, "content": _}, *_]:
            return None
    raise ColumnError(
        f"{row.place}: `conversation` is not a list of messages, each with `role` and `content`"
    )


WORKLOAD: Final = benchmark(
    "wildchat",
    questions,
    both_orders=ScoreRule(both_orders, headlines=HEADLINES, ask=ask, judge=_PROMPTS.label),
    either_order=ScoreRule(either_order, headlines=HEADLINES, ask=ask, judge=_PROMPTS.label),
    five_verdicts=ScoreRule(five_verdicts, headlines=FIVE_STEP_HEADLINES, ask=ask_five, judge=_RUBRICS.label),
)
