"""Suggestions for a wrong name: the nearest right one, or a list."""

from __future__ import annotations

from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable


NEAR: Final = 0.6
"""From this likeness on, of 1, one name may have been meant by another."""


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """Say which name was probably meant or, when none is near, which there are."""
    names = list(right)
    if not names:
        return "there are none to choose from"
    likeness = {name: SequenceMatcher(None, name, wrong.lower()).ratio() for name in names}
    # Of those that are equally near the first, which is the one asked for most.
    nearest = max(names, key=likeness.__getitem__)
    if likeness[nearest] >= NEAR:
        return f"did you mean {nearest!r}?"
    return f"choose one of {listing(names)}" if names[1:] else f"there is only {names[0]!r}"


def listing(names: Iterable[str], last: str = "or") -> str:
    """Join names as a sentence does: `a, b or c`."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
