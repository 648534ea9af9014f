"""A calibration: the ladder of each kind of work, climbed until a step does not hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.calibration.load_search import ClimbStep
    from loadgen.sessions.calibration.load_steps import Ladder
    from loadgen.sessions.capacity.capacity import Calibration
    from loadgen.sessions.capacity.work import Work
    from loadgen.sessions.settings.calibrate import CalibrateSettings

_SPARE_FILES: Final = 128
"""Descriptors for everything but the connections of streams."""


def stored_calibration() -> Calibration:
    """The calibration of this machine.

    Raises:
        UsageError: None is stored.
    """
    from loadgen.sessions.capacity.stored_calibration import calibration_file, saved

    calibration = saved()
    if calibration is None:
        raise UsageError(
            f"no calibration of this machine in {calibration_file()}: run `loadgen calibrate` first"
        )
    return calibration


def ladders(settings: CalibrateSettings) -> Mapping[Work, Ladder]:
    """Where each kind of work starts and ends; no more streams than this process may have connections."""
    from loadgen.driver.system.open_files import allow_many_files
    from loadgen.sessions.calibration.load_steps import Ladder
    from loadgen.sessions.capacity.work import REQUESTS, STREAMS

    precision = 1.0 if settings.quick else 0.25
    most_streams = min(settings.max_streams, max(1, allow_many_files() - _SPARE_FILES))
    return {
        REQUESTS: Ladder(250, settings.max_rate, precision),
        STREAMS: Ladder(125, most_streams, precision),
    }


def calibration_of(settings: CalibrateSettings, taken: Mapping[Work, list[ClimbStep]]) -> Calibration:
    """The result of a calibration's steps."""
    from datetime import datetime
    from importlib.metadata import version

    from loadgen.sessions.calibration.load_search import capacity
    from loadgen.sessions.capacity.capacity import Calibration
    from loadgen.sessions.capacity.stored_calibration import this_machine
    from loadgen.sessions.capacity.work import REQUESTS, STREAMS

    return Calibration(
        machine=this_machine(),
        version=version("llm-loadgen"),
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        workers=settings.workers,
        within_ms=settings.within * 1e3,
        requests_s=capacity(taken[REQUESTS]),
        streams=capacity(taken[STREAMS]),
    )
