"""The requirements of scorers on this machine, checked before the first answer is scored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workloads.answer import Answer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from loadgen.sessions.scoring.choice import Chosen

_OF_A_FUNCTION = ":"
"""The mark of eval functions' names; they are not tried with an empty answer."""


def require_all(chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]) -> None:
    """Check the requirements of all scorers.

    A scorer with `require` checks every question; any other one grades an empty answer to the first.
    """
    tried: set[str] = set()
    trying = _tried(chosen)
    for task, reference in references:
        for chosen_scorer in trying:
            if chosen_scorer.task != task:
                continue
            if chosen_scorer.scorer.require is not None:
                chosen_scorer.scorer.require(reference)
            elif chosen_scorer.key not in tried:
                chosen_scorer.scorer.grade(reference, Answer(""))
                tried.add(chosen_scorer.key)


def needed_references(
    chosen: Sequence[Chosen], references: Iterable[tuple[str, Mapping[str, Any]]]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The references, with tasks, that `require_all` reads."""
    trying = _tried(chosen)
    all_of = {entry.task for entry in trying if entry.scorer.require is not None}
    one_of = {entry.task for entry in trying} - all_of
    for task, reference in references:
        if task in all_of or task in one_of:
            yield task, reference
            one_of.discard(task)


def _tried(chosen: Sequence[Chosen]) -> list[Chosen]:
    """The scorers whose requirements show in a question, or in grading an empty answer."""
    return [
        chosen_scorer
        for chosen_scorer in chosen
        if not chosen_scorer.scorer.runs_code and _OF_A_FUNCTION not in chosen_scorer.scorer.name
    ]
