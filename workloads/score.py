"""The score of one answer."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from collections.abc import Mapping


JUDGE_REPLY: Final = "judge_reply"
"""The detail with a judge's reply that could not be parsed: reports count the samples that have it."""


class Status(StrEnum):
    """How far an answer could be judged."""

    SCORED = "scored"
    """The grader read the answer and judged it."""
    UNPARSED = "unparsed"
    """There is an answer, but not in a form that the benchmark reads; its rule counts it as wrong."""
    MISSING = "missing"
    """No answer came, for the request failed: wrong, with the failure as the reason."""
    INFRA_ERROR = "infra_error"
    """What should have judged it failed (a sandbox, an eval function), or the client did: no value."""
    JUDGE_PENDING = "judge_pending"
    """A judge has to be asked first: no value."""


@dataclass(frozen=True, slots=True)
class Score:
    """The judgement of one answer.

    Attributes:
        value: The benchmark's own figure for one sample, mostly 0 or 1; None where the status gives none.
        status: How far the answer could be judged.
        extracted: What was taken out of the answer to be judged, as text.
        reason: Why it is not simply right, in a few words.
        metrics: Further figures of this sample by their names, which the benchmark's headlines are made of.
        details: Further texts by their names, for readers of the sample.
    """

    value: float | None
    status: Status = Status.SCORED
    extracted: str | None = None
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    details: Mapping[str, str] = field(default_factory=dict)


def graded(value: float, extracted: str | None = None, reason: str = "", **metrics: float) -> Score:
    """A score of an answer that could be read."""
    return Score(float(value), Status.SCORED, extracted, reason, metrics)


def unparsed(reason: str, **metrics: float) -> Score:
    """The score 0 of an answer that is not in the form that was asked for."""
    return Score(0.0, Status.UNPARSED, None, reason, metrics)


def pending(reason: str = "no judge has been asked") -> Score:
    """No score yet: a judge's word is needed."""
    return Score(None, Status.JUDGE_PENDING, None, reason)


def with_replies(score: Score, *replies: str) -> Score:
    """A score with the judge's unparsable replies, as given by the benchmark's rule."""
    return replace(score, details={**score.details, JUDGE_REPLY: " | ".join(replies)})


def failed(reason: str, **details: str) -> Score:
    """No score, because the judge of the answer failed."""
    return Score(None, Status.INFRA_ERROR, None, reason, details=details)


def unreadable(wanted: str, *replies: str) -> Score:
    """No score: a judge replied, and not in a form that can be read. The replies are kept with the score.

    Args:
        wanted: What the replies lack, as in `a verdict [[A]], [[B]] or [[C]]`.
        replies: What the judge said.
    """
    return with_replies(failed(f"the judge gave no {wanted}"), *replies)
