"""Texts of an exact number of tokens: each is counted, and corrected where the sum of words misled."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from workloads.errors import PromptError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from workloads.synthetic.synthetic_text import Texts
    from workloads.synthetic.text_length import TokenCount

MOST_COUNTED: Final = 20_000_000
"""Texts are counted up to this many tokens together, which takes about half a minute; see `Counted`."""

_TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class Counted:
    """The result of counting.

    Attributes:
        corrections: What the counted ones need to have exactly their tokens, see `MadeSamples`.
        off_by: The most tokens by which one of the counted was off before it was corrected.
    """

    messages: int = 0
    corrections: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    off_by: int = 0

    def facts(self) -> dict[str, Any]:
        """For the log."""
        return {"messages_counted": self.messages, "off_by_at_most": self.off_by}


def counted(
    texts: Texts, tokens: Sequence[int], count: TokenCount, most_counted: int = MOST_COUNTED
) -> Counted:
    """Count texts until `most_counted` are, and correct those of a wrong length, or raise `PromptError`."""
    corrections: dict[int, tuple[int, int]] = {}
    messages = off_by = total = 0
    for message, wanted in enumerate(tokens):
        if (total := total + wanted) > most_counted and messages:
            break
        messages += 1
        if missing := wanted - count(texts.text(message)):
            off_by = max(off_by, abs(missing))
            corrections[message] = _corrected(partial(_tokens, texts, count, message), wanted, missing)
    return Counted(messages, corrections, off_by)


def _tokens(texts: Texts, count: TokenCount, message: int, less: int, fillers: int) -> int:
    return count(texts.text(message, less, fillers))


def _corrected(count: Callable[[int, int], int], wanted: int, missing: int) -> tuple[int, int]:
    """The correction of a text to exactly `wanted` tokens, given the missing tokens.

    What is too short is filled up. Where that never comes out even, because a filler is not one token after
    just this word, words are left out one by one until it does.
    """
    less = max(0, -missing)
    for _ in range(_TRIES):
        fillers = 0
        for _ in range(_TRIES):
            if not (missing := wanted - count(less, fillers)):
                return less, fillers
            if (fillers := fillers + missing) <= 0:
                break
        less += 1
    raise PromptError(
        f"a text of exactly {wanted} tokens cannot be made with this tokenizer (off by {abs(missing)}); "
        "leave the tokenizer out, and lengths are approximate"
    )
