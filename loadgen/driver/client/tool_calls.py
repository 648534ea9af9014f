"""Tool calls, put together from the parts in which a stream sends them."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import chain
from sys import getsizeof
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(slots=True)
class ToolCallParts:
    """The tool calls of one response. Parts are joined on demand: in time linear in their length."""

    _calls: list[dict[str, Any]] = field(default_factory=list)
    _by_index: dict[int | None, dict[str, Any]] = field(default_factory=dict)
    _pieces: dict[tuple[int | None, str], list[str]] = field(default_factory=dict)
    _measured: int = field(default=0, compare=False)
    _unmeasured: int = field(default=0, compare=False)

    def __bool__(self) -> bool:
        return bool(self._calls)

    def add(self, part: Mapping[str, Any]) -> None:
        """Add a part to the call of its index. A part without an index is a call of its own."""
        index = part.get("index")
        if index is None or index not in self._by_index:
            call = self._by_index[index] = dict(part)
            if call.get("function"):
                # The part stays as it is: `ParsedResponse.first_chunk` reads it.
                call["function"] = dict(call["function"])
            self._calls.append(call)
            return
        call = self._by_index[index]
        function = call["function"] = call.get("function") or {}
        for member, value in (part.get("function") or {}).items():
            if isinstance(value, str) and isinstance(function.get(member), str):
                self._pieces.setdefault((index, member), []).append(value)
            elif value is not None:
                self._pieces.pop((index, member), None)
                function[member] = value

    def joined(self) -> list[dict[str, Any]]:
        """The calls so far, in the order in which they began."""
        for (index, member), pieces in self._pieces.items():
            function = self._by_index[index]["function"]
            before = function[member]
            function[member] = "".join((before, *pieces))
            self._unmeasured += getsizeof(function[member]) - getsizeof(before)
        self._pieces.clear()
        return self._calls

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
