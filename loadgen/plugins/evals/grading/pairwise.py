"""Two answers side by side: which one does a judge prefer, whichever stands first?

A judge that is asked once prefers what stands first, or last, more often than it should. So it is asked in
both orders, and both verdicts count.
"""

from __future__ import annotations

from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from workloads.score import Score, pending, unreadable
from workloads.scorer import Headline, Inquiry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.plugins.evals.judging.judge_prompts import Prompt


class PairwiseVerdict(StrEnum):
    """A judge's verdict on two answers, by place."""

    FIRST = "A"
    SECOND = "B"
    TIE = "C"


@dataclass(frozen=True, slots=True)
class PairwiseComparison:
    """Both verdicts about an answer and the compared answer."""

    shown_first: PairwiseVerdict
    shown_second: PairwiseVerdict

    @property
    def points(self) -> tuple[float, float]:
        """The points of the answer in each order: 1 for a win, .5 for a tie, 0."""
        return _FOR_FIRST[self.shown_first], 1 - _FOR_FIRST[self.shown_second]

    @property
    def mean(self) -> float:
        """The mean points of both orders."""
        return fmean(self.points)

    @property
    def agreed(self) -> float:
        """The points if only a win in both orders counts as a win, and a disagreement as a tie.

        FastChat, fastchat/llm_judge/show_result.py: `win_rate_adjusted`.
        """
        first, second = self.points
        return first if first == second else 0.5

    @property
    def either(self) -> float:
        """1 for a win or a tie in at least one order, as always from a judge that follows the order."""
        return float(max(self.points) > 0)

    @property
    def consistent(self) -> bool:
        """Whether both orders have one verdict."""
        first, second = self.points
        return first == second

    def figures(self) -> Mapping[str, float]:
        """The figures behind the headlines."""
        verdicts = (self.shown_first, self.shown_second)
        return {
            "consistent": float(self.consistent),
            "first_place": fmean(_FOR_FIRST[verdict] for verdict in verdicts),
        }


_FOR_FIRST: Final = {PairwiseVerdict.FIRST: 1.0, PairwiseVerdict.TIE: 0.5, PairwiseVerdict.SECOND: 0.0}


def verdict_in(text: str) -> PairwiseVerdict | None:
    """The verdict `[[A]]`, `[[B]]` or `[[C]]` in a judge's reply; None without one.

    Should there be several, A goes before B and B before C, wherever they stand (FastChat,
    fastchat/llm_judge/common.py: `run_judge_pair`).
    """
    return next((verdict for verdict in PairwiseVerdict if f"[[{verdict}]]" in text), None)


def mean_of(comparisons: Iterable[PairwiseComparison]) -> Mapping[str, float]:
    """The figures of several comparisons about one answer, each on average."""
    figures = [comparison.figures() for comparison in comparisons]
    return {name: fmean(row[name] for row in figures) for name in figures[0]}


WIN_RATE: Final = Headline("win_rate")
"""A tie is half a win. Of preferences on a scale it is their mean (AlpacaEval's win rate)."""

DISCRETE_WIN_RATE: Final = Headline(
    "discrete_win_rate", "(count(*) FILTER (value > .5) + .5 * count(*) FILTER (value = .5)) / count(*)"
)
"""Of preferences on a scale, each counted as a win, a tie or a loss (AlpacaEval's discrete win rate)."""

WIN_RATE_ERROR: Final = Headline("win_rate_error", "stddev_samp(value) / sqrt(count(value))", better="lower")
"""The standard error of the win rate (AlpacaEval's `standard_error`)."""

ORDER_CONSISTENCY: Final = Headline("order_consistency", "avg(metrics['consistent'])")
"""How often the judge says the same in both orders."""

FIRST_PLACE: Final = Headline("first_place", "avg(metrics['first_place'])")
"""How much of all verdicts went to the answer that stood first: .5 from a judge that is not biased."""

HEADLINES: Final = (WIN_RATE, DISCRETE_WIN_RATE, WIN_RATE_ERROR, ORDER_CONSISTENCY, FIRST_PLACE)

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
