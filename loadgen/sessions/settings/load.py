"""The options of the load and its duration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint import seconds
from loadgen.sessions.settings.option import Option
from workloads.arrivals import ARRIVAL_PROCESSES, DEFAULT_ARRIVAL

LOAD: Final = "Load"

_SHAPED: Final = [name for name, process in ARRIVAL_PROCESSES.items() if process.takes_burstiness]
_ARRIVALS_OF_BURSTINESS: Final = f"--arrival {' or '.join(_SHAPED)}"

if TYPE_CHECKING:
    ArrivalName = str
else:
    ArrivalName = Literal[tuple(ARRIVAL_PROCESSES)]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadSettings:
    """The options of the load, one per field."""

    concurrency: Annotated[
        int | None,
        Option(
            "--concurrency -c",
            help="Closed loop: keep N requests in flight. Default load: 8 (accuracy: 16).",
            panel=LOAD,
        ),
    ] = None
    rate: Annotated[
        str | None,
        Option(
            "--rate -r",
            metavar="RATE",
            help="Open loop: requests per second, whatever the server does; or a rate that "
            "changes, e.g. ramp:1..50,60s (docs/load.md).",
            panel=LOAD,
        ),
    ] = None
    arrival: Annotated[
        ArrivalName | None,
        Option(
            help=f"Distribution of arrivals of --rate and --stages; {DEFAULT_ARRIVAL} by default.", panel=LOAD
        ),
    ] = None
    burstiness: Annotated[
        float | None,
        Option(
            metavar="SHAPE",
            help=f"The shape of {_ARRIVALS_OF_BURSTINESS}: 1 is poisson, less is burstier.",
            panel=LOAD,
        ),
    ] = None
    max_concurrency: Annotated[
        int | None,
        Option(
            metavar="N",
            help='With --rate: at most N requests in flight; the rest queue; "latency, incl. queueing" '
            "includes that wait.",
            panel=LOAD,
        ),
    ] = None
    stages: Annotated[
        str | None,
        Option(
            metavar="FILE",
            help="Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate.",
            panel=LOAD,
        ),
    ] = None
    trace: Annotated[
        str | None,
        Option(
            metavar="FILE|RUN",
            help="Open loop: replay the requests of a trace, or of an earlier run, at the recorded times.",
            panel=LOAD,
        ),
    ] = None
    trace_speed: Annotated[
        float | None,
        Option(metavar="FACTOR", help="Replay --trace FACTOR times as fast.", panel=LOAD),
    ] = None
    trace_format: Annotated[
        str | None,
        Option(
            metavar="FORMAT[,unit=UNIT][,block=TOKENS]",
            help="Format of --trace, time unit (s, ms, us, ns), tokens per block: mooncake,unit=s. "
            "Default: detected from the first lines.",
            panel=LOAD,
            show_default=False,
        ),
    ] = None
    think: Annotated[
        str | None,
        Option(
            metavar="DISTRIBUTION",
            help="Think time of a user between a response and the next request: 2s, exponential:2s.",
            panel=LOAD,
        ),
    ] = None
    offline: Annotated[
        bool,
        Option("--offline", help="Send all requests at once.", panel=LOAD),
    ] = False
    requests: Annotated[
        int | None,
        Option(
            "--requests -n",
            help="Number of measured requests. Default: each prompt once (synthetic: 100).",
            panel=LOAD,
        ),
    ] = None
    sessions: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Number of measured conversations, for prompts that are conversations; instead of "
            "--requests.",
            panel=LOAD,
        ),
    ] = None
    passes: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Send each prompt N times; instead of --requests.",
            panel=LOAD,
        ),
    ] = None
    duration: Annotated[
        float | None,
        Option(
            "--duration -d",
            parser=seconds,
            metavar="TIME",
            help="Measure for this time: 60, 90s, 5m. With --requests, whichever ends first.",
            panel=LOAD,
        ),
    ] = None
    warmup: Annotated[
        str,
        Option(
            metavar="N|TIME",
            help="Warm-up before the measurement: 20 requests, or 30s.",
            panel=LOAD,
        ),
    ] = "0"
    drain: Annotated[
        float | None,
        Option(
            parser=seconds,
            metavar="TIME",
            help="Wait at most this time for the requests in flight at the end.",
            panel=LOAD,
        ),
    ] = None
    stop_on_overload: Annotated[
        bool,
        Option(
            "--stop-on-overload",
            help="Open loop: end the run when the endpoint falls further and further behind.",
            panel=LOAD,
        ),
    ] = False
    steady: Annotated[
        bool,
        Option("--steady", help="The run is invalid unless a steady state is found.", panel=LOAD),
    ] = False
    seed: Annotated[
        int,
        Option(help="Seed of the order of prompts, of synthetic prompts, and of arrivals.", panel=LOAD),
    ] = 0
    schedule_seed: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Seed of arrivals alone. Default: --seed.",
            show_default=False,
            panel=LOAD,
        ),
    ] = None

    def __post_init__(self) -> None:
        loads = [
            option
            for option, is_set in (
                ("--concurrency", self.concurrency is not None),
                ("--rate", self.rate is not None),
                ("--stages", self.stages is not None),
                ("--trace", self.trace is not None),
                ("--offline", self.offline),
            )
            if is_set
        ]
        if len(loads) > 1:
            raise UsageError(f"{' and '.join(loads)} contradict each other: a run has one kind of load")
        if self.arrival is not None and self.rate is None and self.stages is None:
            raise UsageError("--arrival is the distribution of requests in time: give --rate or --stages")
        if (self.arrival in _SHAPED) != (self.burstiness is not None):
            raise UsageError(f"{_ARRIVALS_OF_BURSTINESS} and --burstiness go together: each needs the other")
        if self.trace_speed is not None and self.trace is None:
            raise UsageError("--trace-speed is the speed of --trace: give --trace")
        if self.trace_format is not None and self.trace is None:
            raise UsageError("--trace-format is the format of --trace: give --trace")
        is_open = not (self.rate is self.stages is self.trace is None)
        if self.max_concurrency is not None and not (is_open or self.offline):
            raise UsageError(
                "--max-concurrency bounds an open loop: give --rate, --stages, --trace or --offline with it, "
                "or --concurrency in its place"
            )
        self._check_ends()
        self._check_offline()

    def _check_ends(self) -> None:
        counts = [
            option
            for option, number in (
                ("--requests", self.requests),
                ("--sessions", self.sessions),
                ("--passes", self.passes),
            )
            if number is not None
        ]
        if len(counts) > 1:
            raise UsageError(f"{' and '.join(counts)} contradict each other: a run has one count")
        if self.passes is not None and self.passes < 1:
            raise UsageError(f"--passes {self.passes}: must be 1 or more")
        if self.passes is not None and self.trace is not None:
            raise UsageError("--passes: a trace is replayed once; leave it out")
        if self.stop_on_overload and self.rate is None and self.stages is None and self.trace is None:
            raise UsageError(
                "--stop-on-overload: only an open loop can ask for more than the endpoint does: give --rate"
            )

    def _check_offline(self) -> None:
        """Refuse options that do not apply where all requests leave at once."""
        if not self.offline:
            return
        if self.think is not None:
            raise UsageError("--think: with --offline no user waits for an answer; leave it out")
        if self.steady:
            raise UsageError("--steady: with --offline there is no steady state; leave it out")
        if not self.warmup.strip().isdecimal():
            raise UsageError(
                f"--warmup {self.warmup}: with --offline requests leave at once; give a number of them"
            )
