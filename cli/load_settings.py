"""The options that say how load is put on, and for how long."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

import typer

from cli.endpoint_settings import seconds
from cli.errors import UsageError
from cli.failure_settings import FailureSettings

LOAD: Final = "Load"


@dataclass(frozen=True, kw_only=True, slots=True)
class LoadSettings(FailureSettings):
    """What can be said about the load; field by field an option."""

    concurrency: Annotated[
        int | None,
        typer.Option(
            "--concurrency",
            "-c",
            help="Closed loop: so many requests in flight. The default load, with 8.",
            rich_help_panel=LOAD,
        ),
    ] = None
    rate: Annotated[
        str | None,
        typer.Option(
            "--rate",
            "-r",
            metavar="RATE",
            help="Open loop: so many requests a second, whatever the server does; or a rate that changes: "
            "ramp:1..50,60s, ramp-exp:1..50,60s, steps:10..50x5,60s, sine:20,10,60s, bursts:5,100,10s,1s.",
            rich_help_panel=LOAD,
        ),
    ] = None
    arrival: Annotated[
        Literal["poisson", "constant", "gamma", "uniform"] | None,
        typer.Option(
            help="How --rate or --stages spreads its requests; poisson by default.", rich_help_panel=LOAD
        ),
    ] = None
    burstiness: Annotated[
        float | None,
        typer.Option(
            metavar="SHAPE",
            help="The shape of --arrival gamma: 1 is poisson, less is burstier.",
            rich_help_panel=LOAD,
        ),
    ] = None
    max_concurrency: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Open loop, --offline: at most so many requests in flight. What is due meanwhile waits; the "
            "latencies from the schedule have the wait.",
            rich_help_panel=LOAD,
        ),
    ] = None
    stages: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="Open loop: a YAML, JSON, TOML or CSV file of stages, each with a duration and a rate.",
            rich_help_panel=LOAD,
        ),
    ] = None
    trace: Annotated[
        str | None,
        typer.Option(
            metavar="FILE|RUN",
            help="Open loop: the requests of a trace, or of an earlier run, at their times.",
            rich_help_panel=LOAD,
        ),
    ] = None
    trace_speed: Annotated[
        float | None,
        typer.Option(metavar="FACTOR", help="Replay --trace so many times as fast.", rich_help_panel=LOAD),
    ] = None
    think: Annotated[
        str | None,
        typer.Option(
            metavar="DISTRIBUTION",
            help="The pause of a user between an answer and the next request: 2s, exponential:2s.",
            rich_help_panel=LOAD,
        ),
    ] = None
    offline: Annotated[
        bool,
        typer.Option("--offline", help="All requests at once.", rich_help_panel=LOAD),
    ] = False
    requests: Annotated[
        int | None,
        typer.Option(
            "--requests",
            "-n",
            help="Measured requests. Default, without --duration: each prompt once (synthetic: 100).",
            rich_help_panel=LOAD,
        ),
    ] = None
    sessions: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Measured conversations, where prompts are conversations; instead of --requests.",
            rich_help_panel=LOAD,
        ),
    ] = None
    passes: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Ask each prompt so many times; instead of --requests.",
            rich_help_panel=LOAD,
        ),
    ] = None
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            "-d",
            parser=seconds,
            metavar="TIME",
            help="Measure for so long: 60, 90s, 5m. With --requests, what is reached first ends the run.",
            rich_help_panel=LOAD,
        ),
    ] = None
    warmup: Annotated[
        str,
        typer.Option(
            metavar="N|TIME",
            help="Requests before the measured ones: 20; or for so long: 30s.",
            rich_help_panel=LOAD,
        ),
    ] = "0"
    drain: Annotated[
        float | None,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="Await what is in flight at the end for so long at most.",
            rich_help_panel=LOAD,
        ),
    ] = None
    stop_on_overload: Annotated[
        bool,
        typer.Option(
            "--stop-on-overload",
            help="Open loop: end the run when the endpoint falls behind more and more.",
            rich_help_panel=LOAD,
        ),
    ] = False
    steady: Annotated[
        bool,
        typer.Option(
            "--steady", help="The run is invalid unless a steady state is found.", rich_help_panel=LOAD
        ),
    ] = False
    seed: Annotated[
        int,
        typer.Option(help="Of the order of prompts, of synthetic ones, of arrivals.", rich_help_panel=LOAD),
    ] = 0
    schedule_seed: Annotated[
        int | None,
        typer.Option(
            metavar="N", help="Of arrivals alone. Default: --seed.", show_default=False, rich_help_panel=LOAD
        ),
    ] = None

    def check_load(self) -> None:
        """Refuse what contradicts itself."""
        loads = [
            option
            for option, given in (
                ("--concurrency", self.concurrency is not None),
                ("--rate", self.rate is not None),
                ("--stages", self.stages is not None),
                ("--trace", self.trace is not None),
                ("--offline", self.offline),
            )
            if given
        ]
        if len(loads) > 1:
            raise UsageError(f"{' and '.join(loads)} contradict each other: a run has one kind of load")
        if self.arrival is not None and self.rate is None and self.stages is None:
            raise UsageError("--arrival says how requests are spread: give --rate or --stages")
        if (self.arrival == "gamma") != (self.burstiness is not None):
            raise UsageError("--arrival gamma and --burstiness go together: the one needs the other")
        if self.trace_speed is not None and self.trace is None:
            raise UsageError("--trace-speed says how fast --trace is replayed: give --trace")
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
        """Refuse what makes no sense where everything leaves at once."""
        if not self.offline:
            return
        if self.think is not None:
            raise UsageError("--think: with --offline nobody waits for an answer; leave it out")
        if self.steady:
            raise UsageError("--steady: with --offline there is no steady state; leave it out")
        if not self.warmup.strip().isdecimal():
            raise UsageError(
                f"--warmup {self.warmup}: with --offline requests leave at once; give a number of them"
            )
