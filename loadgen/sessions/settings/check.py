"""The options of `loadgen check`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loadgen.sessions.settings.endpoint_options import DEFAULT_URL, ENDPOINT, EndpointSettings
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.kinds import Seconds

TIMEOUT_S: Final = 30.0
"""The default of --timeout for each request: a check should be quick."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CheckSettings(EndpointSettings):
    """The options of `loadgen check`, one per field."""

    url: str | None = ENDPOINT.option(
        f"Base URL, with or without /v1. Default: {DEFAULT_URL}.", envvar=("LOADGEN_URL",)
    )
    timeout: Seconds = ENDPOINT.option(
        "For each of the requests, connecting included; for the model list 10s at most.", TIMEOUT_S
    )
    json: Json = False
