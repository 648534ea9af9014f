"""A place in a JSON value, as a user names it: `token.text`, `choices.0.text`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

_KEPT: Final = 32
_LONGEST_INDEX: Final = 9


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a JSON value.

    Attributes:
        steps: From the outside to the inside: names of members, and indexes of lists.
    """

    steps: tuple[str, ...]

    def find(self, value: Any) -> Any:
        """What is there; None where the place does not exist."""
        for step in self.steps:
            if isinstance(value, dict):
                value = value.get(step)
            elif isinstance(value, list) and _is_index(step) and int(step) < len(value):
                value = value[int(step)]
            else:
                return None
        return value


@lru_cache(_KEPT)
def place(written: str) -> Place:
    """Read a place: names and indexes with dots between them.

    Raises:
        ValueError: One of them is empty.
    """
    steps = tuple(written.split("."))
    if not all(steps):
        raise ValueError(
            f"{written!r} is not a place in JSON; write names and indexes with dots, as in token.text"
        )
    return Place(steps)


def _is_index(step: str) -> bool:
    return step.isdecimal() and len(step) <= _LONGEST_INDEX
