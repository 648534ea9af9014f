"""MT-Bench: 80 questions of two turns each (Zheng et al., arXiv:2306.05685), judged by another model.

By default a judge rates both answers from 1 to 10, and the score is the mean. `pairwise` holds them against
the answers of another model, in both orders: a win is one in both, and what differs is a tie (FastChat's
adjusted win rate). Questions of mathematics, reasoning and coding are judged with a reference answer.
"""

from __future__ import annotations

import re
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.pairwise import (
    HEADLINES,
    MAX_TOKENS,
    PairwiseComparison,
    compared,
    inquiries,
    mean_of,
)
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import tag
from workloads.conversation_sample import ConversationSample, FollowUp
from workloads.errors import ColumnError, TaskError, did_you_mean
from workloads.question import Question
from workloads.score import Score, Status, failed, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow
    from workloads.workload import Inputs

_PROMPTS: Final = judge_prompts("mt_bench")
_WITH_REFERENCE: Final = frozenset({"math", "reasoning", "coding"})
_RATINGS: Final = ("turn_1", "turn_2")
_COMPARISONS: Final = ("turn_1_", "turn_2_")


def questions(inputs: Inputs) -> Iterator[Question]:
    """One conversation a row."""
    references = _turns_by_question(inputs.more("reference"))
    baseline = _baseline(inputs.options["baseline"], inputs) if inputs.options["baseline"] else {}
    for index, row in enumerate(inputs.rows):
        first, second = _two_texts(row, row["turns"])
        follow_up = FollowUp(({"role": "user", "content": second},))
        tags = {"category": tag(row, "category")}
        sample = ConversationSample(index, first, tags=tags, follow_ups=(follow_up,))
        number = row["question_id"]
        reference: dict[str, Any] = {"turns": [first, second]}
        if row["category"] in _WITH_REFERENCE:
            reference["answers"] = _answers_of(row, references, "reference answer")
        if baseline:
            reference["baseline"] = _answers_of(row, baseline, f"answer of {inputs.options['baseline']}")
        yield Question(str(number), sample, reference)


def ask_for_ratings(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """How good each of the two answers is."""
    texts = _texts(reference)
    first, second = _both(answer)
    texts |= {"answer": first, "answer_1": first, "answer_2": second}
    prompts = [_PROMPTS.prompts[name] for name in _names("single-v1", "single-math-v1", reference)]
    return [
        Inquiry(key, prompt.messages(**texts), MAX_TOKENS, temperature=0.0)
        for key, prompt in zip(_RATINGS, prompts, strict=True)
    ]


_RATING_PATTERNS: Final = (
    re.compile(r"\[\[(\d{1,9}(?:\.\d*)?)\]\]", re.ASCII),
    re.compile(r"\[(\d{1,9}(?:\.\d*)?)\]", re.ASCII),
)


def rating_in(text: str) -> float | None:
    """The first rating in two brackets, else the first in one; None where there is none."""
    for pattern in _RATING_PATTERNS:
        if match := pattern.search(text):
            return float(match[1])
    return None


def grade_ratings(_reference: Reference, answer: Answer) -> Score:
    """The mean of both ratings."""
    judgements = {key: answer.judged[key] for key in _RATINGS if key in answer.judged}
    if len(judgements) < len(_RATINGS):
        return pending()
    ratings = {key: rating for key, text in judgements.items() if (rating := rating_in(text)) is not None}
    if len(ratings) < len(_RATINGS):
        return unreadable("rating [[1]] to [[10]]", *judgements.values())
    return graded(
        fmean(ratings.values()), ", ".join(f"{rating:g}" for rating in ratings.values()), "", **ratings
    )


def ask_for_comparisons(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
    """Which answers are better, ours or the baseline's, in both orders; nothing without a baseline."""
    if "baseline" not in reference:
        return ()
    texts, ours, theirs = _texts(reference), _both(answer), reference["baseline"]
    prompts = [_PROMPTS.prompts[name] for name in _names("pair-v2", "pair-math-v1", reference)]
    pairs = zip(_COMPARISONS, prompts, strict=True)
    return [inquiry for key, prompt in pairs for inquiry in inquiries(prompt, texts, ours, theirs, key)]


def grade_comparisons(reference: Reference, answer: Answer) -> Score:
    """The mean over both turns: a win in both orders is 1, a loss in both 0, and all else a tie."""
    if "baseline" not in reference:
        return failed("no answers to compare with: ask mt_bench:baseline=MODEL")
    results = [compared(answer.judged, key) for key in _COMPARISONS]
    if unknown := [result for result in results if isinstance(result, Score)]:
        return min(unknown, key=lambda result: result.status is not Status.JUDGE_PENDING)
    comparisons = [result for result in results if isinstance(result, PairwiseComparison)]
    shown = ", ".join(f"{comparison.shown_first}{comparison.shown_second}" for comparison in comparisons)
    return graded(fmean(comparison.agreed for comparison in comparisons), shown, "", **mean_of(comparisons))


def _texts(reference: Reference) -> dict[str, str]:
    """The texts of a prompt besides the judged answers."""
    first, second = reference["turns"]
    texts = {"question": first, "question_1": first, "question_2": second}
    if answers := reference.get("answers"):
        texts |= {"ref_answer_1": answers[0], "ref_answer_2": answers[1]}
    return texts


def _names(general: str, referring: str, reference: Reference) -> tuple[str, str]:
    """The prompts for the first turn and for the second."""
    name = referring if "answers" in reference else general
    return name, f"{name}-multi-turn"


def _both(answer: Answer) -> tuple[str, str]:
    return (answer.earlier[0] if answer.earlier else ""), answer.text


def _baseline(model: str, inputs: Inputs) -> Mapping[Any, list[str]]:
    """The answers of the model to compare with."""
    rows = inputs.more("baseline")
    theirs = [row for row in rows if row["model_id"] == model]
    if not theirs:
        models = sorted({str(row["model_id"]) for row in rows})
        raise TaskError(
            f"mt_bench:baseline={model}: no answers of this model{did_you_mean(model, models)}; "
            f"available: {', '.join(models)}"
        )
    return _turns_by_question(theirs)


def _turns_by_question(rows: Sequence[FileRow]) -> Mapping[Any, list[str]]:
    """Answers in FastChat's format, by question number."""
    try:
        return {row["question_id"]: _two_texts(row, row["choices"][0]["turns"]) for row in rows}
    except (KeyError, IndexError, TypeError) as error:
        raise ColumnError(
            f"{rows[0].place} or below: `choices` is not a list of objects with two `turns`"
        ) from error


def _two_texts(row: FileRow, turns: Any) -> list[str]:
    match turns:
        case [str(), str()]:
            return list(turns)
    raise ColumnError(f"{row.place}: `turns` is not a list of two texts")


def _answers_of(row: FileRow, answers: Mapping[Any, list[str]], what: str) -> list[str]:
    number = row["question_id"]
    if number not in answers:
        raise ColumnError(f"{row.place}: there is no {what} to question {number}")
    return answers[number]


WORKLOAD: Final = benchmark(
    "mt_bench",
    questions,
    official=ScoreRule(
        grade_ratings,
        headlines=(
            Headline("score", unit="number"),
            Headline("first_turn", "avg(metrics['turn_1'])", unit="number"),
            Headline("second_turn", "avg(metrics['turn_2'])", unit="number"),
        ),
        ask=ask_for_ratings,
        judge=_PROMPTS.label,
    ),
    pairwise=ScoreRule(grade_comparisons, headlines=HEADLINES, ask=ask_for_comparisons, judge=_PROMPTS.label),
)
