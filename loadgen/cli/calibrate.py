"""`loadgen calibrate`: the client capacity of this machine, measured on a mock endpoint."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.sessions.calibration.load_search import ClimbStep
    from loadgen.sessions.capacity.capacity import Calibration
    from loadgen.sessions.capacity.work import Work
    from loadgen.sessions.settings.calibrate import CalibrateSettings


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
    from loadgen.sessions.calibration.calibration import calibration_of, stored_calibration

    if settings.show:
        _show(stored_calibration(), {}, json=settings.json)
        return
    taken = _climbs(settings)
    calibration = calibration_of(settings, taken)
    _show(calibration, taken, json=settings.json)
    _keep(calibration)


def _climbs(settings: CalibrateSettings) -> Mapping[Work, list[ClimbStep]]:
    """Climb the ladder of each kind of work, telling of every step on standard error."""
    from loadgen.cli.terminal.calibration_table import progress
    from loadgen.sessions.calibration.calibration import ladders
    from loadgen.sessions.calibration.load_search import climb
    from loadgen.sessions.calibration.step import take

    taken: dict[Work, list[ClimbStep]] = {}
    duration = settings.step or (1.0 if settings.quick else 1.5)
    attempts = 1 if settings.quick else 2
    for work, ladder in ladders(settings).items():
        steps = partial(take, work, seconds=duration, workers=settings.workers)
        taken[work] = []
        for tried in climb(work, ladder, settings.within * 1e3, attempts, steps):
            print(progress(work.name, tried), file=sys.stderr)
            taken[work].append(tried)
    return taken


def _show(calibration: Calibration, taken: Mapping[Work, list[ClimbStep]], *, json: bool) -> None:
    if json:
        import orjson

        shown = {
            "calibration": calibration.to_dict(),
            "steps": {work.name: [tried.to_dict() for tried in steps] for work, steps in taken.items()},
        }
        print(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())
        return
    from loadgen.cli.terminal.calibration_table import ladder, summary

    for work, steps_of_work in taken.items():
        print(ladder(work.name, steps_of_work), end="\n\n")
    print(summary(calibration))


def _keep(calibration: Calibration) -> None:
    """Save the calibration; a read-only cache is worth a note only."""
    from loadgen.sessions.capacity.stored_calibration import calibration_file, save

    try:
        save(calibration)
    except (OSError, RuntimeError) as error:
        print(f"note: the calibration was not kept ({error})", file=sys.stderr)
    else:
        print(f"kept in {calibration_file()}; again: loadgen calibrate --show", file=sys.stderr)
