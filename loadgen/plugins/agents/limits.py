"""The limits of an episode."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from loadgen.plugins.agents.episode import LimitReachedError

_MILLION: Final = 1e6


@dataclass(frozen=True, slots=True)
class EpisodeLimits:
    """Limits of one episode; None for none. A limit is checked before each turn.

    Attributes:
        turns: The most turns of the model under test.
        tokens: The most input and output tokens of these turns together.
        seconds: The longest time since the episode began.
        cost: The most that its tokens may cost, in the currency of the prices.
        input_price: Of a million input tokens.
        output_price: Of a million output tokens.
    """

    turns: int | None = None
    tokens: int | None = None
    seconds: float | None = None
    cost: float | None = None
    input_price: float = 0.0
    output_price: float = 0.0

    def require_room(self, turns: int, input_tokens: int, output_tokens: int, seconds: float) -> None:
        """Make sure that another turn is within the limits.

        Raises:
            LimitReachedError: It is not; the message says which limit.
        """
        if self.turns is not None and turns >= self.turns:
            raise LimitReachedError("turns", f"the limit of {self.turns} turns is reached")
        tokens = input_tokens + output_tokens
        if self.tokens is not None and tokens >= self.tokens:
            raise LimitReachedError("tokens", f"{tokens} tokens are used, of {self.tokens}")
        if self.seconds is not None and seconds >= self.seconds:
            raise LimitReachedError("time", f"{seconds:.1f} s have passed, of {self.seconds:g} s")
        cost = (input_tokens * self.input_price + output_tokens * self.output_price) / _MILLION
        if self.cost is not None and cost >= self.cost:
            raise LimitReachedError("cost", f"{cost:.4f} is spent, of {self.cost:g}")
