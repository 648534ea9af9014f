"""The scores that a run is evaluated with: load and accuracy are mostly measured in separate runs.

They are JSON: in the `report.json` of a run that was scored, or in a file of the scorer.

    {"accuracy": [{"task": "gsm8k", "scorer": "official", "value": 0.93, …}]}
    {"accuracy": {"ROUGE1": {"value": 38.9, "n": 13368, "standard_error": 0.11}}}
    {"accuracy": {"aime25": {"value": 0.81, "n": 240, "repeats": 8, "dataset": "aime25"}, …}}

Of a series the scores of single points: {"points": {"NAME": "RUN or FILE, paths relative to this file"}}.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import REPORT
from rulesets.evidence import Accuracy
from rulesets.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


_KEY: Final = "accuracy"
_MEMBERS: Final = frozenset({"value", "n", "standard_error", "repeats", "dataset"})
_POINTS: Final = "points"


def accuracy_of_points(source: Path | None, names: Sequence[str]) -> Mapping[str, Path | None]:
    """Where the scores of each point of a series are.

    Args:
        source: The value of --accuracy: a file with `points`, or the scores of all of them.
        names: The points; a file may leave out the blanks in their names.
    """
    if source is None or source.is_dir():
        return dict.fromkeys(names, source)
    content = _read(source)
    if not isinstance(content, dict) or _POINTS not in content:
        return dict.fromkeys(names, source)
    paths = content[_POINTS]
    if not isinstance(paths, dict) or not all(isinstance(path, str) for path in paths.values()):
        raise UsageError(
            f"--accuracy {source}: {_POINTS} must be paths of runs or files, by the points' names"
        )
    by_name = {_packed(name): source.parent / path for name, path in paths.items()}
    if unknown := [name for name in paths if _packed(name) not in map(_packed, names)]:
        raise UsageError(f"--accuracy {source}: no such point: {unknown[0]!r}; points: {', '.join(names)}")
    return {name: by_name.get(_packed(name)) for name in names}


def _packed(name: str) -> str:
    """A point's name without spaces, which are easy to forget: `model / load` is `model/load`."""
    return "".join(name.split())


def scores_of(source: Path | None) -> Mapping[str, Accuracy]:
    """The accuracies that a file has, by their names; nothing without a file."""
    if source is None:
        return {}
    path = source / REPORT if source.is_dir() else source
    content = _read(path)
    scores = content.get(_KEY) if isinstance(content, dict) else None
    if scores and isinstance(scores, list):
        return _of_report(path, scores)
    if not isinstance(scores, dict) or not scores:
        raise UsageError(f"--accuracy {path}: no scores under the key `{_KEY}`")
    return {name: _score(path, name, score) for name, score in scores.items()}


def _read(path: Path) -> Any:
    import orjson

    try:
        return orjson.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise UsageError(f"--accuracy {path}: cannot be read as JSON ({error})") from error


def _of_report(path: Path, scores: list[Any]) -> Mapping[str, Accuracy]:
    try:
        return Scores(scores)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise UsageError(
            f"--accuracy {path}: {_KEY}: not as report.json of this version has it ({error!r}); "
            "make it again: loadgen report RUN"
        ) from error


def _score(path: Path, name: str, entry: Any) -> Accuracy:
    where = f"--accuracy {path}: {_KEY}.{name}"
    if not isinstance(entry, dict) or not {"value", "n"} <= entry.keys() <= _MEMBERS:
        raise UsageError(
            f"{where}: must have `value` and `n`, and may have `standard_error`, `repeats` and `dataset`"
        )
    value, n, error = entry["value"], entry["n"], entry.get("standard_error")
    if not _is_number(value) or not (error is None or (_is_number(error) and error >= 0)):
        raise UsageError(f"{where}: `value` and `standard_error` must be finite numbers")
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"{where}: `n` must be how many samples were scored, 1 or more")
    repeats, dataset = entry.get("repeats", 1), entry.get("dataset", "")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1 or n % repeats:
        raise UsageError(f"{where}: `repeats` must be how often each question was asked: a divisor of `n`")
    if not isinstance(dataset, str):
        raise UsageError(f"{where}: `dataset` must be a name")
    sure = None if error is None else float(error)
    return Accuracy(float(value), n, sure, repeats=repeats, task=dataset, figure=name)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
