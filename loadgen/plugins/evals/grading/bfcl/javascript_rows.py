r"""Where an array of arrays ends in JavaScript source code.

The official expression for it, `\[\s*\[.*?\]\s*(,\s*\[.*?\]\s*)*\]` or the same in `new Array(…)`, takes a
time that doubles with every row where it does not match. This finds the same end in one pass.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from operator import neg
from typing import Final

_OPENINGS: Final = ((re.compile(r"\[\s*\["), "]"), (re.compile(r"\bnew\s+Array\(\s*\["), ")"))
_CLOSED: Final = re.compile(r"\](?=(\s*+))")
_NEXT: Final = re.compile(r",\s*\[")


def end_of_rows(text: str) -> int | None:
    """The end of an array of arrays at the start of a text; None without one."""
    for opening, closing in _OPENINGS:
        if match := opening.match(text):
            return _end(text, match.end(), closing)
    return None


def _end(text: str, start: int, closing: str) -> int | None:
    """The end, from inside of the first row on."""
    places: list[int] = []  # the brackets that can close a row, the last first
    ends: dict[int, int] = {}
    for bracket in reversed(list(_CLOSED.finditer(text, start))):
        place, rest = bracket.start(), bracket.end(1)
        if following := _NEXT.match(text, rest):
            end = _end_after(text, following.end(), places, ends)
        else:
            end = rest + 1 if text.startswith(closing, rest) else None
        if end is not None:
            places.append(place)
            ends[place] = end
    return _end_after(text, start, places, ends)


def _end_after(text: str, start: int, places: list[int], ends: dict[int, int]) -> int | None:
    """The end of a row, closed by the first possible bracket."""
    if not (after := bisect_right(places, -start, key=neg)):
        return None
    place = places[after - 1]
    return ends[place] if text.find("\n", start, place) < 0 else None
