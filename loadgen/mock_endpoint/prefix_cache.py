"""The state of a prefix cache: the blocks of earlier prompts, as the KV cache of an engine keeps them."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from loadgen.mock_endpoint.ask import MockRequest


class PrefixCache:
    """Blocks of prompts. Of a full cache, the block that was asked for the longest time ago goes first.

    A block's key covers all tokens before the block, the model and the cache salt. A prompt's last block
    counts as the one asked for first, so the cache never keeps a block without those before.

    Args:
        capacity: The most blocks; 0 for no limit.
        block_tokens: The tokens of a block. Tokens after a prompt's last full block are never cached.
    """

    def __init__(self, capacity: int, block_tokens: int) -> None:
        self._capacity = capacity
        self._block_tokens = block_tokens
        self._keys: OrderedDict[int, None] = OrderedDict()

    def take(self, ask: MockRequest) -> int:
        """Store a prompt's blocks; return how many leading blocks were in the cache."""
        keys = list(self._chain(ask))
        hits = next((place for place, key in enumerate(keys) if key not in self._keys), len(keys))
        for key in reversed(keys[: self._capacity or None]):
            self._keys[key] = None
            self._keys.move_to_end(key)
        while self._capacity and len(self._keys) > self._capacity:
            self._keys.popitem(last=False)
        return hits

    def clear(self) -> None:
        """Forget all blocks."""
        self._keys.clear()

    def _chain(self, ask: MockRequest) -> Iterator[int]:
        tokens, size = ask.tokens, self._block_tokens
        key = hash((ask.model, ask.cache_salt))
        for begin in range(0, len(tokens) - size + 1, size):
            key = hash((key, *tokens[begin : begin + size]))
            yield key
