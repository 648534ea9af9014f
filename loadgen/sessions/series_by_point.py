"""Series compared with each other: two of them point by point, or the points of one with its first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from loadgen.sessions.compare_runs import compare_runs
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files import series_file as files
from loadgen.sessions.files.run_folder import folder_of
from loadgen.sessions.plotting import labels
from loadgen.sessions.settings.verdict_options import exit_code, most_severe
from reporter.compare.comparison import PointComparison, SeriesComparison
from reporter.log.storage_place import has_log

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.settings.compare import CompareSettings


def points_of_series(settings: CompareSettings) -> list[Mapping[str, Path]]:
    """The names of the begun points of each compared series, with the runs."""
    named = [*map(Path, settings.baseline), *settings.runs]
    if not all(map(files.is_series, named)):
        raise UsageError("a series is compared with a series: name two sweeps or suites, or runs of them")
    points = [_points(folder_of(path)) for path in named]
    if len(points) == 1 and len(points[0]) <= 1:
        raise UsageError(f"{named[0]}: fewer than two of its runs have begun")
    if len(points) not in {1, 2}:
        raise UsageError(f"{len(named)} series: name two of them, to be compared point by point")
    return points


def compare_points(
    settings: CompareSettings, reference: Mapping[str, Path], changed: Mapping[str, Path]
) -> SeriesComparison:
    """Compare each point of a series with the point of the same name of the reference."""
    if settings.plot is not None:
        raise UsageError("--plot: of two series, compare one pair of runs at a time")
    pairs = {name: (run, changed[name]) for name, run in reference.items() if name in changed}
    if not pairs:
        raise UsageError(
            f"no point is in both series; points: {', '.join(reference) or 'none'} and "
            f"{', '.join(changed) or 'none'}"
        )
    points = [
        PointComparison(name, runs, compare_runs(replace(settings, runs=list(runs), baseline=[])))
        for name, runs in pairs.items()
    ]
    left_out = [name for name in {**reference, **changed} if name not in pairs]
    severest = most_severe(exit_code(point.comparison.status) for point in points)
    worst = next(point for point in points if exit_code(point.comparison.status) == severest)
    reference_name, name = labels([*settings.baseline, *settings.runs])
    return SeriesComparison((reference_name, name), points, left_out, worst)


def _points(folder: Path) -> Mapping[str, Path]:
    """The runs of a series that have begun, by the names of its points."""
    series = files.read(folder)
    places = {
        point.name: files.folder_of(folder, series, number) for number, point in enumerate(series.points)
    }
    return {name: place for name, place in places.items() if has_log(place)}
