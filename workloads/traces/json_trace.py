"""Traces of JSON Lines with `timestamp`, `input_length`, `output_length` and `hash_ids`.

A prompt is cut into blocks of tokens, the last of which may be shorter, and each has an id; equal ids are
equal text after equal blocks, so prompts that begin with equal ids share a prefix. Without `hash_ids`, no
prompt shares anything. The format is Mooncake's (github.com/kvcache-ai/Mooncake, FAST25-release); other tools
write these members with other units and sizes: `workloads.traces.form`.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import chain, islice
from math import isfinite
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.errors import TraceError
from workloads.sources import parse_json_text
from workloads.traces.form import (
    BAILIAN,
    BLOCK_TOKENS,
    MOONCAKE,
    TIMED,
    UNITS,
    TraceBlock,
    TraceForm,
    block_of,
    given_block,
    unit_of,
)
from workloads.traces.trace_row import TraceReading, TraceRow, tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from workloads.traces.trace_lines import TextLine

JSON_FORMATS: Final = (MOONCAKE, TIMED, BAILIAN)

_HEAD: Final = 1_000
"""The lines from which the unit and the blocks are found out."""

_MEMBERS: Final = {"timestamp", "input_length", "output_length"}
_CHATS: Final = {"chat_id", "parent_chat_id"}
_MOST_S: Final = 10**11
_MOST_ID: Final = 2**63 - 1
_OWN_ID: Final = 2**63
"""From here on: ids of ends of prompts that have none."""


def begins_with(first: TextLine) -> bool:
    """Whether a first line is one of such a trace."""
    return set(_members(first)) >= _MEMBERS


def reading(first: TextLine, lines: Iterator[TextLine], form: TraceForm) -> TraceReading:
    """Find the form of a trace out, as far as it is not given, and read its rows by that.

    Raises:
        TraceError: While rows are read: a line is not an object with these members, or has other values.
    """
    head = [first, *islice(lines, _HEAD)]
    objects = [_members(line) for line in head]
    name = form.format or (BAILIAN if set(objects[0]) >= _CHATS else MOONCAKE)
    times = [float(each["timestamp"]) for each in objects if _is_time(each.get("timestamp"))]
    unit = form.unit or unit_of(times, "ms" if name == MOONCAKE else "s")
    if name == MOONCAKE and form.format is None and unit == "s":
        name = TIMED
    lengths = [
        (each["input_length"], len(each["hash_ids"]))
        for each in objects
        if isinstance(each.get("hash_ids"), list) and type(each.get("input_length")) is int
    ]
    block = None
    if lengths:
        size = form.block_tokens
        block = block_of(lengths, BLOCK_TOKENS[name]) if size is None else given_block(lengths, size)
    rows = _Rows(unit, block or TraceBlock(BLOCK_TOKENS[name]))
    return TraceReading(name, unit, map(rows.row, chain(head, lines)), block.tokens if block else None)


def _members(line: TextLine) -> dict[str, Any]:
    """The members of a line; none where it is something else."""
    try:
        members = parse_json_text(line.text)
    except orjson.JSONDecodeError:
        return {}
    return members if isinstance(members, dict) else {}


def _is_time(value: Any) -> bool:
    return type(value) in (int, float) and isfinite(value)


class _Rows:
    """Makes rows of lines."""

    def __init__(self, unit: str, block: TraceBlock) -> None:
        self._unit = unit
        self._block = block
        self._ends = 0

    def row(self, line: TextLine) -> TraceRow:
        """The request of a line."""
        try:
            members = parse_json_text(line.text)
        except orjson.JSONDecodeError as error:
            raise TraceError(f"{line.place}, column {error.colno}: not JSON ({error.msg})") from error
        if not isinstance(members, dict):
            raise TraceError(f"{line.place}: not a JSON object")
        if members.get("timestamp") is None and members.get("delay") is not None:
            return TraceRow(line.place, None, 0, 0, without="with a delay in place of a timestamp")
        inputs = tokens(line.place, "input_length", members.get("input_length"))
        outputs = tokens(line.place, "output_length", members.get("output_length"))
        at_ns = self._moment(line.place, members.get("timestamp"))
        if not inputs or not outputs:
            return TraceRow(line.place, at_ns, inputs, outputs)
        return TraceRow(
            line.place, at_ns, inputs, outputs, self._blocks(line.place, members.get("hash_ids"), inputs)
        )

    def _moment(self, place: str, value: Any) -> int:
        scale = UNITS[self._unit]
        if not _is_time(value) or not 0 <= value <= _MOST_S * (UNITS["s"] // scale):
            raise TraceError(
                f"{place}, timestamp: {value!r}, where a time from 0 on should be, in {self._unit}"
            )
        return value * scale if isinstance(value, int) else round(Decimal(repr(value)) * scale)

    def _blocks(self, place: str, value: Any, inputs: int) -> tuple[int, ...] | None:
        if value is None:
            return None
        if not _are_ids(value):
            raise TraceError(f"{place}, hash_ids: not a list of whole numbers from 0 on")
        if len(value) != (blocks := self._block.ids_of(inputs)):
            raise TraceError(
                f"{place}, hash_ids: {len(value)} ids, where input_length {inputs} makes {blocks} blocks of "
                f"{self._block.tokens} tokens; for blocks of another size give --trace-format "
                f"FORMAT,block=TOKENS"
            )
        if self._block.whole_only and inputs % self._block.tokens:
            self._ends += 1
            return (*value, _OWN_ID + self._ends)
        return tuple(value)


def _are_ids(value: Any) -> bool:
    ids: Sequence[Any] = value if isinstance(value, list) else (None,)
    return all(type(block) is int and 0 <= block <= _MOST_ID for block in ids)
