"""What a grading process is given and what it makes of it: one answer, one scorer, one SCORED payload."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workloads.errors import ExtraError, SourceError
from workloads.score import Score, Status, failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.answers import Stored
    from workloads.scorer import Scorer

LONGEST: Final = 2000
"""So many characters of what was extracted, and of a reason, are kept: the answer itself is in the log."""

MISSING: Final = (ExtraError, SourceError)
"""What this machine lacks, a grader lacks for every answer."""

NO_STATUS: Final = b"!"
"""Stands in a result where its status would, when something is missing: then what follows says what."""

_VALUELESS: Final = frozenset({Status.INFRA_ERROR, Status.JUDGE_PENDING})


class Grading(NamedTuple):
    """One thing to do.

    Attributes:
        stored: The answer.
        scorer: The number of the scorer, in the list that the process was started with.
    """

    stored: Stored
    scorer: int


def grade(scorer: Scorer, stored: Stored, model: str | None, sampling: str | None = None) -> Score:
    """Judge an answer; what a grader does wrong says nothing about the answer.

    Args:
        scorer: How.
        stored: The answer.
        model: The judge whose word counts; None for whichever judged last.
        sampling: How it is sampled; None for whatever it said last.

    Raises:
        ExtraError, SourceError: A package is missing, or a model that a grader takes.
    """
    try:
        answer = stored.answer(scorer.judge, model, sampling)
        return _with_judge(checked(scorer.grade(stored.held_against(), answer)), stored)
    except MISSING:
        raise
    except MemoryError:
        return failed("the grader ran out of memory")
    except RecursionError:
        return failed("the grader raised RecursionError")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (whatever a grader raises ends its own sample only)
        return failed(f"the grader raised {type(error).__name__}: {error}")


def _with_judge(score: Score, stored: Stored) -> Score:
    """A score that says why it waits for a judge, where one was asked and failed."""
    if score.status is not Status.JUDGE_PENDING or stored.judge_failure is None:
        return score
    return replace(score, reason=f"the judge failed: {stored.judge_failure}")


def checked(score: Any) -> Score:
    """A score as it can be kept: with a number where there is a value, and only there."""
    if not isinstance(score, Score) or score.status not in set(Status):
        return failed(f"the grader returned {score!r}, where a score should be")
    if (score.value is None) != (score.status in _VALUELESS):
        return failed(f"the grader said {score.status} with the value {score.value}")
    numbers = {**score.metrics} if score.value is None else {"value": score.value, **score.metrics}
    for name, number in numbers.items():
        if not isinstance(number, Real) or not math.isfinite(number):
            return failed(f"the grader gave {name} {number!r}, where a number should be")
    return score


def told(pass_number: int, scorer: str, score: Score) -> Mapping[str, Any]:
    """The SCORED payload of a score: what there is nothing of is left out."""
    data: dict[str, Any] = {"pass": pass_number, "scorer": scorer}
    if score.value is not None:
        data["value"] = float(score.value)
    data["status"] = str(score.status)
    if score.extracted is not None:
        data["extracted"] = _fit(score.extracted)
    if score.reason:
        data["reason"] = _fit(score.reason)
    if score.metrics:
        data["metrics"] = {_fit(name): float(number) for name, number in score.metrics.items()}
    if score.details:
        data["details"] = {_fit(name): _fit(text) for name, text in score.details.items()}
    return data


def _fit(text: Any) -> str:
    """A text as JSON can hold it, and no longer than is kept."""
    whole = str(text).encode("utf-8", "replace").decode()
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"
