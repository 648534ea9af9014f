"""The scores that an export has room for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Accuracy


def headlines(scores: Mapping[str, Accuracy]) -> dict[str, Accuracy]:
    """The main figures of benchmarks, where available.

    Of several names of a figure the first stays; a scorer that is not the benchmark's own is left out where
    the benchmark's own has a figure; and a score of a file that names no dataset, next to others that do, is
    over all of them, and has no dataset of its own.
    """
    names = {id(score): name for name, score in reversed(list(scores.items()))}
    main_scores = {
        name: score
        for name, score in scores.items()
        if names[id(score)] == name and score.headline and score.value is not None
    }
    with_own = {score.task for score in main_scores.values() if score.own}
    several = any(score.task for score in main_scores.values())
    return {
        name: score
        for name, score in main_scores.items()
        if (score.own or score.task not in with_own) and (score.task or not several)
    }
