"""A sweep, from its settings to its files."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.series_file import Series, SeriesKind, new_series_folder
from loadgen.sessions.observer import SILENT
from loadgen.sessions.series.point_options import Secrets, check
from loadgen.sessions.series.run_series import run_series
from loadgen.sessions.series.sweep.points import points_of
from loadgen.sessions.series.sweep.sweep_files import write_sweep

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.sessions.observer import Observer
    from loadgen.sessions.series_outcome import SeriesResult
    from loadgen.sessions.settings.sweep import SweepSettings


def new_sweep(settings: SweepSettings, perf: Mapping[str, Any]) -> tuple[Path, Series, Secrets]:
    """Plan a sweep.

    Returns:
        Its folder, which is made, its points, and the secrets of its runs.
    """
    secrets = Secrets(perf["api_key"], tuple(perf["header"]), perf["judge_api_key"])
    points = points_of(settings, perf)
    require_plot(wanted=settings.plot)
    folder = new_series_folder(settings.out, "sweep")
    series = Series(SeriesKind.SWEEP, {"plot": settings.plot}, points, settings.cooldown)
    return folder, series, secrets


def run_sweep(folder: Path, series: Series, secrets: Secrets, observer: Observer = SILENT) -> SeriesResult:
    """Run the points of a sweep that have not been run to their end, and write its files."""
    require_plot(wanted=series.definition["plot"])
    check(series.points, lambda _: secrets)
    ended = run_series(folder, series, lambda _: secrets, observer=observer)
    if not ended.interrupted:
        write_sweep(folder, ended.outcomes, plot=series.definition["plot"])
    return ended


def require_plot(*, wanted: bool) -> None:
    """Make sure that there is what plots are drawn with."""
    if wanted and find_spec("matplotlib") is None:
        raise UsageError("--plot needs matplotlib, which is not installed: pip install 'llm-loadgen[plot]'")
