"""The content and the times of a response."""

from __future__ import annotations

from bisect import bisect_left
from sys import getsizeof
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, field
from loadgen.driver.client.codec import Delta, Usage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from loadgen.driver.client.frame_cache import Channel, KnownFrames
    from loadgen.driver.client.tool_calls import ToolCallParts

_UNTOLD: Final = Usage()

_DELTA_FIELDS: Final = 3
"""Of a frame without a text, whose shape is known."""

_STAMP_BYTES: Final = 40
"""The stamp of a chunk, and its place in a list."""


@dataclass(slots=True)
class ParsedResponse:
    """The content and the times of a response."""

    #: Arrival of every chunk that carried something, ns of CLOCK_MONOTONIC.
    token_ns: list[int] = field(default_factory=list)
    #: Arrival of every silent chunk: one that names the content and has none. See `arrivals`.
    silent_ns: list[int] = field(default_factory=list)
    #: When chunks had not arrived that may be earlier than their stamps, by their place in `token_ns`.
    token_low_ns: dict[int, int] = field(default_factory=dict)
    silent_low_ns: dict[int, int] = field(default_factory=dict)
    #: Arrival of the first content: no reasoning, no tool call; None without any.
    first_visible_ns: int | None = None
    content: list[str] = field(default_factory=list)
    reasoning: list[str] = field(default_factory=list)
    finish_reason: str | None = None
    finish_ns: int | None = None
    usage: Usage = _UNTOLD
    choices: int = 1  #: how many choices it has: more than one where `n` asked for several
    other_chunks: int = 0  #: how many chunks the further choices had; they are not part of the answer
    done: bool = False
    error: str | None = None
    statements: Mapping[str, Any] | None = None  #: what the server stated last of the request
    facts: Mapping[str, Any] | None = None  #: see `Delta`
    #: How long the text of the first chunk that carried something is, in characters of each category; of a
    #: part of a tool call its arguments count. None where nothing was streamed.
    first_chunk: dict[str, int] | None = None
    _tool_calls: ToolCallParts | None = None
    _opened: bool = False
    _first_output_ns: int | None = None
    _first_hush_ns: int | None = None
    _compacted: tuple[int, int, int] = (0, 0, 0)

    @property
    def empty(self) -> bool:
        """Whether the model generated nothing."""
        return not (self.content or self.reasoning or self._tool_calls)

    @property
    def tool_calls(self) -> list[dict[str, Any]]:
        """The tool calls so far, in the protocol's form."""
        return self._tool_calls.joined() if self._tool_calls else []

    @property
    def silent_tokens(self) -> bool:
        """Whether silent chunks are tokens: each chunk but the last was one by the server's count."""
        if not self.silent_ns or (output_tokens := self.usage.generated_tokens) is None:
            return False
        return output_tokens - len(self.token_ns) - len(self.silent_ns) in (0, 1)

    @property
    def arrivals(self) -> list[int]:
        """The arrival of every token, as far as chunks are separate, including silent tokens."""
        return sorted(self.token_ns + self.silent_ns) if self.silent_tokens else self.token_ns

    @property
    def lows(self) -> dict[int, int]:
        """The lower bounds of late `arrivals`, by place, none before an earlier arrival."""
        lows = self._merged_lows() if self.silent_tokens else self.token_low_ns
        if not lows:
            return {}
        arrivals = self.arrivals
        ordered: dict[int, int] = {}
        for place, low_ns in sorted(lows.items()):
            at_ns, before = arrivals[place], place - 1
            if place and arrivals[before] == at_ns:
                before = bisect_left(arrivals, at_ns) - 1
            earliest_ns = ordered.get(before, arrivals[before]) if before >= 0 else 0
            ordered[place] = max(low_ns, earliest_ns)
        return ordered

    @property
    def first_output_ns(self) -> int | None:
        """Arrival of the first token that is not reasoning; None without one."""
        hushed = self._first_hush_ns is not None and self.silent_tokens
        return self._first_hush_ns if hushed else self._first_output_ns

    def message(self) -> dict[str, Any]:
        """The answer as the assistant's message for the next turn of a conversation."""
        # Reasoning goes back with tool calls only, as Kimi and DeepSeek demand.
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self.content)}
        if self._tool_calls:
            message |= {
                "content": message["content"] or None,
                "tool_calls": [*map(_sent_back, self.tool_calls)],
            }
            if self.reasoning:
                message["reasoning_content"] = "".join(self.reasoning)
        return message

    def add(self, delta: Delta, at_ns: int | None, low_ns: int | None = None) -> None:
        """Add the content of one piece.

        `at_ns` is its arrival, None for a piece that is not of a stream; at `low_ns` it had not arrived,
        where it may have arrived before `at_ns`.
        """
        if low_ns is not None:
            self._note_low(delta, low_ns)
        content, reasoning, tool_calls, finish_reason, usage, error, done, silent, _, others, *_ = delta
        if content or reasoning or tool_calls:
            if at_ns is not None:
                self._note_token(delta, at_ns)
            self._add_contents(delta)
        elif silent and at_ns is not None:
            if self._opened or self.token_ns or not delta.opens:
                self.silent_ns.append(at_ns)
            self._opened = self._opened or delta.opens
        self.facts = delta.facts or self.facts
        if delta.statements:
            self.statements = {**(self.statements or {}), **delta.statements}
        if others:
            self.choices = max(self.choices, *(index + 1 for index in others))
            self.other_chunks += len(others)
        if finish_reason or usage is not None or error is not None or done:
            self._note_end(delta, at_ns)

    def add_texts(
        self,
        channel: Channel,
        texts: list[str],
        moments: list[int],
        lows: Mapping[int, int] | None,
        first_length: int | None = None,
    ) -> None:
        """Add the non-empty texts of chunks without any other content: as many, or joined to fewer.

        `moments` has the arrival of each chunk, `lows` by place when those had not arrived that may be
        earlier; `first_length` is the length of the first chunk, where it may be the first of all.
        """
        if lows:
            earlier = len(self.token_ns)
            self.token_low_ns.update((earlier + place, low_ns) for place, low_ns in lows.items())
        if self.first_chunk is None and first_length is not None:
            self.first_chunk = {channel: first_length}
        if channel == "reasoning":
            self.token_ns += moments
            self.reasoning += texts
            return
        if self._first_output_ns is None:
            self._note_output(moments[0])
        self.token_ns += moments
        self.content += texts
        if self.first_visible_ns is None:
            self.first_visible_ns = moments[0]

    def add_known(self, frames: Sequence[KnownFrames]) -> int:
        """Take in frames of known shapes; return how many there are."""
        count = 0
        for frame in frames:
            if frame is None:
                self.done = True
                count += 1
            elif len(frame) == _DELTA_FIELDS:
                self.add(*frame)
                count += 1
            else:
                chunks, channel, text, first_length, moments, lows = frame
                joined = text if isinstance(text, str) else orjson.loads(text)
                self.add_texts(channel, [joined], moments, lows, first_length)
                count += chunks
        return count

    def forget_content(self, content: str) -> bool:
        """Drop the content before a replacement; whether the replacement is longer or different."""
        if not content or self.content == [content]:
            return False
        self.content.clear()
        return True

    def replace_content(self, texts: list[str], moments: list[int], lows: dict[int, int]) -> None:
        """Replace the content and the chunks' stamps, after cumulative frames proved to be parts."""
        self.content, self.token_ns, self.token_low_ns = texts, moments, lows
        self._compacted = (0, self._compacted[1], 0)

    def compact(self) -> int:
        """Join the texts added since the last call; return the bytes of memory of all that was added."""
        contents, thoughts, stamps = self._compacted
        size = self._tool_calls.added_bytes() if self._tool_calls else 0
        for texts, start in ((self.content, contents), (self.reasoning, thoughts)):
            texts[start:] = ["".join(texts[start:])]
            size += getsizeof(texts[-1])
        received = len(self.token_ns) + len(self.silent_ns)
        self._compacted = len(self.content), len(self.reasoning), received
        return size + _STAMP_BYTES * (received - stamps)

    def _note_token(self, delta: Delta, at_ns: int) -> None:
        """Take in when a chunk that carries something arrived."""
        if self._first_output_ns is None and (delta.content or delta.tool_calls):
            self._note_output(at_ns)
        if delta.content and self.first_visible_ns is None:
            self.first_visible_ns = at_ns
        self.first_chunk = self.first_chunk or _lengths(delta)
        self.token_ns.append(at_ns)

    def _add_contents(self, delta: Delta) -> None:
        if delta.content:
            self.content.append(delta.content)
        if delta.reasoning:
            self.reasoning.append(delta.reasoning)
        if delta.tool_calls:
            if self._tool_calls is None:
                # Most answers call no tool.
                from loadgen.driver.client.tool_calls import ToolCallParts

                self._tool_calls = ToolCallParts()
            for part in delta.tool_calls:
                self._tool_calls.add(part)

    def _note_end(self, delta: Delta, at_ns: int | None) -> None:
        """Note the members that usually come once, at the end."""
        if delta.finish_reason:
            self.finish_reason, self.finish_ns = delta.finish_reason, at_ns
        if delta.usage is not None:
            before = self.usage
            self.usage = delta.usage if before is _UNTOLD else Usage(*map(_later, before, delta.usage))
        if self.error is None:
            self.error = delta.error
        self.done = self.done or delta.done

    def _note_low(self, delta: Delta, low_ns: int) -> None:
        """Note the lower bound of a chunk's arrival, if the stamp may be too late."""
        if delta.carries_token:
            self.token_low_ns[len(self.token_ns)] = low_ns
        elif delta.silent:
            self.silent_low_ns[len(self.silent_ns)] = low_ns

    def _merged_lows(self) -> dict[int, int]:
        """The lower bounds of tokens and silent tokens, by place among both."""
        tokens = [(at_ns, self.token_low_ns.get(place)) for place, at_ns in enumerate(self.token_ns)]
        silent = [(at_ns, self.silent_low_ns.get(place)) for place, at_ns in enumerate(self.silent_ns)]
        merged = sorted(tokens + silent, key=lambda bound: (bound[0], bound[1] or bound[0]))
        return {place: low_ns for place, (_, low_ns) in enumerate(merged) if low_ns is not None}

    def _note_output(self, at_ns: int) -> None:
        """Note the first output, and the silent chunk before, whose token belongs to that text."""
        self._first_output_ns = at_ns
        thought_ns = self.token_ns[-1] if self.token_ns else 0
        self._first_hush_ns = next((stamp_ns for stamp_ns in self.silent_ns if stamp_ns >= thought_ns), None)

    def late_chunks(self, lows: Mapping[int, int]) -> list[int]:
        """The chunks that may precede their stamps, in the log's form, from ascending `lows`.

        Three numbers for neighbours of one read: the place of the first, how many they are, and by how many
        microseconds at most they are earlier than their stamp.
        """
        arrivals = self.arrivals
        late: list[list[int]] = []
        for place, low_ns in lows.items():
            early_us = (arrivals[place] - low_ns + 999) // 1000
            if late and late[-1][0] + late[-1][1] == place and late[-1][2] == early_us:
                late[-1][1] += 1
            else:
                late.append([place, 1, early_us])
        return [number for triple in late for number in triple]


