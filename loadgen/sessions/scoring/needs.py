"""What judging takes on this machine, looked at before the first answer is judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.scoring.choice import Chosen

_OF_A_FUNCTION = ":"
"""Eval functions have it in their names; what they do with an empty answer is their own affair."""


def require_all(chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Make sure that all scorers have what they take.

    A scorer with `require` is asked about every question; any other one judges an empty answer to the first.

    Args:
        chosen: The scorers.
        references: What the answers to each question are held against, with its task.

    Raises:
        ExtraError, SourceError: A package, or a model, is missing.
        TaskError: A scorer does not judge answers that were asked for in this way.
    """
    scorers = [one for one in chosen if not one.scorer.runs_code and _OF_A_FUNCTION not in one.scorer.name]
    tried: set[str] = set()
    for task, reference in references:
        for one in scorers:
            if one.task != task:
                continue
            if one.scorer.require is not None:
                one.scorer.require(reference)
            elif one.key not in tried:
                one.scorer.grade(reference, Answer(""))
                tried.add(one.key)
