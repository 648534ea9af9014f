"""One question of a benchmark: the sample, and the reference for the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from workloads.sample import Sample


@dataclass(frozen=True, slots=True)
class Question:
    """One question.

    Attributes:
        id: The benchmark's own name for it, unique in the task: a row's id, else its number.
        sample: What is asked. Its tags (subject, level, …) tell scores apart; its `max_tokens` is the
            benchmark's own limit, where it has one.
        reference: All that a grader needs in addition to the answer, as JSON: the log keeps it, so that an
            answer can be scored again without the dataset.
        empty_is_answer: Whether the benchmark's rule judges an answer without text and without calls, as
            where no call is right; else such a response is a failed request, which has the value 0.
    """

    id: str
    sample: Sample
    reference: Mapping[str, Any]
    empty_is_answer: bool = False