def _lengths(delta: Delta) -> dict[str, int]:
    """How long the texts of a chunk are."""
    lengths = {}
    if delta.reasoning:
        lengths["reasoning"] = len(delta.reasoning)
    if delta.content:
        lengths["content"] = len(delta.content)
    if delta.tool_calls:
        # A call begins with its name, which may be all that its first part has.
        lengths["tool_call"] = sum(map(_arguments, delta.tool_calls))
    if delta.usage is not None and delta.usage.output_tokens:
        lengths["tokens"] = delta.usage.output_tokens
    return lengths


def _arguments(call: Mapping[str, Any]) -> int:
    """How long the arguments are that a part of a tool call has."""
    arguments = (call.get("function") or {}).get("arguments")
    return len(arguments) if isinstance(arguments, str) else 0


def _later(old: int | None, new: int | None) -> int | None:
    """The later of two counts, unless None: a protocol may send counts separately."""
    return old if new is None else new


def _sent_back(call: Mapping[str, Any]) -> dict[str, Any]:
    """A call as a member of a message: without the stream's index, and with arguments that are JSON."""
    members = {name: call[name] for name in call if name != "index"}
    function = call.get("function")
    if isinstance(function, dict) and function.get("arguments") == "":
        members["function"] = {**function, "arguments": "{}"}
    return members
