"""Scorers for own data in addition to `exact` and `contains`: normalized texts, choices, sets, calls."""

from __future__ import annotations

import string
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.grading.function_calls import calls_of_text, same_calls
from loadgen.plugins.evals.grading.json_calls import calls_of_json, calls_of_tools
from loadgen.plugins.evals.grading.plain_answers import (
    as_items,
    choice,
    contains_words,
    items,
    jaccard,
    normalized,
)
from loadgen.plugins.evals.headlines import metric_means
from workloads.score import Score, failed, graded, unparsed
from workloads.scorer import Headline, Reference, Scorer

if TYPE_CHECKING:
    from collections.abc import Callable

    from workloads.answer import Answer

TRUTH: Final = "ground_truth"

_NO_TRUTH: Final = "the row has no ground_truth: give a function with --eval"
_CHOICES: Final = (4, 10)


def _normalized(judge: Callable[[str, str], bool]) -> Callable[[Reference, Answer], Score]:
    """A scorer of normalized texts; of a list as `ground_truth`, each element is right."""

    def grade(reference: Reference, answer: Answer) -> Score:
        truth = reference[TRUTH]
        if truth is None:
            return failed(_NO_TRUTH)
        accepted = [normalized(str(item)) for item in (truth if isinstance(truth, list) else [truth])]
        if not accepted or not all(accepted):
            return failed("the ground_truth has nothing but punctuation and blanks: use the scorer exact")
        text = normalized(answer.text)
        return graded(any(judge(item, text) for item in accepted), text)

    return grade


def _choice(options: int) -> Callable[[Reference, Answer], Score]:
    letters = string.ascii_uppercase[:options]

    def grade(reference: Reference, answer: Answer) -> Score:
        truth = reference[TRUTH]
        if truth is None:
            return failed(_NO_TRUTH)
        right = str(truth).strip().strip("().").upper()
        if len(right) != 1 or right not in letters:
            return failed(f"the ground_truth {truth!r} is not a letter from A to {letters[-1]}")
        chosen = choice(answer.text, options)
        return unparsed("no letter of an option") if chosen is None else graded(chosen == right, chosen)

    return grade


def grade_set(reference: Reference, answer: Answer) -> Score:
    """Right where the answer lists exactly the items of the ground_truth, in any order."""
    return _of_sets(reference, answer, exact=True)


def grade_jaccard(reference: Reference, answer: Answer) -> Score:
    """How much of the two sets of items is in both."""
    return _of_sets(reference, answer, exact=False)


def _of_sets(reference: Reference, answer: Answer, *, exact: bool) -> Score:
    truth = reference[TRUTH]
    if truth is None:
        return failed(_NO_TRUTH)
    wanted = as_items(truth) if isinstance(truth, list) else items(str(truth))
    listed = items(answer.text)
    missing, wrong = len(wanted - listed), len(listed - wanted)
    metrics = {"jaccard": jaccard(listed, wanted), "exact": float(not missing and not wrong)}
    reason = f"{missing} missing, {wrong} wrong" if missing or wrong else ""
    value = metrics["exact" if exact else "jaccard"]
    return graded(value, ", ".join(sorted(listed)), reason, **metrics)


def grade_calls(reference: Reference, answer: Answer) -> Score:
    """Right for the calls of the ground_truth, in any order, with equal arguments.

    What the endpoint gave as calls of tools counts; where it gave none, what is in the text.
    """
    truth = _calls_of(reference[TRUTH])
    if truth is None:
        return failed("the ground_truth is neither a call nor a list of calls")
    if answer.tool_calls:
        calls = calls_of_tools(answer.tool_calls)
    else:
        calls = calls_of_text(answer.text)
        if calls is None and not truth:
            return graded(1, "no call")
    if calls is None:
        return unparsed("no call that can be read", names=0.0)
    names = sorted(name for call in calls for name in call)
    right = same_calls(calls, truth)
    same_names = names == sorted(name for call in truth for name in call)
    reason = "" if right else "other arguments" if same_names else "other functions"
    return graded(right, repr(calls), reason, names=float(same_names))


def _calls_of(truth: Any) -> Any:
    if truth is None:
        return None
    return calls_of_text(truth) if isinstance(truth, str) else calls_of_json(truth)


_SETS: Final = (*metric_means("exact", "jaccard"),)

EXACT_NORMALISED: Final = Scorer(
    "exact_normalised",
    1,
    _normalized(lambda truth, text: text == truth),
    "the answer is the ground_truth, both NFKD, in lower case, without punctuation, with single blanks",
)
CONTAINS_NORMALISED: Final = Scorer(
    "contains_normalised",
    1,
    _normalized(contains_words),
    "the ground_truth is in the answer, both so normalised, and not within a longer word or number",
)
CHOICE_4, CHOICE_10 = (
    Scorer(
        f"choice_{options}",
        1,
        _choice(options),
        f"the letter that the answer gives, A to {string.ascii_uppercase[options - 1]}: announced, "
        "alone, at the beginning, or the only one in it",
    )
    for options in _CHOICES
)
SET: Final = Scorer(
    "set", 1, grade_set, "the answer lists the items of the ground_truth, in any order", _SETS
)
JACCARD: Final = Scorer(
    "jaccard",
    1,
    grade_jaccard,
    "items in both the answer and the ground_truth, by those in either",
    tuple(reversed(_SETS)),
)
CALLS: Final = Scorer(
    "calls",
    1,
    grade_calls,
    "the calls of functions of the ground_truth, in any order, with equal arguments",
    (Headline("accuracy"), *metric_means("names")),
    note="arguments are compared normalised: texts in lower case with single blanks, 2.0 as 2",
)
