"""What a response said, and when."""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from operator import sub
from typing import TYPE_CHECKING, Any, Final

from loadgen.client.codec import Delta, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.client.template import Channel

_MAX_GAP_US: Final = 2**32 - 1


@dataclass(slots=True)
class Answer:
    """What a response said, and when.

    Attributes:
        token_ns: Arrival of every chunk that carried a token, ns of CLOCK_MONOTONIC.
        first_output_ns: Arrival of the first token that is not reasoning; None without one.
        done: Whether the stream said `[DONE]`.
        error: An error that the server reported inside the body.
    """

    token_ns: list[int] = field(default_factory=list)
    first_output_ns: int | None = None
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    tool_calls: list[dict[str, Any]] = field(default_factory=list)
    finish_reason: str | None = None
    usage: Usage = field(default_factory=Usage)
    done: bool = False
    error: str | None = None
    _calls: dict[int | None, dict[str, Any]] = field(default_factory=dict)

    @property
    def empty(self) -> bool:
        """Whether the model generated nothing."""
        return not (self.content or self.reasoning or self.tool_calls)

    def add(self, delta: Delta, at_ns: int | None) -> None:
        """Take in what one piece adds; a piece that is not of a stream has no time."""
        if at_ns is not None and delta.carries_token:
            self.token_ns.append(at_ns)
            if self.first_output_ns is None and (delta.content or delta.tool_calls):
                self.first_output_ns = at_ns
        if delta.content:
            self.content.append(delta.content)
        if delta.reasoning:
            self.reasoning.append(delta.reasoning)
        for part in delta.tool_calls:
            self._merge(part)
        self.finish_reason = delta.finish_reason or self.finish_reason
        self.usage = delta.usage or self.usage
        self.error = self.error or delta.error

    def add_texts(self, channel: Channel, texts: list[str], moments: list[int]) -> None:
        """Take in texts, none of them empty, with which nothing else came."""
        self.token_ns += moments
        if channel == "reasoning":
            self.reasoning += texts
            return
        self.content += texts
        if self.first_output_ns is None:
            self.first_output_ns = moments[0]

    def gaps_us(self, sent_ns: int) -> bytes:
        """The arrivals in the log's form (see `recorder.schema`)."""
        offsets_us = [(at_ns - sent_ns + 500) // 1000 for at_ns in self.token_ns]
        gaps_us: Iterator[int] = map(sub, offsets_us, chain((0,), offsets_us))
        if offsets_us and offsets_us[-1] > _MAX_GAP_US:
            gaps_us = (min(gap_us, _MAX_GAP_US) for gap_us in gaps_us)
        return array("I", gaps_us).tobytes()

    def coalesced(self) -> int:
        """How many reads held more than one chunk: chunks of one read have one stamp, and a gap of 0."""
        if len(set(self.token_ns)) == len(self.token_ns):
            return 0
        return sum(chunks > 1 for chunks in Counter(self.token_ns).values())

    def _merge(self, part: Mapping[str, Any]) -> None:
        """Add a part of a tool call to the call of its index; a part without one is a call of its own."""
        index = part.get("index")
        if index is None or index not in self._calls:
            self._calls[index] = dict(part)
            self.tool_calls.append(self._calls[index])
            return
        call = self._calls[index]
        function = call["function"] = call.get("function") or {}
        for key, value in (part.get("function") or {}).items():
            old = function.get(key)
            if isinstance(old, str) and isinstance(value, str):
                function[key] = old + value
            elif value is not None:
                function[key] = value
