"""The options of the client: its processes and its connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from loadgen.driver.client.transports import CANNOT_OPEN_AHEAD, MEASURES_BEST, TransportName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.option import Option

CLIENT: Final = "Client"

ConnectionUse = Literal["keep", "new"]

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """Options of the client."""

    workers: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Number of client processes. Default: by load and machine.",
            panel=CLIENT,
        ),
    ] = None
    transport: Annotated[
        TransportName,
        Option(
            help="HTTP client: native (most accurate), python (without compiled code), or aiohttp "
            "(supports proxies).",
            panel=CLIENT,
        ),
    ] = MEASURES_BEST
    connection: Annotated[
        ConnectionUse,
        Option(
            help="keep: use connections again, as the server allows; new: one connection per request.",
            panel=CLIENT,
        ),
    ] = "keep"
    connect_ahead: Annotated[
        int,
        Option(
            metavar="N",
            help="Open N connections before the first request; not with aiohttp.",
            panel=CLIENT,
        ),
    ] = 0

    trace_context: Annotated[
        bool,
        Option(
            "--trace-context",
            help="Send a W3C traceparent with each request, and log the ids.",
            panel=CLIENT,
        ),
    ] = False

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport in CANNOT_OPEN_AHEAD:
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")
