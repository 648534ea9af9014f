"""The work of a grading process: from an answer and a scorer to a SCORED payload."""

from __future__ import annotations

import math
from dataclasses import replace
from numbers import Real
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from workloads.errors import ExtraError, SourceError
from workloads.score import Score, Status, failed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reporter.stored_answers import Stored
    from workloads.scorer import Scorer

LONGEST: Final = 2000
"""How many characters of an extracted answer, and of a reason, are kept: the answer itself is in the log."""

MISSING: Final = (ExtraError, SourceError)
"""Errors of this machine, which a grader has for every answer."""

NO_STATUS: Final = b"!"
"""In a result in place of the status when something is missing; the payload says what."""

_VALUELESS: Final = frozenset({Status.INFRA_ERROR, Status.JUDGE_PENDING})


class Grading(NamedTuple):
    """One answer to grade by one scorer."""

    stored: Stored
    scorer: int


def grade(scorer: Scorer, stored: Stored, model: str | None, sampling: str | None = None) -> Score:
    """Grade an answer; an error of the grader is not a score of the answer.

    Args:
        scorer: The scorer.
        stored: The answer.
        model: The judge whose replies count; None for the latest judge.
        sampling: How it is sampled; None for its latest replies.
    """
    try:
        answer = stored.answer(scorer.judge, model, sampling)
        return _with_judge(checked(scorer.grade(stored.parsed_reference(), answer)), stored)
    except MISSING:
        raise
    except MemoryError:
        return failed("the grader ran out of memory")
    except RecursionError:
        return failed("the grader raised RecursionError")
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 (whatever a grader raises ends its own sample only)
        return failed(f"the grader raised {type(error).__name__}: {error}")


def _with_judge(score: Score, stored: Stored) -> Score:
    if score.status is not Status.JUDGE_PENDING or stored.judge_failure is None:
        return score
    return replace(score, reason=f"the judge failed: {stored.judge_failure}")


def checked(score: Any) -> Score:
    """Check that the value of a score is finite or absent."""
    if not isinstance(score, Score) or score.status not in set(Status):
        return failed(f"the grader returned {score!r}, where a score should be")
    if (score.value is None) != (score.status in _VALUELESS):
        return failed(f"the grader said {score.status} with the value {score.value}")
    numbers = {**score.metrics} if score.value is None else {"value": score.value, **score.metrics}
    for name, number in numbers.items():
        if not isinstance(number, Real) or not math.isfinite(number):
            return failed(f"the grader gave {name} {number!r}, where a number should be")
    return score


def scored_payload(pass_number: int, scorer: str, score: Score) -> Mapping[str, Any]:
    """The SCORED payload of a score, without empty members."""
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
    """A text that JSON can hold, cut to the length that is kept."""
    whole = str(text).encode("utf-8", "replace").decode()
    return whole if len(whole) <= LONGEST else f"{whole[:LONGEST]}…"
