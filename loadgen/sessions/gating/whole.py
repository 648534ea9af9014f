"""A sweep, or a suite, held against rules: each of its runs, and all of them together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.gating.evaluation import judged
from loadgen.sessions.gating.power import power_of
from loadgen.sessions.gating.scores import accuracy_of_points
from loadgen.sessions.gating.together import over_all, point
from reporter.render.judged import NamedVerdict
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from loadgen.sessions.settings.gate import GateSettings
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.ruleset import Ruleset
    from rulesets.sweeps import Point

_SWEEP: Final = "sweep"

Known = dict[str, "tuple[Report, Ruleset] | None"]
"""What came of each point, by its name; None for one that has not been run."""


def judge_series(given: GateSettings, tokenizer: Tokenizer | None) -> list[NamedVerdict]:
    """Judge every run of a series, then what the rules demand of all of them.

    A point that was not run is an invalid one: a gate that looked past it would pass what nobody measured.

    Raises:
        UsageError: There is no run in it yet, or no rules.
    """
    from loadgen.sessions.run.run_folder import folder_of

    folder = folder_of(given.run)
    power_of(given.power, series=True)
    known = _judged(folder, given, tokenizer)
    parts = [
        _not_run(name, folder) if one is None else NamedVerdict.of(one[0], name)
        for name, one in known.items()
    ]
    done = {name: one for name, one in known.items() if one is not None}
    return [*parts, *over_all(done, given.skip, _baseline(given), given.c_max, given.c_min)]


def _judged(folder: Path, given: GateSettings, tokenizer: Tokenizer | None) -> Known:
    from loadgen.sessions.series import series as files

    series, places = files.read(folder), _places(folder)
    if not any(place.exists() for place in places.values()):
        raise UsageError(f"{folder} is the folder of a {series.kind}, and it has no run yet")
    skip = [one for one in given.skip if one.partition(".")[0] != _SWEEP]
    accuracies = accuracy_of_points(given.accuracy, list(places))
    beside = {name: replace(_beside(given, name), accuracy=accuracies[name]) for name in places}
    return {
        name: judged(place.parent, beside[name], tokenizer, skip) if place.exists() else None
        for name, place in places.items()
    }


def _places(folder: Path) -> dict[str, Path]:
    """The logs of a series, by the names of its points."""
    from loadgen.sessions.series import series as files
    from recorder.store import LOG_NAME

    series = files.read(folder)
    return {
        point.name: files.folder_of(folder, series, number) / LOG_NAME
        for number, point in enumerate(series.points)
    }


def _beside(given: GateSettings, name: str) -> GateSettings:
    """What stands beside one point: of another series its point of the same name."""
    also = [_of_series(path, name) for path in given.also]
    return replace(
        given, also=also, baseline=[str(_of_series(Path(one), name)) for one in given.baseline], skip=[]
    )


def _of_series(path: Path, name: str) -> Path:
    from loadgen.sessions.run.run_folder import folder_of
    from loadgen.sessions.series.series import is_series

    if not is_series(path):
        return path
    places = _places(folder_of(path))
    if name not in places:
        raise UsageError(f"{path}: this series has no point {name}; it has {', '.join(places)}")
    return places[name].parent


def _not_run(name: str, folder: Path) -> NamedVerdict:
    why = f"it has not been run: go on with `loadgen resume {folder}`"
    return NamedVerdict(Verdict("INVALID", "", "", reasons=(why,)), name)


def _baseline(given: GateSettings) -> list[Point]:
    """The points of the series that the command line compares with."""
    from loadgen.sessions.run.report import make_report
    from loadgen.sessions.run.run_folder import folder_of
    from loadgen.sessions.series.series import is_series

    series = [folder_of(path) for path in map(Path, given.baseline) if is_series(path)]
    return [
        point(name, make_report(log.parent, None))
        for folder in series
        for name, log in _places(folder).items()
        if log.exists()
    ]
