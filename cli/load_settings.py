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

    def check_load(self) -> None:
        """Refuse what contradicts itself."""
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
