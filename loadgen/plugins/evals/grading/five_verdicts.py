"""Two answers side by side, compared in five steps by one of two rubrics, in both orders."""

from __future__ import annotations

import re
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.evals.grading.pairwise import ORDER_CONSISTENCY
from loadgen.plugins.evals.headlines import metric_means
from workloads.scorer import Headline

if TYPE_CHECKING:
    from collections.abc import Mapping

TIE: Final = 0.5
OBJECTIVE: Final = "objective"
SUBJECTIVE: Final = "subjective"


class Preference(StrEnum):
    """A judge's preference between answers A and B."""

    A_MUCH = "A>>B"
    A = "A>B"
    TIE = "A=B"
    B = "B>A"
    B_MUCH = "B>>A"

    @property
    def for_a(self) -> float:
        """The points of answer A: 1, .75, .5, .25 or 0."""
        return _FOR_A[self]


_FOR_A: Final = {preference: 1 - place / 4 for place, preference in enumerate(Preference)}
_VERDICT: Final = re.compile(rf"\[\[({'|'.join(Preference)})\]\]")
_RUBRIC: Final = re.compile(rf"\brubric\W{{1,9}}({OBJECTIVE}|{SUBJECTIVE})\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class JudgeReply:
    """A judge's reply in one order."""

    preference: Preference
    rubric: str | None = None


def reply_in(text: str) -> JudgeReply | None:
    """Parse the reply of a judge: the last verdict and the first rubric; None without a verdict."""
    verdicts = _VERDICT.findall(text)
    if not verdicts:
        return None
    rubric = _RUBRIC.search(text)
    return JudgeReply(Preference(verdicts[-1]), rubric[1].lower() if rubric else None)


@dataclass(frozen=True, slots=True)
class FiveVerdictsComparison:
    """Both replies about an answer and the compared answer."""

    shown_first: JudgeReply
    shown_second: JudgeReply

    @property
    def points(self) -> tuple[float, float]:
        """The points of the answer in each order, from 0 to 1."""
        return self.shown_first.preference.for_a, 1 - self.shown_second.preference.for_a

    @property
    def passed(self) -> bool:
        """A win or a tie in at least one order."""
        return max(self.points) >= TIE

    @property
    def consistent(self) -> bool:
        """Whether both orders agree on the preferred answer, or on a tie."""
        first, second = self.points
        return (first > TIE, first < TIE) == (second > TIE, second < TIE)

    @property
    def rubric(self) -> str | None:
        """The rubric of both orders; None for different or missing rubrics."""
        both = {self.shown_first.rubric, self.shown_second.rubric}
        return both.pop() if len(both) == 1 else None

    def figures(self) -> Mapping[str, float]:
        """The figures behind the headlines."""
        preferences = (self.shown_first.preference, self.shown_second.preference)
        return {
            "preference": fmean(self.points),
            "consistent": float(self.consistent),
            "first_place": fmean(preference.for_a for preference in preferences),
            **({} if self.rubric is None else {self.rubric: 1.0}),
        }


def _of_rubric(rubric: str) -> Headline:
    return Headline(f"{rubric}_pass_rate", f"avg(value) FILTER (metrics['{rubric}'] = 1)")


HEADLINES: Final = (
    Headline("pass_rate"),
    *metric_means("preference"),
    _of_rubric(SUBJECTIVE),
    _of_rubric(OBJECTIVE),
    ORDER_CONSISTENCY,
    Headline("first_place", "avg(metrics['first_place'])"),
)
"""The share that passed; the mean preference, where a clear win is 1 and a tie .5; and both by rubric."""
