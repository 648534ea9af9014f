"""The timetable that nearly all scenarios keep: sixteen tokens, the first after 20 ms, then one every 5 ms.

So the time to the first token is 20 ms, 5 ms pass from one to the next, and the last one comes after 95 ms.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING, Final

from loadgen.mock_endpoint.scenarios.steps import EventContent, Send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from loadgen.mock_endpoint.scenarios.dialect import Dialect
    from loadgen.mock_endpoint.scenarios.steps import Kind

TOKENS: Final = 16
FIRST_MS: Final = 20.0
GAP_MS: Final = 5.0
END_MS: Final = 95.0
INPUT_TOKENS: Final = 3
"""What the server says of the prompt, whatever it is."""


def words(count: int = TOKENS, kind: Kind = "content", start: int = 0) -> tuple[EventContent, ...]:
    """Tokens with a text each."""
    return tuple(EventContent(f" w{number}", kind) for number in range(start, start + count))


def paced(
    dialect: Dialect,
    contents: Sequence[EventContent],
    *,
    first_ms: float = FIRST_MS,
    gap_ms: float = GAP_MS,
) -> list[Send]:
    """One piece of a stream for each event that carries something."""
    events = dialect.events(contents)
    return [
        Send(first_ms + gap_ms * number, event, (content,))
        for number, (content, event) in enumerate(zip(contents, events, strict=True))
    ]


def ending(
    dialect: Dialect,
    contents: Sequence[EventContent],
    *,
    usage: bool = True,
    finish_ms: float = END_MS,
    usage_ms: float = END_MS,
    done_ms: float = END_MS,
) -> list[Send]:
    """The pieces after the last token, with times; without those that a protocol lacks."""
    end = dialect.ending(contents, counted=usage)
    pieces = [(finish_ms, end.finish), (usage_ms, end.usage), (done_ms, end.done)]
    return [Send(at_ms, data) for at_ms, data in pieces if data]


def opening(dialect: Dialect, at_ms: float = FIRST_MS) -> list[Send]:
    """The beginning of a stream before the first token, in protocols with one."""
    return [Send(at_ms, data)] if (data := dialect.opening()) else []


def body(
    dialect: Dialect,
    contents: Sequence[EventContent] = words(),
    *,
    usage: bool = True,
    first_ms: float = FIRST_MS,
) -> list[Send]:
    """A complete, correct stream."""
    pieces = paced(dialect, contents, first_ms=first_ms)
    end_ms = pieces[-1].at_ms
    end = ending(dialect, contents, usage=usage, finish_ms=end_ms, usage_ms=end_ms, done_ms=end_ms)
    return [*opening(dialect, first_ms), *pieces, *end]


def mapped(pieces: Iterable[Send], change: Callable[[bytes], bytes]) -> list[Send]:
    """The pieces with changed bytes."""
    return [replace(piece, data=change(piece.data)) for piece in pieces]


def together(pieces: Iterable[Send], key: Callable[[Send], object] = attrgetter("at_ms")) -> list[Send]:
    """Pieces of equal key merged into one, sent at the time of the last."""
    merged = []
    for _, group in groupby(pieces, key):
        alike = list(group)
        data = b"".join(piece.data for piece in alike)
        merged.append(
            Send(alike[-1].at_ms, data, tuple(content for piece in alike for content in piece.contents))
        )
    return merged


def byte_by_byte(pieces: Iterable[Send]) -> list[Send]:
    """Every byte in a separate piece; the last byte of an event completes the event."""
    return [
        Send(
            piece.at_ms, piece.data[place : place + 1], piece.contents if place == len(piece.data) - 1 else ()
        )
        for piece in pieces
        for place in range(len(piece.data))
    ]


def cut_in_two(pieces: Iterable[Send], lag_ms: float = 2.0) -> list[Send]:
    """Every piece in two, the second a little later, each time at another place; none overtakes another."""
    halves, at_ms = [], 0.0
    for number, piece in enumerate(pieces):
        place = 1 + 7 * number % max(1, len(piece.data) - 1)
        first_ms = max(at_ms, piece.at_ms)
        at_ms = first_ms + lag_ms
        halves += [Send(first_ms, piece.data[:place]), Send(at_ms, piece.data[place:], piece.contents)]
    return halves
