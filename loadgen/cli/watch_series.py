"""`loadgen watch` of a series: the run that goes on, one after the other, then the summary."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Final

from loadgen.cli.report_series import show_series
from loadgen.sessions.errors import printable
from loadgen.sessions.files import series_file as files
from recorder.lock import is_held
from recorder.store import LOG_NAME

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_LOOK_S: Final = 0.1
"""How often it looks which run goes on."""


def watch_series(folder: Path, watch_run: Callable[[Path], None], *, json: bool) -> int:
    """Follow a series to the end."""
    followed: set[Path] = set()
    while (place := _going_on(folder, followed)) is not None or is_held(folder):
        if place is None:
            time.sleep(_LOOK_S)
            continue
        followed.add(place)
        if not json:
            print(printable(f"run {place.name}"))
            sys.stdout.flush()
        watch_run(place)
    if json:
        from loadgen.sessions.series.outcomes_so_far import outcomes_so_far
        from loadgen.sessions.series_outcome import most_severe

        return most_severe(outcomes_so_far(folder, files.read(folder)))
    return show_series(folder)


def _going_on(folder: Path, followed: set[Path]) -> Path | None:
    """The run of a series in progress; None between two runs."""
    series = files.read(folder)
    places = (files.folder_of(folder, series, number) for number in range(len(series.points)))
    return next(
        (
            place
            for place in places
            if place not in followed and (place / LOG_NAME).exists() and is_held(place.resolve())
        ),
        None,
    )
