"""The options of `loadgen perf`: what can be said about a performance session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from cli.endpoint_settings import ENDPOINT, EndpointSettings
from cli.errors import UsageError
from cli.gating.outcome import Inconclusive
from cli.task_settings import TaskSettings

CLIENT: Final = "Client"
GENERATION: Final = "Generation"
RESULT: Final = "Result"

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000
MOST_GPUS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class PerfSettings(TaskSettings):
    """What can be said about a performance session; field by field an option of `loadgen perf`."""

    url: Annotated[
        list[str],
        typer.Option(
            envvar="LOADGEN_URL",
            help="Base URL, with or without /v1; repeatable, for several endpoints that share the load.",
            rich_help_panel=ENDPOINT,
        ),
    ]
    balance: Annotated[
        Literal["round-robin", "least-in-flight"] | None,
        typer.Option(
            help="Which of several endpoints a request goes to: the next in turn (the default), or where the "
            "fewest are in flight. A conversation stays where it began.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    probe: Annotated[
        bool,
        typer.Option(help="Ask for the model list before the run.", rich_help_panel=ENDPOINT),
    ] = True
    gpus: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="How many GPUs the endpoint has: for tokens a second of each (tps_per_gpu).",
            rich_help_panel=ENDPOINT,
        ),
    ] = None

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
            help="""Further members of the request body, e.g. '{"top_k": 20}'.""",
            rich_help_panel=GENERATION,
        ),
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
        str | None,
        typer.Option(
            metavar="NAME|FILE",
            help="A built-in ruleset, NAME or NAME@VERSION (see loadgen list rulesets), or a YAML file.",
            rich_help_panel=RESULT,
        ),
    ] = None
    scenario: Annotated[
        str | None,
        typer.Option(
            metavar="[MODEL/]SCENARIO",
            help="The scenario of the ruleset. Default: the one for this model and this load.",
            rich_help_panel=RESULT,
        ),
    ] = None
    skip: Annotated[
        list[str],
        typer.Option(
            metavar="ID|GROUP",
            help="Leave a rule, or a group of them, out; the verdict says so. Repeatable.",
            rich_help_panel=RESULT,
        ),
    ] = field(default_factory=list)
    abort_on_fail: Annotated[
        bool,
        typer.Option(
            "--abort-on-fail",
            help="End the run, with exit 1, as soon as one of its targets is lost beyond doubt.",
            rich_help_panel=RESULT,
        ),
    ] = False
    inconclusive: Annotated[
        Inconclusive,
        typer.Option(help="What an inconclusive verdict ends with: 0, 1, or 5.", rich_help_panel=RESULT),
    ] = "5"
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
        self._check_urls()
        self.check_load()
        self.check_prompts(self.max_tokens)
        self.check_tasks()
        if not self.stream and self.protocol == "sse":
            raise UsageError("--no-stream: --protocol sse is a stream; use json for one JSON text")
        self._check_client()

    def _check_urls(self) -> None:
        if self.balance is not None and len(self.urls) == 1:
            raise UsageError("--balance is about several endpoints: give --url more than once")

    def _check_client(self) -> None:
        if self.gpus is not None and not 1 <= self.gpus <= MOST_GPUS:
            raise UsageError(f"--gpus {self.gpus}: must be from 1 to {MOST_GPUS:,}")
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport != "native":
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")
