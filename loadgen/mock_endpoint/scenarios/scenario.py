"""A scenario: the behaviour of a server, and the right outcome for a client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import KW_ONLY, dataclass
from loadgen.driver.client.timeouts import Timeouts
from loadgen.mock_endpoint.scenarios.frame_writers import STREAMED

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.scenarios.dialect import Dialect
    from loadgen.mock_endpoint.scenarios.steps import ScenarioScript

COMPLETED: Final = "completed"
"""What a client sees where it sees no failure."""

Place = Literal[
    "http", "tls_self_signed", "tls_expired", "plain_for_tls", "closed_port", "no_host", "full_queue"
]
"""Where a scenario is met: on the server's port, or somewhere that no connection can be made to."""

PATIENT: Final = Timeouts(timeout_s=20.0, connect_timeout_s=10.0)


@dataclass(frozen=True, slots=True)
class Scenario:
    """The behaviour of a server, and the right outcome for a client.

    Attributes:
        name: Used in paths and tables.
        about: What the server does, in a few words.
        script: What is done for one request, in a protocol.
        right: What a client must make of it, and why, where that is not plain.
        protocols: Where there is such a thing.
        sees: What a client sees: `completed`, or the name of a failure; several where either is right.
        timeouts: What a client must be given to see it.
        requests: How many are asked to try a client, two at a time; None for 2 of a failure, else as many as
            the protocol takes.
        heavy: It keeps server and client busy, and is tried with little else going on.
        pause_ms: Between one request and the next on a connection.
        place: Where it is met.
        message: What the failure's message must have in it.
        retry_after_s: From and to, where the server says when to come back.
        models: The status of `GET /v1/models`.
        spoils: What breaks the response may take with it what arrived in the same read.
        unasked: A second response follows. The next request on the connection gets no other answer.
    """

    name: str
    about: str
    script: Callable[[Dialect], ScenarioScript]
    _: KW_ONLY
    right: str = ""
    protocols: tuple[str, ...] = STREAMED
    sees: tuple[str, ...] = (COMPLETED,)
    timeouts: Timeouts = PATIENT
    requests: int | None = None
    heavy: bool = False
    pause_ms: float = 0
    place: Place = "http"
    message: str = ""
    retry_after_s: tuple[float, float] | None = None
    models: int = 200
    spoils: bool = False
    unasked: bool = False

    @property
    def races(self) -> bool:
        """Whether the outcome depends on the relative speed of server and client."""
        return self.pause_ms > 0 or self.timeouts != PATIENT

    @property
    def completes(self) -> bool:
        """Whether success is the only right outcome."""
        return self.sees == (COMPLETED,)


def scenario(about: str, **facts: Any) -> Callable[[Callable[[Dialect], ScenarioScript]], Scenario]:
    """Make a scenario of a script, under the name of the function without its underscore."""
    return lambda script: Scenario(script.__name__[1:], about, script, **facts)
