"""Which token counts of a server can be true.

The log has what the server said. `reporter/sql/credible.sql` applies these rules when a log is loaded, and
`reporter.log.following`, which reads a log while it grows, applies them here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_TOKENS: Final = 10**8
"""Of one request: more than the context window of any model. So the sum over any log fits 64 bits."""

MOST_HIDDEN_TOKENS: Final = 2**20
"""Reasoning in one response that the server counts and does not send: more than any model generates.

Every other output token takes at least a byte of the response. Tokens without text, such as those that end
one or the padding of `ignore_eos`, are within what the request allows.
"""


def is_count(tokens: int) -> bool:
    """Whether a request can have this many tokens of any kind."""
    return 0 <= tokens <= MOST_TOKENS


def is_output_count(tokens: int, ended: Mapping[str, Any], max_tokens: int | None) -> bool:
    """Whether a response can have this many output tokens.

    Args:
        tokens: The server's count.
        ended: What the event has that ended the request: its `bytes` and `reasoning_tokens`.
        max_tokens: The limit of the request; None where it named none.
    """
    if not is_count(tokens):
        return False
    bytes_, reasoning = ended.get("bytes"), ended.get("reasoning_tokens") or 0
    hidden = max(0, min(reasoning, MOST_HIDDEN_TOKENS))
    return bytes_ is None or tokens <= bytes_ + hidden or tokens <= (max_tokens or 0)
