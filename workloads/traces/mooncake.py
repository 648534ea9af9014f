"""Mooncake's traces: JSON Lines with `timestamp`, `input_length`, `output_length` and `hash_ids`.

Times are milliseconds. A prompt is cut into blocks of 512 tokens, the last of which may be shorter, and each
has an id; the same id is the same text after the same blocks, so prompts that begin with the same ids share
a prefix. Without `hash_ids`, no prompt shares anything. Source: github.com/kvcache-ai/Mooncake
(FAST25-release).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.errors import TraceError
from workloads.traces.row import TraceRow, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.traces.lines import TextLine

BLOCK_TOKENS: Final = 512

_MOST_MS: Final = 10**14
_MOST_ID: Final = 2**63 - 1


def begins_with(first: TextLine) -> bool:
    """Whether a first line is one of such a trace."""
    try:
        members = orjson.loads(first.text)
    except orjson.JSONDecodeError:
        return False
    return isinstance(members, dict) and {"timestamp", "input_length", "output_length"} <= set(members)


def rows(first: TextLine, lines: Iterator[TextLine]) -> Iterator[TraceRow]:
    """The requests.

    Raises:
        TraceError: A line is not an object with these members, or something else is in them.
    """
    yield _row(first)
    yield from map(_row, lines)


def _row(line: TextLine) -> TraceRow:
    try:
        members = orjson.loads(line.text)
    except orjson.JSONDecodeError as error:
        raise TraceError(f"{line.place}, column {error.colno}: not JSON ({error.msg})") from error
    if not isinstance(members, dict):
        raise TraceError(f"{line.place}: not a JSON object")
    inputs = tokens(line.place, "input_length", members.get("input_length"))
    return TraceRow(
        line.place,
        _moment(line.place, members.get("timestamp")),
        inputs,
        tokens(line.place, "output_length", members.get("output_length")),
        _blocks(line.place, members.get("hash_ids"), inputs),
    )


def _moment(place: str, value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= _MOST_MS:
        raise TraceError(f"{place}, timestamp: {value!r}, where milliseconds from 0 on should be")
    return round(value * 1_000_000)


def _blocks(place: str, value: Any, inputs: int) -> tuple[int, ...] | None:
    if value is None:
        return None
    whole = isinstance(value, list) and all(type(block) is int and 0 <= block <= _MOST_ID for block in value)
    if not whole:
        raise TraceError(f"{place}, hash_ids: not a list of whole numbers from 0 on")
    if len(value) != (blocks := -(-inputs // BLOCK_TOKENS)):
        raise TraceError(
            f"{place}, hash_ids: {len(value)} ids, where input_length {inputs} makes {blocks} blocks of "
            f"{BLOCK_TOKENS} tokens"
        )
    return tuple(value)
