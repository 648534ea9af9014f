"""The state of a cache of answers: the questions asked before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.truth import digest

if TYPE_CHECKING:
    from loadgen.mock_endpoint.ask import MockRequest

MOST_QUESTIONS: Final = 1_000_000
"""How many questions are kept, about 150 MB; what is new after them is new whenever it comes."""


class Cache:
    """The questions that were asked so far."""

    def __init__(self) -> None:
        self._keys: set[tuple[str, str, int | None, int]] = set()

    def takes(self, ask: MockRequest) -> bool:
        """Store a question; False for a repeated question."""
        key = (digest(ask.prompt), ask.model, ask.max_tokens, ask.least_tokens)
        if key in self._keys:
            return False
        if len(self._keys) < MOST_QUESTIONS:
            self._keys.add(key)
        return True
