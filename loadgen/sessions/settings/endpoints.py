"""The options of the endpoints of a performance session: one, or several that share the load."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Final

from loadgen.driver.requests.balance import BalanceName
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.endpoint import DEFAULT_URL, ENDPOINT, EndpointSettings
from loadgen.sessions.settings.option import Option

MOST_GPUS: Final = 1_000_000


@dataclass(frozen=True, kw_only=True, slots=True)
class EndpointsSettings(EndpointSettings):
    """Options of one endpoint, or of several of one kind."""

    url: Annotated[
        list[str],
        Option(
            envvar=("LOADGEN_URL",),
            help=f"Base URL, with or without /v1, or litellm:; repeatable. Default: {DEFAULT_URL}.",
            panel=ENDPOINT,
        ),
    ] = field(default_factory=list)
    balance: Annotated[
        BalanceName | None,
        Option(
            help="How to choose among several endpoints: round robin (default), or fewest in flight. A "
            "conversation stays on one endpoint.",
            panel=ENDPOINT,
        ),
    ] = None
    probe: Annotated[
        bool,
        Option(help="Ask for the model list before the run.", panel=ENDPOINT),
    ] = True
    gpus: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Number of GPUs of the endpoint, for tokens per second and GPU (tps_per_gpu).",
            panel=ENDPOINT,
        ),
    ] = None

    def __post_init__(self) -> None:
        EndpointSettings.__post_init__(self)
        if self.balance is not None and len(self.urls) == 1:
            raise UsageError("--balance is about several endpoints: give --url more than once")
        if self.gpus is not None and not 1 <= self.gpus <= MOST_GPUS:
            raise UsageError(f"--gpus {self.gpus}: must be from 1 to {MOST_GPUS:,}")
