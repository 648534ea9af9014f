"""The options of `loadgen check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final

from loadgen.sessions.settings.endpoint import DEFAULT_URL, ENDPOINT, EndpointSettings, seconds
from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Option
from workloads.units import duration_text

TIMEOUT_S: Final = 30.0
"""The default of --timeout for each request: a check should be quick."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckSettings(EndpointSettings):
    """The options of `loadgen check`, one per field."""

    url: Annotated[
        str | None,
        Option(
            envvar=("LOADGEN_URL",),
            help=f"Base URL, with or without /v1. Default: {DEFAULT_URL}.",
            panel=ENDPOINT,
        ),
    ] = None
    timeout: Annotated[
        float,
        Option(
            parser=seconds,
            metavar="TIME",
            help="For each of the requests, connecting included; for the model list 10s at most.",
            show_default=duration_text(TIMEOUT_S),
            panel=ENDPOINT,
        ),
    ] = TIMEOUT_S
    json: Json = False
