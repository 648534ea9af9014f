"""`loadgen calibrate`: what this machine can do as a client, found on a mock endpoint."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cli.calibration.capacity import Calibration
    from cli.calibration.climb import Tried
    from cli.calibration.ladder import Ladder
    from cli.calibration.step import Work

_SPARE_FILES: Final = 128
"""Descriptors for everything but the connections of streams."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrateSettings:
    """What can be said to `loadgen calibrate`; field by field an option."""

    within: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            show_default="1ms",
            help="How far TTFT, TPOT and ITL may be from the truth, at p50 and p99.",
        ),
    ] = 0.001
    workers: Annotated[int | None, typer.Option(help="Worker processes; else as many as perf takes.")] = None
    quick: Annotated[
        bool,
        typer.Option("--quick", help="Shorter steps, and nothing is searched between two doublings."),
    ] = False
    step: Annotated[
        float | None,
        typer.Option(parser=seconds, metavar="TIME", help="How long a step measures: 1.5s, 1s with --quick."),
    ] = None
    max_rate: Annotated[int, typer.Option(min=1, max=1_000_000, help="The most requests/s to try.")] = 32_000
    max_streams: Annotated[int, typer.Option(min=1, max=100_000, help="The most streams to try.")] = 8_000
    show: Annotated[bool, typer.Option("--show", help="Print what was found last, and try nothing.")] = False
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of the tables.")] = False

    def __post_init__(self) -> None:
        if self.within <= 0:
            raise UsageError("--within: nothing is within 0 ms of the truth; write 1ms, or 0.5ms")


def calibrate(settings: CalibrateSettings) -> None:
    """Find out what this machine can do as a client: up to where what it reports is true.

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
        _show(_kept(), {}, json=settings.json)
        return
    taken = _climbs(settings)
    calibration = _calibration(settings, taken)
    _show(calibration, taken, json=settings.json)
    _keep(calibration)


def _kept() -> Calibration:
    from cli.calibration.kept import calibration_file, saved

    calibration = saved()
    if calibration is None:
        raise UsageError(
            f"no calibration of this machine in {calibration_file()}: run `loadgen calibrate` first"
        )
    return calibration


def _climbs(settings: CalibrateSettings) -> Mapping[Work, list[Tried]]:
    """Climb the ladder of each kind of work, telling of every step on standard error."""
    from cli.calibration.climb import climb
    from cli.calibration.step import take
    from cli.calibration.table import progress

    taken: dict[Work, list[Tried]] = {}
    duration = settings.step or (1.0 if settings.quick else 1.5)
    attempts = 1 if settings.quick else 2
    for work, ladder in _ladders(settings).items():
        steps = partial(take, work, seconds=duration, workers=settings.workers)
        taken[work] = []
        for tried in climb(work, ladder, settings.within * 1e3, attempts, steps):
            print(progress(work.name, tried), file=sys.stderr)
            taken[work].append(tried)
    return taken


def _ladders(settings: CalibrateSettings) -> Mapping[Work, Ladder]:
    """Where each kind of work starts and ends; no more streams than this process may have connections."""
    from cli.calibration.ladder import Ladder
    from cli.calibration.step import REQUESTS, STREAMS
    from loadgen.open_files import allow_many_files

    precision = 1.0 if settings.quick else 0.25
    most_streams = min(settings.max_streams, max(1, allow_many_files() - _SPARE_FILES))
    return {
        REQUESTS: Ladder(250, settings.max_rate, precision),
        STREAMS: Ladder(125, most_streams, precision),
    }


def _calibration(settings: CalibrateSettings, taken: Mapping[Work, list[Tried]]) -> Calibration:
    from datetime import datetime
    from importlib.metadata import version

    from cli.calibration.capacity import Calibration
    from cli.calibration.climb import capacity
    from cli.calibration.kept import this_machine
    from cli.calibration.step import REQUESTS, STREAMS

    return Calibration(
        machine=this_machine(),
        version=version("llm-loadgen"),
        made_at=datetime.now().astimezone().isoformat(timespec="seconds"),
        workers=settings.workers,
        within_ms=settings.within * 1e3,
        requests_s=capacity(taken[REQUESTS]),
        streams=capacity(taken[STREAMS]),
    )


def _show(calibration: Calibration, taken: Mapping[Work, list[Tried]], *, json: bool) -> None:
    if json:
        import orjson

        steps = {work.name: tried for work, tried in taken.items()}
        print(orjson.dumps({"calibration": calibration, "steps": steps}, option=orjson.OPT_INDENT_2).decode())
        return
    from cli.calibration.table import ladder, summary

    for work, steps_of_work in taken.items():
        print(ladder(work.name, steps_of_work), end="\n\n")
    print(summary(calibration))


def _keep(calibration: Calibration) -> None:
    """Save it; a cache that cannot be written to is worth a word, and no more."""
    from cli.calibration.kept import calibration_file, save

    try:
        save(calibration)
    except (OSError, RuntimeError) as error:
        print(f"note: the calibration was not kept ({error})", file=sys.stderr)
    else:
        print(f"kept in {calibration_file()}; again: loadgen calibrate --show", file=sys.stderr)
