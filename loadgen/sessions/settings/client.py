"""The options of the client: its processes and its connections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from loadgen.driver.client.transport import CANNOT_OPEN_AHEAD, MEASURES_BEST, TransportName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.option import Panel

CLIENT: Final = Panel("Client")

ConnectionUse = Literal["keep", "new"]

MOST_WORKERS: Final = 256
MOST_CONNECTIONS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class ClientSettings:
    """Options of the client."""

    workers: int | None = CLIENT.option("Number of client processes. Default: by load and machine.")
    transport: TransportName = CLIENT.option(
        "HTTP client: native (most accurate), python (without compiled code), or aiohttp (supports proxies).",
        MEASURES_BEST,
    )
    connection: ConnectionUse = CLIENT.option(
        "keep: use connections again, as the server allows; new: one connection per request.", "keep"
    )
    connect_ahead: int = CLIENT.option("Open N connections before the first request; not with aiohttp.", 0)

    trace_context: bool = CLIENT.switch("Send a W3C traceparent with each request, and log the ids.")

    def __post_init__(self) -> None:
        if self.workers is not None and not 1 <= self.workers <= MOST_WORKERS:
            raise UsageError(f"--workers {self.workers}: must be from 1 to {MOST_WORKERS}")
        if not 0 <= self.connect_ahead <= MOST_CONNECTIONS:
            raise UsageError(f"--connect-ahead {self.connect_ahead}: must be from 0 to {MOST_CONNECTIONS}")
        if self.connect_ahead and self.transport in CANNOT_OPEN_AHEAD:
            raise UsageError(f"--connect-ahead: the transport {self.transport} cannot; leave --transport out")
