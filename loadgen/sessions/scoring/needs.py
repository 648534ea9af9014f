"""What scorers need on this machine, checked before the first answer is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from loadgen.sessions.scoring.choice import Chosen

_OF_A_FUNCTION = ":"
"""The mark of eval functions' names; they are not tried with an empty answer."""


def require_all(chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Make sure that all scorers have what they need.

    A scorer with `require` checks every question; any other one grades an empty answer to the first.

    Args:
        chosen: The scorers.
        references: The reference of each question, with its task.

    Raises:
        ExtraError, SourceError: A package, or a model, is missing.
        TaskError: A scorer cannot grade the answers to such a question.
    """
    scorers = [
        chosen_scorer
        for chosen_scorer in chosen
        if not chosen_scorer.scorer.runs_code and _OF_A_FUNCTION not in chosen_scorer.scorer.name
    ]
    tried: set[str] = set()
    for task, reference in references:
        for chosen_scorer in scorers:
            if chosen_scorer.task != task:
                continue
            if chosen_scorer.scorer.require is not None:
                chosen_scorer.scorer.require(reference)
            elif chosen_scorer.key not in tried:
                chosen_scorer.scorer.grade(reference, Answer(""))
                tried.add(chosen_scorer.key)
