"""`accuracy/accuracy_results.json` of mlcommons/endpoints, from scores.

mlcommons/endpoints@ea332753:src/inference_endpoint/commands/benchmark/accuracy.py.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rulesets.evidence import Accuracy


def accuracy_results(scores: Mapping[str, Accuracy], dataset: str | None) -> dict[str, Any]:
    """The scores of one dataset.

    They are one entry, for checkers add up the samples of entries: a number where there is one score, else
    numbers by the names of the scores.

    Args:
        scores: By their names; one at least.
        dataset: What was scored.
    """
    values = {name: score.value for name, score in scores.items()}
    (first, *others) = values.values()
    samples, repeats = max((score.n, score.repeats) for score in scores.values())
    entry = {
        "dataset_name": dataset,
        "dataset_type": "accuracy",
        "metrics": list(values),
        "score": values if others else first,
        "unit_samples": math.ceil(samples / repeats),
        "num_repeats": repeats,
        "total_samples": samples,
        "complete": not any(score.unscored for score in scores.values()),
    }
    return {**({} if others else {"average_accuracy": first}), "accuracy_scores": [entry]}
