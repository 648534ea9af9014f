"""`accuracy_results.json` of mlcommons/endpoints, from scores.

mlcommons/endpoints@ea332753:src/inference_endpoint/commands/benchmark/accuracy.py.

Each dataset is one entry, for checkers add up the samples of entries and weigh their scores by them: a model
that is scored on three benchmarks has three, and the ROUGE figures of one dataset share one.
"""

from __future__ import annotations

import math
from statistics import fmean
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Accuracy


def headlines(scores: Mapping[str, Accuracy]) -> dict[str, Accuracy]:
    """The main figures of benchmarks, where available.

    Of several names of a figure the first stays; a scorer that is not the benchmark's own is left out where
    the benchmark's own has a figure; and a score of a file that names no dataset, next to others that do, is
    over all of them, and has no separate dataset.
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


def accuracy_results(scores: Mapping[str, Accuracy], dataset: str | None) -> dict[str, Any]:
    """The scores of a run, an entry for each dataset."""
    by_task: dict[str, dict[str, Accuracy]] = {}
    for name, score in scores.items():
        figure = score.figure or name
        by_task.setdefault(_AGENTIC.get(figure, score.task), {})[figure] = score
    entries = [_entry(task or dataset, figures) for task, figures in by_task.items()]
    values = [entry["score"] for entry in entries]
    average = None if any(isinstance(value, dict) for value in values) else fmean(values)
    return {**({} if average is None else {"average_accuracy": average}), "accuracy_scores": entries}


_AGENTIC: Final = {"inline": "performance", "swe_bench": "swe_bench"}
"""The scores of agentic inference, with their datasets; checkers read shares, and rules bound per cent.

mlcommons/endpoints-submission-cli 1.5.3.0: submission_checker/models/aggregate/context.py, `_dataset_score`.
"""


def _as_reported(name: str, value: float | None) -> float | None:
    return value / 100 if name in _AGENTIC and value is not None else value


def _entry(dataset: str | None, figures: Mapping[str, Accuracy]) -> dict[str, Any]:
    """One dataset: a number for a single figure, else numbers by figure."""
    values = {name: _as_reported(name, score.value) for name, score in figures.items()}
    (first, *others) = values.values()
    samples, repeats = max((score.n, score.repeats) for score in figures.values())
    return {
        "dataset_name": dataset,
        "dataset_type": "performance" if dataset == _AGENTIC["inline"] else "accuracy",
        "metrics": list(values),
        "score": values if others else first,
        "unit_samples": math.ceil(samples / repeats),
        "num_repeats": repeats,
        "total_samples": samples,
        "complete": not any(score.unscored for score in figures.values()),
    }
