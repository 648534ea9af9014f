"""The inputs of a gate that the user gives: scores, results of audits, and the power of the system.

Scores are JSON: in the `report.json` of a run that was scored, or in a file of the scorer.

    {"accuracy": [{"task": "gsm8k", "scorer": "official", "value": 0.93, …}]}
    {"accuracy": {"ROUGE1": {"value": 38.9, "n": 13368, "standard_error": 0.11}}}
    {"accuracy": {"aime25": {"value": 0.81, "n": 240, "repeats": 8, "dataset": "aime25"}, …}}

Of a series the scores of single points: {"points": {"NAME": "RUN or FILE, paths relative to this file"}}.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.run_folder import REPORT
from rulesets.errors import suggestion
from rulesets.evidence import Accuracy
from rulesets.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from loadgen.sessions.settings.gate import GateSettings
    from reporter.render.named_verdict import NamedVerdict

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


SOURCES: Final = ("provisioned", "nvml", "wall")
"""The source of a figure: the provisioned power, the GPUs' own counters, a meter at the wall. Rules name
one of them, and figures of two sources are never compared."""


@dataclass(frozen=True, slots=True)
class PowerReading:
    """The power that a system draws: `run.power` of its report.

    Attributes:
        source: One of `SOURCES`.
        watts: Above 0.
    """

    source: str
    watts: float


def power_of(option: str | None, *, series: bool = False) -> PowerReading | None:
    """The value of `--power`; None without the option.

    Args:
        option: `SOURCE:WATTS`.
        series: Whether it is for several runs: a measured figure belongs to one.
    """
    if option is None:
        return None
    source, _, figure = option.partition(":")
    if source not in SOURCES:
        raise UsageError(
            f"--power {option}: {source!r} is not a source of a figure; {suggestion(source, SOURCES)} "
            "Write SOURCE:WATTS, e.g. wall:5200"
        )
    if series and source != "provisioned":
        raise UsageError(
            f"--power {option}: a measured power belongs to one run, and this is a series; "
            "evaluate each run separately, or give the provisioned power"
        )
    return PowerReading(source, _watts(option, figure))


def _watts(option: str, figure: str) -> float:
    try:
        watts = float(figure)
    except ValueError:
        watts = math.nan
    if not 0 < watts < math.inf:
        raise UsageError(f"--power {option}: must have watts above 0, e.g. {option.partition(':')[0]}:5200")
    return watts


_NAME: Final = re.compile(r"(?:audit_)?(?P<name>[a-z_]+?)(?:_test)?")
_SAYS: Final[Mapping[str, tuple[str, tuple[type, ...], str]]] = {
    "output_caching": ("passed", (bool,), "whether the audit `passed`: true or false"),
    "perf_mode_accuracy": ("value", (int, float), "the score under load, `value`"),
}
"""What each must have: the key, its types, and both in words."""
_FOLDER: Final = "audit"
_MOST_BYTES: Final = 1024 * 1024


def audits_in(folder: Path | None) -> Mapping[str, Mapping[str, Any]]:
    """The results by the audits' names in rulesets; empty without a folder.

    Args:
        folder: The folder of the audits, or one that has them in `audit`.
    """
    if folder is None:
        return {}
    within = folder / _FOLDER
    place = within if within.is_dir() else folder
    if not place.is_dir():
        raise UsageError(f"--audit {folder}: the folder does not exist")
    audits = dict(_audit(path) for path in sorted(place.glob("*.json")))
    if not audits:
        raise UsageError(
            f"--audit {folder}: has no result of an audit, such as audit_output_caching_test.json"
        )
    return audits


def _audit(path: Path) -> tuple[str, Mapping[str, Any]]:
    import orjson

    try:
        with path.open("rb") as file:
            members = orjson.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError) as error:
        raise UsageError(f"--audit {path}: cannot be read as JSON ({error})") from error
    if not isinstance(members, dict):
        raise UsageError(f"--audit {path}: holds no keys and values")
    test = str(members.get("test") or path.stem)
    called = _NAME.fullmatch(test.lower().replace("-", "_"))
    if called is None or called["name"] not in _SAYS:
        raise UsageError(f"--audit {path}: {test!r} is not an audit; there is {' and '.join(_SAYS)}")
    key, kinds, what = _SAYS[called["name"]]
    if not isinstance(members.get(key), kinds) or (isinstance(members[key], bool) and bool not in kinds):
        raise UsageError(f"--audit {path}: does not say {what}")
    n = members.get("n", 1)
    if isinstance(n, bool) or not isinstance(n, int) or n < 1:
        raise UsageError(f"--audit {path}: `n` must be how many samples were scored, 1 or more")
    return called["name"], members


def unused_options(settings: GateSettings, parts: Sequence[NamedVerdict]) -> Iterator[str]:
    """The options that no rule used."""
    asked = {row.group for part in parts for row in part.rows}
    for option, option_value, groups in (
        ("--baseline", settings.baseline, {"baseline", "sweep"}),
        ("--also", settings.also, {"baseline"}),
        ("--accuracy", settings.accuracy, {"accuracy", "baseline", "sweep"}),
        ("--audit", settings.audit, {"audit"}),
    ):
        if option_value and not groups & asked:
            yield option
    if settings.power and not any(row.id == "power" for part in parts for row in part.rows):
        yield "--power"
