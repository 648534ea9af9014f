"""The options of `loadgen perf`: what can be said about a performance session."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Final, Literal

import typer

from cli.errors import UsageError

_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h)?")
_SECONDS: Final = {"ms": 0.001, "s": 1.0, None: 1.0, "m": 60.0, "h": 3600.0}

ENDPOINT: Final = "Endpoint"
LOAD: Final = "Load"
GENERATION: Final = "Generation"
PROMPTS: Final = "Prompts"
RESULT: Final = "Result"


def seconds(value: str | float) -> float:
    """Read a duration: `60`, `90s`, `5m`, `1.5h`, `250ms`. A number, as a default is, stays what it is.

    Raises:
        typer.BadParameter: It is none.
    """
    if not isinstance(value, str):
        return value
    match = _DURATION.fullmatch(value.strip())
    if match is None:
        raise typer.BadParameter(f"{value!r} is not a duration; write 60, 90s, 5m or 1.5h")
    return float(match[1]) * _SECONDS[match[2]]


@dataclass(frozen=True, kw_only=True)
class PerfSettings:
    """What can be said about a performance session; field by field an option of `loadgen perf`."""

    url: Annotated[
        str,
        typer.Option(
            envvar="LOADGEN_URL",
            help="Base URL, with or without /v1.",
            rich_help_panel=ENDPOINT,
        ),
    ]
    model: Annotated[
        str,
        typer.Option(help="Model name, as the endpoint knows it.", rich_help_panel=ENDPOINT),
    ]
    protocol: Annotated[
        Literal["chat", "completions"],
        typer.Option(help="Chat completions or completions.", rich_help_panel=ENDPOINT),
    ] = "chat"
    api_key: Annotated[
        str | None,
        typer.Option(
            envvar=["LOADGEN_API_KEY", "OPENAI_API_KEY"],
            show_envvar=True,
            help="Bearer token; better given in the environment. Never written to the log.",
            rich_help_panel=ENDPOINT,
        ),
    ] = None
    header: Annotated[
        list[str],
        typer.Option(
            metavar="'NAME: VALUE'",
            help="A further request header; repeatable. The log keeps the name only.",
            rich_help_panel=ENDPOINT,
        ),
    ] = field(default_factory=list)
    timeout: Annotated[
        float,
        typer.Option(
            parser=seconds,
            metavar="TIME",
            help="For each request, connection included.",
            rich_help_panel=ENDPOINT,
        ),
    ] = 600.0
    insecure: Annotated[
        bool,
        typer.Option("--insecure", help="Do not verify the TLS certificate.", rich_help_panel=ENDPOINT),
    ] = False
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
        if self.arrival is not None and self.rate is None:
            raise UsageError("--arrival says how --rate spreads its requests: give --rate")
        if self.prompts is None and (self.prompt_column or self.system_column):
            raise UsageError("--prompt-column and --system-column name columns of a file: give --prompts")
