"""Tool calls, put together from the parts in which a stream sends them."""

from __future__ import annotations

from itertools import chain
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, field

if TYPE_CHECKING:
    from collections.abc import Mapping


_MOST_CHECKS: Final = 64
"""How often arguments are parsed to see whether they are complete: few servers make it necessary."""


@dataclass(slots=True)
class ToolCallParts:
    """The tool calls of one response, distinguished by id, else by index, else by name.

    Parts are joined on demand: in time linear in their length.
    """

    _calls: list[dict[str, Any]] = field(default_factory=list)
    _by_id: dict[str, int] = field(default_factory=dict)
    _by_index: dict[int | None, int] = field(default_factory=dict)
    _pieces: dict[tuple[int, str], list[str]] = field(default_factory=dict)
    _checks: int = field(default=0, compare=False)
    _measured: int = field(default=0, compare=False)
    _unmeasured: int = field(default=0, compare=False)

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, part: Mapping[str, Any]) -> None:
        """Add a part to its call, or begin another one."""
        place = self._place_of(part)
        if place is None or self._begins(part, place):
            place = len(self._calls)
            call = dict(part)
            if call.get("function"):
                # The part stays as it is: `ParsedResponse.first_chunk` reads it.
                call["function"] = dict(call["function"])
            self._calls.append(call)
        else:
            self._merge(part, place)
        self._by_index[part.get("index")] = place
        if part.get("id"):
            self._by_id[part["id"]] = place

    def _place_of(self, part: Mapping[str, Any]) -> int | None:
        """The place of the call that a part may belong to; None for another call.

        Some servers send all calls with one index, others all with one id, or a new id with each part.
        """
        index, call_id, name = part.get("index"), part.get("id"), _of_function(part, "name")
        place = self._by_id.get(call_id) if call_id else None
        if place is not None and index in (None, self._calls[place].get("index")):
            return place
        if index is None:
            return None if call_id or name or not self._calls else len(self._calls) - 1
        place = self._by_index.get(index)
        if place is None or not (call_id and name):
            return place
        return place if self._calls[place].get("id") in (None, "", call_id) else None

    def _begins(self, part: Mapping[str, Any], place: int) -> bool:
        """Whether a named part begins another call, although a complete one has its id or index."""
        name, arguments = _of_function(part, "name"), _of_function(part, "arguments")
        call = self._calls[place]
        pieces = self._pieces.get((place, "arguments"))
        before = pieces[-1] if pieces else _of_function(call, "arguments")
        called = _of_function(call, "name") + "".join(self._pieces.get((place, "name"), ()))
        if not name or not called or not before:
            return False
        if name != called:
            return True
        if not before.rstrip().endswith("}") or not arguments.lstrip().startswith("{"):
            return False
        self._checks += 1
        return self._checks <= _MOST_CHECKS and _is_json(_of_function(self.joined()[place], "arguments"))

    def _merge(self, part: Mapping[str, Any], place: int) -> None:
        """Add a part to its call; some servers repeat the name in every part."""
        call = self._calls[place]
        for member in ("id", "type"):
            if part.get(member) and not call.get(member):
                call[member] = part[member]
        function = call["function"] = call.get("function") or {}
        for member, value in (part.get("function") or {}).items():
            if member == "name":
                self._join(place, member)
            before = function.get(member)
            if isinstance(value, str) and isinstance(before, str):
                if value and (member != "name" or value != before):
                    self._pieces.setdefault((place, member), []).append(value)
            elif value is not None:
                self._pieces.pop((place, member), None)
                function[member] = value

    def joined(self) -> list[dict[str, Any]]:
        """The calls so far, in the order in which they began."""
        for place, member in [*self._pieces]:
            self._join(place, member)
        return self._calls

    def _join(self, place: int, member: str) -> None:
        """Append the pieces of a call's text, if any, to the text."""
        pieces = self._pieces.pop((place, member), None)
        if pieces:
            function = self._calls[place]["function"]
            before = function[member]
            function[member] = "".join((before, *pieces))
            self._unmeasured += getsizeof(function[member]) - getsizeof(before)

    def added_bytes(self) -> int:
        """Bytes of memory for what was added since the last call of this method."""
        added = self.joined()[self._measured :]
        size = self._unmeasured + sum(map(_size, added))
        self._measured, self._unmeasured = len(self._calls), 0
        return size


def _size(call: Mapping[str, Any]) -> int:
    """Bytes of memory for a tool call."""
    function = call.get("function") or {}
    members = sum(map(getsizeof, chain(call.values(), function.values())))
    return getsizeof(call) + getsizeof(function) + members


def _of_function(part: Mapping[str, Any], member: str) -> str:
    """A text of a part's function, empty without one."""
    value = (part.get("function") or {}).get(member)
    return value if isinstance(value, str) else ""


def _is_json(arguments: str) -> bool:
    try:
        orjson.loads(arguments)
    except orjson.JSONDecodeError:
        return False
    return True
