"""The scores that a run is judged with: load and accuracy are mostly measured in runs of their own.

They are JSON: in the `report.json` of a run that was scored, or in a file of whoever scored the answers.

    {"accuracy": [{"task": "gsm8k", "scorer": "official", "value": 0.93, …}]}
    {"accuracy": {"ROUGE1": {"value": 38.9, "n": 13368, "standard_error": 0.11}}}
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from cli.errors import UsageError
from cli.run_folder import REPORT

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from rulesets.evidence import Accuracy

_KEY: Final = "accuracy"
_MEMBERS: Final = frozenset({"value", "n", "standard_error"})


def scores_of(source: Path | None) -> Mapping[str, Accuracy]:
    """The accuracies that a file has, by their names; nothing without a file.

    Args:
        source: The folder of a run, or a file.

    Raises:
        UsageError: It cannot be read, or has no scores, or one of them is none.
    """
    if source is None:
        return {}
    import orjson

    path = source / REPORT if source.is_dir() else source
    try:
        told = orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--accuracy {path}: cannot be read as JSON ({error})") from error
    scores = told.get(_KEY) if isinstance(told, dict) else None
    if scores and isinstance(scores, list):
        return _of_report(path, scores)
    if not isinstance(scores, dict) or not scores:
        raise UsageError(f"--accuracy {path}: has no scores; they stand under the key `{_KEY}`")
    return {name: _score(path, name, score) for name, score in scores.items()}


def _of_report(path: Path, told: list[Any]) -> Mapping[str, Accuracy]:
    from rulesets.scores import Scores

    try:
        return Scores(told)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"--accuracy {path}: {_KEY}: not as report.json of this version has it ({error!r}); "
            "make it again: loadgen report RUN"
        ) from error


def _score(path: Path, name: str, told: Any) -> Accuracy:
    from rulesets.evidence import Accuracy

    where = f"--accuracy {path}: {_KEY}.{name}"
    if not isinstance(told, dict) or not {"value", "n"} <= told.keys() <= _MEMBERS:
        raise UsageError(f"{where}: must have `value` and `n`, and may have `standard_error`")
    value, n, error = told["value"], told["n"], told.get("standard_error")
    if not _is_number(value) or not (error is None or (_is_number(error) and error >= 0)):
        raise UsageError(f"{where}: `value` and `standard_error` must be finite numbers")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"{where}: `n` must be how many samples were scored, 1 or more")
    return Accuracy(float(value), n, None if error is None else float(error))


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
