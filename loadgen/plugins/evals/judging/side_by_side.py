"""Asking a judge which of two answers is better, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.plugins.evals.grading.pairwise import PairwiseComparison, PairwiseVerdict, verdict_in
from workloads.score import Score, pending, unreadable
from workloads.scorer import Inquiry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.plugins.evals.judging.judge_prompts import Prompt

MAX_TOKENS: Final = 2048
"""What FastChat lets a judge say."""

_ORDERS: Final = ("ab", "ba")


def inquiries(
    prompt: Prompt, texts: Mapping[str, str], ours: Sequence[str], theirs: Sequence[str], key: str = ""
) -> tuple[Inquiry, Inquiry]:
    """Both orders of one comparison, our answer first in the first order.

    Args:
        prompt: Has places for the two answers: `answer_a` and `answer_b`, or those of two turns
            (`answer_a_1`…).
        texts: What is at its other places.
        ours: The answers that are judged, turn by turn.
        theirs: Those that they are compared with.
        key: What the keys of the inquiries begin with.
    """

    def inquiry(order: str, first: Sequence[str], second: Sequence[str]) -> Inquiry:
        messages = prompt.messages(**texts, **_places("answer_a", first), **_places("answer_b", second))
        return Inquiry(key + order, messages, MAX_TOKENS, temperature=0.0)

    shown_first, shown_second = _ORDERS
    return inquiry(shown_first, ours, theirs), inquiry(shown_second, theirs, ours)


def compared(judged: Mapping[str, str], key: str = "") -> PairwiseComparison | Score:
    """The verdict on one comparison; a score without a value if the verdict is unknown."""
    texts = replies(judged, key)
    if texts is None:
        return pending()
    match [verdict_in(text) for text in texts]:
        case [PairwiseVerdict() as first, PairwiseVerdict() as second]:
            return PairwiseComparison(first, second)
    return unreadable("verdict [[A]], [[B]] or [[C]]", *texts)


def replies(judged: Mapping[str, str], key: str = "") -> tuple[str, str] | None:
    """The judge's replies in both orders, our answer first in the first order; None until both are there."""
    shown_first, shown_second = (judged.get(key + order) for order in _ORDERS)
    return None if shown_first is None or shown_second is None else (shown_first, shown_second)


def _places(name: str, answers: Sequence[str]) -> dict[str, str]:
    numbered = {f"{name}_{number}": answer for number, answer in enumerate(answers, start=1)}
    return {name: answers[0], **numbered}
