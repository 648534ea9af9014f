"""The options of `loadgen calibrate`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrateSettings:
    """The options of `loadgen calibrate`, one per field."""

    within: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            show_default="1ms",
            help="How far TTFT, TPOT and ITL may be from the truth, at p50 and p99.",
        ),
    ] = 0.001
    workers: Annotated[int | None, Option(help="Worker processes; else as many as perf takes.")] = None
    quick: Annotated[
        bool,
        Option("--quick", help="Shorter steps, and no search between two doublings."),
    ] = False
    step: Annotated[
        float | None,
        Option(parser=seconds, metavar="TIME", help="How long a step measures: 1.5s, 1s with --quick."),
    ] = None
    max_rate: Annotated[int, Option(min=1, max=1_000_000, help="The most requests/s to try.")] = 32_000
    max_streams: Annotated[int, Option(min=1, max=100_000, help="The most streams to try.")] = 8_000
    show: Annotated[bool, Option("--show", help="Print the last result, and measure nothing.")] = False
    json: Json = False

    def __post_init__(self) -> None:
        if self.within <= 0:
            raise UsageError("--within: nothing is within 0 ms of the truth; write 1ms, or 0.5ms")
