"""A suite, from settings to the summary of the runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.files.series_file import Series, new_series_folder
from loadgen.sessions.observer import SILENT, Observer
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series.suite.after_run import after_run
from loadgen.sessions.series.suite.chosen_runs import (
    chosen_entries,
    folder_of_suite,
    name_of,
    remarks,
    series_of,
    sound,
    suite_to_run,
)
from loadgen.sessions.series.suite.secret_variables import from_environment, named, secrets_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from loadgen.sessions.series.suite.matrix import MatrixRun
    from loadgen.sessions.series.suite.source_lines import SuiteSource
    from loadgen.sessions.series.suite.suite_model import Suite
    from loadgen.sessions.series_outcome import SeriesResult
    from loadgen.sessions.settings.run import RunSettings


def planned_suite(
    settings: RunSettings, observer: Observer = SILENT
) -> tuple[SuiteSource, Suite, tuple[MatrixRun, ...], Callable[[str], None]]:
    """Read a suite and choose the runs; nothing is sent.

    Returns:
        The source, the suite, the chosen runs, and a function that notes omissions.
    """

    def note(text: str) -> None:
        observer.note(f"note: {text}")

    source, suite, left_out = suite_to_run(settings)
    entries = chosen_entries(settings, source, suite)
    for text in (*left_out, *remarks(source, suite, entries)):
        note(text)
    return source, suite, entries, note


def new_suite(settings: RunSettings, observer: Observer = SILENT) -> tuple[Path, Series]:
    """Plan a suite and make its folder; nothing is sent."""
    source, suite, entries, note = planned_suite(settings, observer)
    folder = new_series_folder(folder_of_suite(settings, source, suite), name_of(source, suite))
    keys = named(entries)
    points = sound(
        source, entries, secrets_of(keys, from_environment()), left_out=note if settings.all else None
    )
    stops = settings.stop_on_failure
    series = series_of(
        *(source, suite, points, keys),
        cooldown_s=suite.run.cooldown if settings.cooldown is None else settings.cooldown,
        stop_on_failure=suite.run.stop_on_failure if stops is None else stops,
        sample_files=settings.all,
    )
    return folder, series


def run_suite(folder: Path, series: Series, key: str | None, observer: Observer = SILENT) -> SeriesResult:
    """Run the incomplete runs of a suite."""
    secrets = secrets_of(series.definition["secrets"], key)
    return run_series(
        *(folder, series, lambda point: secrets(point.name)),
        observer=observer,
        stop_after=after_run(folder, series, observer),
    )
