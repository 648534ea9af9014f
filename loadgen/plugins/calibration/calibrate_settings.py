"""The options of `loadgen calibrate`."""

from __future__ import annotations

from lazy_dataclasses import dataclass
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds
from loadgen.sessions.settings.option import GENERAL


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrateSettings:
    """The options of `loadgen calibrate`, one per field."""

    within: Seconds = GENERAL.option(
        "How far TTFT, TPOT and ITL may be from the truth, at p50 and p99.", 0.001
    )
    workers: int | None = GENERAL.option("Worker processes; else as many as perf takes.")
    quick: bool = GENERAL.switch("Shorter steps, and no search between two doublings.")
    step: Seconds | None = GENERAL.option("How long a step measures: 1.5s, 1s with --quick.")
    max_rate: int = GENERAL.option("The highest rate to try, in req/s.", 32_000, min=1, max=1_000_000)
    max_streams: int = GENERAL.option("The most streams to try.", 8_000, min=1, max=100_000)
    show: bool = GENERAL.switch("Print the last result, and measure nothing.")
    json: Json = False

    def __post_init__(self) -> None:
        if self.within <= 0:
            raise UsageError("--within: nothing is within 0 ms of the truth; write 1ms, or 0.5ms")
