"""The runs of a sweep: one per combination of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from loadgen.sessions.series.point_options import point_of
from loadgen.sessions.series.sweep.axis import grid, numbers, varied
from loadgen.sessions.settings.perf import perf_settings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.files.series_file import SeriesPoint
    from loadgen.sessions.settings.sweep import SweepSettings


def points_of(settings: SweepSettings, perf: Mapping[str, Any]) -> tuple[SeriesPoint, ...]:
    """Every run of a sweep."""
    texts = {"concurrency": settings.concurrency, "rate": settings.rate}
    axes = [numbers(option, text) for option, text in texts.items() if text is not None]
    axes += [varied(text) for text in settings.vary]
    return tuple(_point(values, perf) for values in grid(axes))


def _point(values: Mapping[str, tuple[str, Any]], perf: Mapping[str, Any]) -> SeriesPoint:
    name = "-".join(f"{option}-{text}" for option, (text, _) in values.items())
    options = {option.replace("-", "_"): value for option, (_, value) in values.items()}
    axes = {option: _number(text) for option, (text, _) in values.items()}
    return point_of(name, axes, perf_settings(**{**perf, **options}))


def _number(text: str) -> float | str:
    """A number where it is one, so that tables sort and programs compute."""
    if text.isdecimal():
        return int(text)
    return float(text) if text.replace(".", "", 1).isdecimal() else text
