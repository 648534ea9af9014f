"""The common part of use cases: levels of difficulty, the scorer by a rule, and the one with a judge.

`judged` makes a scorer of a rule: an answer is right where the rule says so and every criterion is met.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.json_answer import json_in
from loadgen.plugins.evals.headlines import by_tag, metric_shares
from loadgen.plugins.evals.judging.judge_prompts import judge_prompts
from workloads.errors import ColumnError
from workloads.score import Score, Status, graded, pending, unreadable
from workloads.scorer import Headline, Inquiry, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workloads.answer import Answer
    from workloads.sources import FileRow

TAG: Final = "difficulty"
LEVELS: Final = ("easy", "medium", "hard")

BY_DIFFICULTY: Final = tuple(by_tag(TAG, LEVELS))
"""The score of each level."""


def difficulty(row: FileRow) -> dict[str, str]:
    """The tag of a row."""
    level = row[TAG]
    if level not in LEVELS:
        raise ColumnError(f"{row.place}, column {TAG!r}: {level!r}, where {', '.join(LEVELS)} are allowed")
    return {TAG: level}


def official(
    grade: Callable[[Reference, Answer], Score],
    definition: str,
    *headlines: Headline,
    score: str = "accuracy",
    version: int = 1,
) -> Scorer:
    """The scorer of a use case by a rule; the mean score is the first headline, those by level the last."""
    shown = (Headline(score), *headlines, *BY_DIFFICULTY)
    return Scorer("official", version, grade, f"this project: {definition}", shown)


def graded_parts(right: Mapping[str, bool], reasons: Mapping[str, str], taken: str) -> Score:
    """A score with a metric per part: right where all parts are, else with the reasons of the wrong ones."""
    wrong = "; ".join(reasons[name] for name, is_right in right.items() if not is_right)
    return graded(not wrong, taken, wrong, **{name: float(is_right) for name, is_right in right.items()})


_KEY: Final = "criteria"
_PROMPTS: Final = judge_prompts("use_case")
_MET: Final = "criteria_met"
_CHECKED: Final = "checked"


def judged(
    grade: Callable[[Reference, Answer], Score],
    *,
    shown: Callable[[Answer], str] = lambda answer: answer.text,
) -> Scorer:
    """The scorer `judged` of a use case.

    Args:
        grade: The rule. What it cannot read is not shown to a judge. The reference has, besides what the rule
            needs, `asked`, what the judge reads of the question, and `criteria`, a list of sentences.
        shown: The part of an answer that the judge sees.
    """

    def ask(reference: Reference, answer: Answer) -> Sequence[Inquiry]:
        criteria = reference["criteria"]
        if not criteria or grade(reference, answer).status is Status.UNPARSED:
            return ()
        numbered = "\n".join(f"{number}. {text}" for number, text in enumerate(criteria, start=1))
        messages = _PROMPTS.prompts["criteria"].messages(
            asked=reference["asked"], answer=shown(answer), criteria=numbered
        )
        return (Inquiry(_KEY, messages, temperature=0.0),)

    def grade_judged(reference: Reference, answer: Answer) -> Score:
        checked = grade(reference, answer)
        criteria = reference["criteria"]
        if not criteria or checked.status is Status.UNPARSED:
            share = float(checked.status is not Status.UNPARSED)
            return replace(checked, metrics={**checked.metrics, _CHECKED: checked.value or 0.0, _MET: share})
        reply = answer.judged.get(_KEY)
        if reply is None:
            return pending()
        met = _met(reply, len(criteria))
        if met is None:
            return unreadable(f"JSON object with true or false for each of {len(criteria)} criteria", reply)
        missed = [text for text, is_met in zip(criteria, met, strict=True) if not is_met]
        reason = "; ".join(filter(None, (checked.reason, *(f"not met: {text}" for text in missed))))
        figures = {**checked.metrics, _CHECKED: checked.value or 0.0, _MET: sum(met) / len(met)}
        return graded(checked.value == 1 and not missed, checked.extracted, reason, **figures)

    return Scorer(
        "judged",
        1,
        grade_judged,
        "this project: right by `official`, and the judge says of every criterion that it is met",
        headlines=(
            Headline("accuracy"),
            *metric_shares(_CHECKED, _MET),
            *BY_DIFFICULTY,
        ),
        ask=ask,
        judge=_PROMPTS.label,
    )


def _met(reply: str, count: int) -> list[bool] | None:
    """The judge's verdict on each criterion; None if a verdict is neither true nor false."""
    verdicts = json_in(reply, dict) or {}
    met = [verdicts.get(str(number)) for number in range(1, count + 1)]
    return [value is True for value in met] if all(isinstance(value, bool) for value in met) else None
