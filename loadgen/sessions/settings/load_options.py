"""The options of the load and its duration."""

from __future__ import annotations

from typing import Final, Literal

from lazy_dataclasses import dataclass, fields
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.kinds import Seconds, number_or_ramp
from loadgen.sessions.settings.option import Panel, name_reader
from workloads.arrivals import ARRIVAL_PROCESSES, DEFAULT_ARRIVAL, arrival_process
from workloads.errors import ArrivalError
from workloads.registry import service

LOAD: Final = Panel("Load")
SESSIONS: Final = Panel("Sessions of agents")

_SHAPED: Final = [name for name, process in ARRIVAL_PROCESSES.items() if process.takes_burstiness]
_ARRIVALS_OF_BURSTINESS: Final = f"--arrival {' or '.join(_SHAPED)}"


def _probes(text: str) -> str:
    service("check_probes")(text)
    return text


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadSettings:
    """The options of the load, one per field."""

    concurrency: int | str | None = LOAD.option(
        "Closed loop: keep N requests in flight; or ramp:1..64,2m. Default load: 8 (accuracy: 16).",
        flags="-- -c",
        metavar="N",
        parser=number_or_ramp,
    )
    rate: str | None = LOAD.option(
        "Open loop: requests per second, whatever the server does; or a rate that changes, e.g. "
        "ramp:1..50,60s (docs/load.md).",
        flags="-- -r",
        metavar="RATE",
    )
    arrival: str | None = LOAD.option(
        f"Distribution of arrivals of --rate and --stages; {DEFAULT_ARRIVAL} by default.",
        parser=name_reader(arrival_process, ArrivalError),
        metavar="|".join(ARRIVAL_PROCESSES),
        examples=tuple(ARRIVAL_PROCESSES),
    )
    burstiness: float | None = LOAD.option(
        f"The shape of {_ARRIVALS_OF_BURSTINESS}: 1 is poisson, less is burstier.", metavar="SHAPE"
    )
    max_concurrency: int | None = LOAD.option(
        'With --rate: at most N requests in flight; the rest queue; "latency, incl. queueing" includes '
        "that wait."
    )
    stages: str | None = LOAD.option(
        "Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate.",
        metavar="FILE",
    )
    trace: str | None = LOAD.option(
        "Replay a trace of requests or sessions, or an earlier run; at the recorded times unless there is "
        "another load.",
        metavar="FILE|RUN",
    )
    trace_speed: float | None = LOAD.option("Replay --trace FACTOR times as fast.", metavar="FACTOR")
    trace_format: str | None = LOAD.option(
        "Format of --trace, time unit (s, ms, us, ns), tokens per block: mooncake,unit=s. Default: "
        "detected from the first lines.",
        metavar="FORMAT[,unit=UNIT][,block=TOKENS]",
    )
    trace_model: list[str] = LOAD.option(
        "Sessions: a model to ask for a recorded one, in order; repeatable. Default: --model.", []
    )
    think: str | None = LOAD.option(
        "Think time of a user between a response and the next request: 2s, exponential:2s; every:5s is the "
        "time from request to request.",
        metavar="DISTRIBUTION",
    )
    offline: bool = LOAD.switch("Send all requests at once.")
    requests: int | None = LOAD.option(
        "Number of measured requests. Default: each prompt once (synthetic: 100).", flags="-- -n"
    )
    sessions: int | None = LOAD.option(
        "Number of measured conversations, for prompts that are conversations; instead of --requests."
    )
    passes: int | None = LOAD.option("Send each prompt N times; instead of --requests.")
    duration: Seconds | None = LOAD.option(
        "Measure for this time: 60, 90s, 5m. With --requests, whichever ends first.", flags="-- -d"
    )
    warmup: str = LOAD.option("Warm-up before the measurement: 20 requests, or 30s.", "0", metavar="N|TIME")
    drain: Seconds | None = LOAD.option("Wait at most this time for the requests in flight at the end.")
    models: str | None = LOAD.option(
        "Several models or LoRA adapters: base=7,lora-a=3, or zipf:1.2:lora-a,lora-b; each prompt asks one.",
        metavar="NAME=WEIGHT,…",
    )
    abandon: str | None = LOAD.option(
        "Leave a share of the requests early, after their first-token, tokens:50, or 2s; their latencies do "
        "not count.",
        metavar="SHARE:after=WHEN",
    )
    probes: str | None = LOAD.option(
        "Send N probes/s of one kind during the load: 2:input=64,output=16; reported by themselves.",
        metavar="N:input=TOKENS,…",
        parser=_probes,
    )
    stop_on_overload: bool = LOAD.switch(
        "Open loop: end the run when the endpoint falls further and further behind."
    )
    steady: bool = LOAD.switch("The run is invalid unless a steady state is found.")
    seed: int = LOAD.option("Seed of the order of prompts, of synthetic prompts, and of arrivals.", 0)
    schedule_seed: int | None = LOAD.option("Seed of arrivals alone. Default: --seed.")

    def __post_init__(self) -> None:
        loads = set_flags(self, "concurrency", "rate", "stages", "offline")
        if len(loads) > 1:
            raise UsageError(f"{' and '.join(loads)} contradict each other: a run has one kind of load")
        if self.arrival is not None and self.rate is None and self.stages is None:
            raise UsageError("--arrival is the distribution of requests in time: give --rate or --stages")
        is_shaped = self.arrival is not None and arrival_process(self.arrival).takes_burstiness
        if is_shaped != (self.burstiness is not None):
            arrival = f"--arrival {self.arrival}" if is_shaped else _ARRIVALS_OF_BURSTINESS
            raise UsageError(f"{arrival} and --burstiness go together: each needs the other")
        if self.trace_speed is not None and self.trace is None:
            raise UsageError("--trace-speed is the speed of --trace: give --trace")
        if (self.trace_format is not None or self.trace_model) and self.trace is None:
            raise UsageError("--trace-format and --trace-model are for --trace: give --trace")
        is_open = self.has_recorded_times or not (self.rate is self.stages is None)
        if self.max_concurrency is not None and not (is_open or self.offline):
            raise UsageError(
                "--max-concurrency bounds an open loop: give --rate, --stages, --trace or --offline with it, "
                "or --concurrency in its place"
            )
        self._check_ends()
        self._check_offline()

    @property
    def has_recorded_times(self) -> bool:
        """Whether requests are issued at the times of a trace."""
        others = (self.concurrency, self.rate, self.stages)
        return self.trace is not None and not self.offline and all(other is None for other in others)

    def _check_ends(self) -> None:
        counts = set_flags(self, "requests", "sessions", "passes")
        if len(counts) > 1:
            raise UsageError(f"{' and '.join(counts)} contradict each other: a run has one count")
        if self.passes is not None and self.passes < 1:
            raise UsageError(f"--passes {self.passes}: must be 1 or more")
        if self.passes is not None and self.has_recorded_times:
            raise UsageError("--passes: a trace is replayed once; leave it out")
        if self.stop_on_overload and self.rate is self.stages is None and not self.has_recorded_times:
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
            raise UsageError("--steady: an offline load has no steady state; leave --steady out")
        if not self.warmup.strip().isdecimal():
            raise UsageError(
                f"--warmup {self.warmup}: with --offline requests leave at once; give a number of them"
            )


SaltPlace = Literal["prompt", "user", "system"]


@dataclass(frozen=True, kw_only=True, slots=True)
class TreeSettings:
    """The options of sessions of agents, one per field."""

    start_window: str | None = SESSIONS.option(
        "Begin each user's first session in this part of its recorded time, after a warm-up: 0.25..0.75.",
        metavar="LOW..HIGH",
    )
    cache_pressure: int = SESSIONS.option(
        "With --start-window: then send the next N requests of each user without delays, for one token each.",
        0,
    )
    warmup_drain: Seconds | None = SESSIONS.option(
        "With --start-window: wait at most this time for the warm-up requests in flight."
    )
    idle_cap: Seconds | None = SESSIONS.option(
        "Move all pending delays forward when no request has been in flight for this time."
    )
    tree_idle_cap: Seconds | None = SESSIONS.option(
        "The same within each session: its own requests and its own delays."
    )
    salt_at: SaltPlace = SESSIONS.option(
        "Place of --salt: before the prompt, before the first user message, or around the system prompt.",
        "prompt",
    )

    @property
    def flags(self) -> list[str]:
        """The options that differ from the defaults, as typed on a command line."""
        return set_flags(self, *(field.name for field in fields(self)))
