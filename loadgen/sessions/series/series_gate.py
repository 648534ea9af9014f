"""A sweep, or a suite, evaluated by rules: each of its runs, and all of them together."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.evaluate_run import evaluate
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import folder_of
from loadgen.sessions.files.series_file import is_series
from loadgen.sessions.gating.given_inputs import accuracy_of_points, power_of
from loadgen.sessions.run.report_of_log import make_report
from loadgen.sessions.series.sweep_evidence import over_all, point
from loadgen.sessions.settings.verdict_options import exit_code, most_severe
from recorder.store import LOG_NAME
from reporter.render.named_verdict import NamedVerdict
from rulesets.exit_codes import ExitCode
from rulesets.verdict import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadgen.sessions.settings.gate import GateSettings
    from reporter.report import Report
    from reporter.tokens import Tokenizer
    from rulesets.ruleset import Ruleset
    from rulesets.sweeps import Point

_SWEEP: Final = "sweep"
OVERLOADED: Final = "OVERLOADED"
"""The label of the verdict on an overloaded run."""


def evaluate_series(settings: GateSettings, tokenizer: Tokenizer | None) -> list[NamedVerdict]:
    """Evaluate every run of a series, then the rules over all of them.

    A point that was not run is invalid: otherwise a gate would pass what was never measured.
    """
    folder = folder_of(settings.run)
    power_of(settings.power, series=True)
    results = _evaluated(folder, settings, tokenizer)
    parts = [
        _not_run(name, folder) if result is None else NamedVerdict.of(result[0], name)
        for name, result in results.items()
    ]
    done = {name: result for name, result in results.items() if result is not None}
    return [*parts, *over_all(done, settings.skip, _baseline(settings), settings.c_max, settings.c_min)]


def code_of_series(folder: Path, parts: Sequence[NamedVerdict], inconclusive: str) -> int:
    """The most severe exit code; a point of a sweep that is only overloaded counts as missed."""
    is_sweep = files.read(folder).kind == files.SeriesKind.SWEEP
    return most_severe(
        ExitCode.FAIL
        if is_sweep and part.label == OVERLOADED and len(part.reasons) == 1
        else exit_code(part.status, inconclusive)
        for part in parts
    )


def _evaluated(
    folder: Path, settings: GateSettings, tokenizer: Tokenizer | None
) -> dict[str, tuple[Report, Ruleset] | None]:
    """The report and rules of each point, by its name; None for one that has not been run."""
    series, places = files.read(folder), _places(folder)
    if not any(place.exists() for place in places.values()):
        raise UsageError(f"{folder} is the folder of a {series.kind}, and it has no run yet")
    skip = [rule for rule in settings.skip if rule.partition(".")[0] != _SWEEP]
    accuracies = accuracy_of_points(settings.accuracy, list(places))
    settings_of_points = {
        name: replace(_settings_of(settings, name), accuracy=accuracies[name]) for name in places
    }
    return {
        name: evaluate(place.parent, settings_of_points[name], tokenizer, skip) if place.exists() else None
        for name, place in places.items()
    }


def _places(folder: Path) -> dict[str, Path]:
    series = files.read(folder)
    return {
        point.name: files.folder_of(folder, series, number) / LOG_NAME
        for number, point in enumerate(series.points)
    }


def _settings_of(settings: GateSettings, name: str) -> GateSettings:
    """The settings of one point: of another series, its point of the same name."""
    also = [_of_series(path, name) for path in settings.also]
    return replace(
        settings,
        also=also,
        baseline=[str(_of_series(Path(reference), name)) for reference in settings.baseline],
        skip=[],
    )


def _of_series(path: Path, name: str) -> Path:
    if not is_series(path):
        return path
    places = _places(folder_of(path))
    if name not in places:
        raise UsageError(f"{path}: no such point: {name}; points: {', '.join(places)}")
    return places[name].parent


def _not_run(name: str, folder: Path) -> NamedVerdict:
    why = f"not run yet: continue with `loadgen resume {folder}`"
    return NamedVerdict(Verdict("INVALID", "", "", reasons=(why,)), name)


def _baseline(settings: GateSettings) -> list[Point]:
    """The points of the series that the command line compares with."""
    series = [folder_of(path) for path in map(Path, settings.baseline) if is_series(path)]
    return [
        point(name, make_report(log.parent, None))
        for folder in series
        for name, log in _places(folder).items()
        if log.exists()
    ]
