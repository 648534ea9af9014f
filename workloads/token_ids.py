"""Prompts that are tokens already, for servers that take them so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from workloads.errors import PromptError
from workloads.sources import kind

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_ID: Final = 2**31


def are_token_ids(value: Sequence[object]) -> bool:
    """Whether a list looks like tokens rather than like messages: by its first element."""
    return bool(value) and not isinstance(value[0], dict)


def read_token_ids(place: str, value: Sequence[object]) -> tuple[int, ...]:
    """A prompt as the numbers of the model's tokens.

    Raises:
        PromptError: One of them cannot be.
    """
    ids = tuple(token for token in value if type(token) is int and 0 <= token < _MOST_ID)
    if len(ids) < len(value):
        number, wrong = next(
            (number, token)
            for number, token in enumerate(value, start=1)
            if not (type(token) is int and 0 <= token < _MOST_ID)
        )
        shown = wrong if type(wrong) in (int, float) else kind(wrong)
        raise PromptError(
            f"{place}, element {number}: {shown}, where a token should be: a whole number from 0 on"
        )
    return ids
