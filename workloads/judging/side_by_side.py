"""Asking a judge which of two answers is better, in both orders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workloads.grading.pairwise import Comparison, Verdict, verdict_in
from workloads.score import Score, failed, pending
from workloads.scorer import Inquiry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from workloads.judging.prompts import Prompt

MAX_TOKENS: Final = 2048
"""What FastChat lets a judge say."""

_ORDERS: Final = ("ab", "ba")


def inquiries(
    prompt: Prompt, texts: Mapping[str, str], ours: Sequence[str], theirs: Sequence[str], key: str = ""
) -> tuple[Inquiry, Inquiry]:
    """Both orders of one comparison, ours first in the first of them.

    Args:
        prompt: Has places for the two answers: `answer_a` and `answer_b`, or those of two turns
            (`answer_a_1`…).
        texts: What stands at its other places.
        ours: The answers that are judged, turn by turn.
        theirs: Those that they are held against.
        key: What the keys of the inquiries begin with.
    """

    def inquiry(order: str, first: Sequence[str], second: Sequence[str]) -> Inquiry:
        messages = prompt.messages(**texts, **_places("answer_a", first), **_places("answer_b", second))
        return Inquiry(key + order, messages, MAX_TOKENS, temperature=0.0)

    shown_first, shown_second = _ORDERS
    return inquiry(shown_first, ours, theirs), inquiry(shown_second, theirs, ours)


def compared(judged: Mapping[str, str], key: str = "") -> Comparison | Score:
    """What a judge said of one comparison; a score without a value where that is not known."""
    texts = [text for order in _ORDERS if (text := judged.get(key + order)) is not None]
    if len(texts) < len(_ORDERS):
        return pending()
    match [verdict_in(text) for text in texts]:
        case [Verdict() as first, Verdict() as second]:
            return Comparison(first, second)
    return failed("the judge gave no verdict [[A]], [[B]] or [[C]]")


def _places(name: str, answers: Sequence[str]) -> dict[str, str]:
    numbered = {f"{name}_{number}": answer for number, answer in enumerate(answers, start=1)}
    return {name: answers[0], **numbered}
