"""The options of `loadgen perf`: what can be said about a performance session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from cli.endpoint_settings import ENDPOINT, EndpointSettings, seconds
from cli.errors import UsageError
from cli.failure_settings import FailureSettings

LOAD: Final = "Load"
CLIENT: Final = "Client"
GENERATION: Final = "Generation"
PROMPTS: Final = "Prompts"
RESULT: Final = "Result"

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings(FailureSettings):
    """What can be said about a performance session; field by field an option of `loadgen perf`."""

    probe: Annotated[
        bool,
        typer.Option(help="Ask for the model list before the run.", rich_help_panel=ENDPOINT),
    ] = True

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
        float | None,
        typer.Option(
            "--rate",
            "-r",
            help="Open loop: so many requests a second, whatever the server does.",
            rich_help_panel=LOAD,
        ),
    ] = None
    arrival: Annotated[
        Literal["poisson", "constant"] | None,
        typer.Option(help="How --rate spreads its requests; poisson by default.", rich_help_panel=LOAD),
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
    duration: Annotated[
        float | None,
        typer.Option(
            "--duration",
            "-d",
            parser=seconds,
            metavar="TIME",
            help="Measure for so long: 60, 90s, 5m.",
            rich_help_panel=LOAD,
        ),
    ] = None
    warmup: Annotated[
        int,
        typer.Option(help="Requests before the measured ones.", rich_help_panel=LOAD),
    ] = 0
    seed: Annotated[
        int,
        typer.Option(help="Of arrivals and synthetic prompts.", rich_help_panel=LOAD),
    ] = 0

    workers: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Processes that share the load. Default: as many as the load and the machine call for.",
            rich_help_panel=CLIENT,
        ),
    ] = None
    transport: Annotated[
        Literal["native", "aiohttp"],
        typer.Option(
            help="Who carries requests: the measured transport, or aiohttp, which knows proxies.",
            rich_help_panel=CLIENT,
        ),
    ] = "native"
    connect_ahead: Annotated[
        int,
        typer.Option(
            metavar="N",
            help="Open so many connections before the first request; with native only.",
            rich_help_panel=CLIENT,
        ),
    ] = 0

    max_tokens: Annotated[
        int | None,
        typer.Option(help="The most output tokens.", rich_help_panel=GENERATION),
    ] = None
    temperature: Annotated[
        float | None,
        typer.Option(help="Sampling temperature.", rich_help_panel=GENERATION),
    ] = None
    stream: Annotated[
        bool,
        typer.Option(help="Ask for a stream. Without one there is no TTFT.", rich_help_panel=GENERATION),
    ] = True
    extra_body: Annotated[
        str | None,
        typer.Option(
            metavar="JSON",
            help="""Further members of the request body, e.g. '{"ignore_eos": true}'.""",
            rich_help_panel=GENERATION,
        ),
    ] = None

    prompts: Annotated[
        Path | None,
        typer.Option(
            help="JSONL, JSON, CSV or Parquet, gzipped or not; synthetic prompts without it.",
            rich_help_panel=PROMPTS,
        ),
    ] = None
    prompt_column: Annotated[
        str | None,
        typer.Option(help="The column of the prompts; found by its name if usual.", rich_help_panel=PROMPTS),
    ] = None
    system_column: Annotated[
        str | None,
        typer.Option(help="The column of the system prompts.", rich_help_panel=PROMPTS),
    ] = None

    out: Annotated[
        Path | None,
        typer.Option(help="The run's folder; runs/<time>-<model> by default.", rich_help_panel=RESULT),
    ] = None
    require: Annotated[
        list[str],
        typer.Option(
            metavar="RULE",
            help="A target, e.g. 'ttft:p(99)<500ms'; repeatable. Exit 1 when missed.",
            rich_help_panel=RESULT,
        ),
    ] = field(default_factory=list)
    ruleset: Annotated[
        Path | None,
        typer.Option(help="A YAML file of targets.", rich_help_panel=RESULT),
    ] = None
    json: Annotated[
        bool,
        typer.Option(
            "--json", help="Print report.json instead of the console report.", rich_help_panel=RESULT
        ),
    ] = False
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="No progress.", rich_help_panel=RESULT),
    ] = False

    def __post_init__(self) -> None:
        EndpointSettings.__post_init__(self)
        loads = [
            option
            for option, given in (
                ("--concurrency", self.concurrency is not None),
                ("--rate", self.rate is not None),
                ("--offline", self.offline),
            )
            if given
        ]
        if len(loads) > 1:
            raise UsageError(f"{' and '.join(loads)} contradict each other: a run has one kind of load")
        if not self.stream and self.protocol == "sse":
            raise UsageError("--no-stream: --protocol sse is a stream; use json for one JSON text")
        if self.arrival is not None and self.rate is None:
            raise UsageError("--arrival says how --rate spreads its requests: give --rate")
        if self.prompts is None and (self.prompt_column or self.system_column):
            raise UsageError("--prompt-column and --system-column name columns of a file: give --prompts")
        self._check_client()

    def _check_client(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport != "native":
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")
