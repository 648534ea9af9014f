"""A session of one turn."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

    from loadgen.driver.requests.session_turns import SessionTurns
    from loadgen.driver.requests.turn_outcome import TurnOutcome
    from workloads.sample import Sample


class SingleTurn:
    """A session of one turn; see `loadgen.driver.session_kind.UserSession`.

    Attributes:
        number: Its number in the run.
        sample: What it asks, as the log keeps it.
        body: The same, as it is sent.
        more: What else the log keeps of it.
    """

    __slots__ = ("body", "more", "number", "sample")

    last_turn: Final = 0

    def __init__(self, number: int, sample: Sample, body: bytes, more: Mapping[str, Any]) -> None:
        self.number = number
        self.sample = sample
        self.body = body
        self.more = more

    def begin(self, turns: SessionTurns) -> Coroutine[Any, Any, TurnOutcome]:
        """Take the turn."""
        more = self.more if turns.free_ns is None else {**self.more, **turns.held}
        return turns.take(self.sample, self.body, turns.scheduled_ns, more)
