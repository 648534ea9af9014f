"""`loadgen calibrate`: the client capacity of this machine, measured on a mock endpoint."""

from __future__ import annotations

import sys
from datetime import datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Final

from loadgen.cli.terminal.streams import print_json
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.plugins.calibration.calibrate_settings import CalibrateSettings
    from loadgen.plugins.calibration.load_search import ClimbStep
    from loadgen.plugins.calibration.load_step import Work
    from loadgen.sessions.capacity import Calibration

_SPARE_FILES: Final = 128
"""Descriptors for everything but the connections of streams."""

_KEYS: Final = {"req/s": "requests/s", "streams": "streams"}
"""The ladders in JSON, by the names of their loads."""


def calibrate(settings: CalibrateSettings) -> None:
    """Find the highest load this machine can generate and still measure correctly.

    Against a mock endpoint on this machine, which knows the truth, the load is doubled until TTFT, TPOT or
    ITL is off, the client says that it was the limit, or the mock endpoint cannot keep up; then what lies
    between is searched. It takes about a minute. The result is kept in the user's cache, and perf warns of
    plans beyond it.

    [bold]Examples[/bold]

    loadgen calibrate

    loadgen calibrate --quick --within 0.5ms

    loadgen calibrate --show
    """
    if settings.show:
        _show(_stored_calibration(), {}, json=settings.json)
        return
    taken = _climbs(settings)
    calibration = _calibration_of(settings, taken)
    _show(calibration, taken, json=settings.json)
    _keep(calibration)


def _stored_calibration() -> Calibration:
    from loadgen.sessions.stored_calibration import calibration_file, saved

    calibration = saved()
    if calibration is None:
        raise UsageError(
            f"no calibration of this machine in {calibration_file()}: run `loadgen calibrate` first"
        )
    return calibration


def _climbs(settings: CalibrateSettings) -> Mapping[Work, list[ClimbStep]]:
    """Climb the ladder of each kind of work, and print each step on standard error."""
    from loadgen.driver.system.memory import allow_many_files
    from loadgen.plugins.calibration.load_search import Ladder, climb
    from loadgen.plugins.calibration.load_step import REQUESTS, STREAMS, take
    from loadgen.plugins.calibration.result_table import progress

    precision = 1.0 if settings.quick else 0.25
    most_streams = min(settings.max_streams, max(1, allow_many_files() - _SPARE_FILES))
    ladders = {
        REQUESTS: Ladder(250, settings.max_rate, precision),
        STREAMS: Ladder(125, most_streams, precision),
    }
    taken: dict[Work, list[ClimbStep]] = {}
    duration = settings.step or (1.0 if settings.quick else 1.5)
    attempts = 1 if settings.quick else 2
    for work, ladder in ladders.items():
        steps = partial(take, work, seconds=duration, workers=settings.workers)
        taken[work] = []
        for tried in climb(work, ladder, settings.within * 1e3, attempts, steps):
            print(progress(work.name, tried), file=sys.stderr)
            taken[work].append(tried)
    return taken


def _calibration_of(settings: CalibrateSettings, taken: Mapping[Work, list[ClimbStep]]) -> Calibration:
    from loadgen.plugins.calibration.load_search import capacity
    from loadgen.plugins.calibration.load_step import REQUESTS, STREAMS
    from loadgen.sessions.capacity import Calibration, this_machine

    return Calibration(
        machine=this_machine(),
        version=version("llm-loadgen"),
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        workers=settings.workers,
        within_ms=settings.within * 1e3,
        requests_s=capacity(taken[REQUESTS]),
        streams=capacity(taken[STREAMS]),
    )


def _show(calibration: Calibration, taken: Mapping[Work, list[ClimbStep]], *, json: bool) -> None:
    if json:
        shown = {
            "calibration": calibration.to_dict(),
            "steps": {
                _KEYS[work.name]: [tried.to_dict() for tried in steps] for work, steps in taken.items()
            },
        }
        print_json(shown)
        return
    from loadgen.plugins.calibration.result_table import ladder, summary

    for work, steps_of_work in taken.items():
        print(ladder(work.name, steps_of_work), end="\n\n")
    print(summary(calibration))


def _keep(calibration: Calibration) -> None:
    """Save the calibration; a read-only cache is worth a note only."""
    from loadgen.sessions.stored_calibration import calibration_file, save

    try:
        save(calibration)
    except (OSError, RuntimeError) as error:
        print(f"note: the calibration was not kept ({error})", file=sys.stderr)
    else:
        print(f"kept in {calibration_file()}; again: loadgen calibrate --show", file=sys.stderr)
