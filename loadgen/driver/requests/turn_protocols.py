"""The runner of turns, the turns that the runner prepares, and the buffer of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from loadgen.driver.phase import Phase
    from loadgen.driver.requests.turn_outcome import AnswerUse, TurnOutcome
    from workloads.sample import Sample


class TurnCounts(Protocol):
    """The counts of turns; see `loadgen.driver.requests.session_turns.Turns`."""

    def open(self) -> None:
        """Note a session with turns left to ask."""

    def close(self) -> None:
        """Note that an open session has no turn left to ask."""

    def handed_over(self, ttfts_ms: Sequence[float], output_tokens: int, phase: Phase) -> None:
        """Count turns that have ended, and the prepared turns that have left in their place."""


class PreparedTurns(Protocol):
    """Turns that compiled code issues; see `loadgen.driver.requests.relay.TurnRelay`."""

    def take_back(self) -> tuple[int, Any] | None:
        """Take the first prepared turn back; None for none."""

    def close(self) -> None:
        """Let no prepared turn leave any more."""


class TurnRunner(Protocol):
    """The runner of turns; see `loadgen.driver.requests.turn.RequestRunner`.

    Attributes:
        endpoints: How many there are to ask.
    """

    endpoints: int

    def prepare(self, sample: Sample) -> bytes:
        """Encode a request's body ahead of time."""

    async def run(
        self,
        sample: Sample,
        body: bytes,
        scheduled_ns: int,
        phase: str,
        endpoint: int,
        more: Mapping[str, Any],
        use: AnswerUse,
    ) -> TurnOutcome:
        """Issue one request now and follow the request to the end."""

    def give_up_for(self, reason: str) -> None:
        """Learn why requests are given up from now on."""

    def relay(
        self,
        turns: TurnCounts,
        phase: Phase,
        claim: Callable[[], tuple[int, Any] | None],
        session: Callable[[int], Any],
        users: int,
        ahead: int | None,
    ) -> PreparedTurns | None:
        """Begin a relay of single turns (`relay.py`); None where Python issues all turns."""


class Room(Protocol):
    """The buffer of events; while the buffer is full, no further request is issued."""

    full: bool

    async def wait(self) -> None:
        """Return when there is room again."""
