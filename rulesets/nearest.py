"""The right name beside a wrong one."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def suggestion(wrong: str, right: Iterable[str]) -> str:
    """Say which name was probably meant or, when none is near, which there are."""
    names = list(right)
    near = get_close_matches(wrong.lower(), names, n=1)
    if near:
        return f"did you mean {near[0]!r}?"
    return f"choose one of {listing(names)}" if names[1:] else f"there is only {names[0]!r}"


def listing(names: Iterable[str], last: str = "or") -> str:
    """Join names as a sentence does: `a, b or c`."""
    *first, final = names
    return f"{', '.join(first)} {last} {final}" if first else final
