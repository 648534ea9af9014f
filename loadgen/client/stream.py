"""One response, from stamped bytes to an answer.

Timing needs no JSON. While the response runs, its pieces are only kept with their stamps, but for the few up
to the first token, which the log announces at once. The rest is decoded when the response is over, in slices,
so that a long answer delays nobody else's request.
"""

from __future__ import annotations

from array import array
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from operator import sub
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.client.codec import Codec, Delta, MalformedError, Usage, read_error
from loadgen.client.failure import Failure, RequestFailedError
from loadgen.client.sse import Frame, SSEDecoder
from loadgen.client.template import Template, learn

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from loadgen.client.template import Channel

MAX_ERROR_BYTES: Final = 64 * 1024
"""So much of the body of an HTTP error is kept: a message needs no more."""

MAX_BODY_BYTES: Final = 64 * 2**20
"""A response that takes more than this to keep is given up: memory is bounded whatever the server sends."""

_PIECE_BYTES: Final = 128
"""What keeping a piece takes beside its own bytes."""

SLICE: Final = 64
SLICE_BYTES: Final = 16 * 1024
"""How many pieces, and how many bytes, are decoded before everybody else gets a turn: well under 1 ms."""

LESSONS: Final = 4
"""How often in a row a stream's template is looked for in vain: some servers send no two frames alike."""

_DONE: Final = b"[DONE]"
_EXCERPT_BYTES: Final = 4096
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


class ResponseStream:
    """The body of one response.

    Args:
        codec: The protocol.

    Attributes:
        answer: What has been decoded so far.
        bytes: Of the body.
        reads: How many reads it came in, told by their stamps.
        last_ns: When the last piece arrived, 0 before the first.
    """

    def __init__(self, codec: Codec) -> None:
        self.answer = Answer()
        self.bytes = 0
        self.reads = 0
        self.last_ns = 0
        self._codec = codec
        self._sse: SSEDecoder | None = None
        self._template: Template | None = None
        self._lessons = LESSONS
        self._pieces: list[tuple[int, bytes]] = []
        self._decoded = 0

    def start(self, *, event_stream: bool) -> None:
        """Take the head of the response: whether its body is an event stream or one JSON text."""
        self._sse = SSEDecoder() if event_stream else None

    def receive(self, data: bytes, at_ns: int) -> bool:
        """Keep a piece of the body.

        Returns:
            Whether the first token was in it.

        Raises:
            RequestFailedError: `too_large`, or what the pieces up to the first token are.
        """
        self.bytes += len(data)
        if self.bytes + _PIECE_BYTES * len(self._pieces) > MAX_BODY_BYTES:
            raise RequestFailedError(
                Failure.TOO_LARGE, f"a response that takes more than {MAX_BODY_BYTES} bytes to keep"
            )
        if at_ns != self.last_ns:
            self.reads += 1
            self.last_ns = at_ns
        self._pieces.append((at_ns, data))
        if self._sse is None or self.answer.token_ns:
            return False
        self._decode(1)
        return bool(self.answer.token_ns)

    def decode(self) -> Iterator[None]:
        """Decode what is left; yields between slices so that the caller can let others run.

        Raises:
            RequestFailedError: `malformed_frame` or `too_large`.
        """
        while self._sse is not None and self._decoded < len(self._pieces):
            self._decode(SLICE)
            if self._decoded < len(self._pieces):
                yield
        if self._sse is not None:
            for frame in self._sse.close():
                self._take(frame, self.last_ns)
        elif self._decoded < len(self._pieces):
            self._decoded = len(self._pieces)
            self._take_whole(self.body())

    def body(self) -> bytes:
        """The body as it came."""
        return b"".join(data for _, data in self._pieces)

    def error_text(self) -> str:
        """What the body of an HTTP error says: the error's own message, or the start of the body."""
        body = self.body()
        try:
            payload = orjson.loads(body)
        except orjson.JSONDecodeError:
            return _excerpt(body)
        said = read_error(payload) if isinstance(payload, dict) else None
        return said or _excerpt(body)

    def _decode(self, most: int) -> None:
        sse = self._sse
        if sse is None:
            return
        room = SLICE_BYTES
        alike: list[bytes] = []
        moments: list[int] = []
        for at_ns, data in self._pieces[self._decoded : self._decoded + most]:
            self._decoded += 1
            template = self._template
            if template is not None and data.startswith(template.head) and data.endswith(template.tail):
                alike.append(data)
                moments.append(at_ns)
            else:
                self._take_alike(alike, moments)
                alike, moments = [], []
                self._feed(sse, data, at_ns)
            room -= len(data)
            if room <= 0:
                break
        self._take_alike(alike, moments)

    def _take_alike(self, frames: list[bytes], moments: list[int]) -> None:
        """Take pieces that look as the template has it, none of which begins inside a frame."""
        if self._sse is None or self._template is None or not frames:
            return
        texts = self._template.texts(frames) if self._sse.between_frames else None
        if texts is not None:
            self.answer.add_texts(self._template.channel, texts, moments)
            return
        for data, at_ns in zip(frames, moments, strict=True):
            self._feed(self._sse, data, at_ns)

    def _feed(self, sse: SSEDecoder, data: bytes, at_ns: int) -> None:
        frames = sse.feed(data)
        delta = None
        for frame in frames:
            delta = self._take(frame, at_ns)
        if self._lessons and len(frames) == 1 and delta is not None and delta.carries_token:
            self._template = learn(self._codec, data, frames[0].data, delta)
            self._lessons = LESSONS if self._template is not None else self._lessons - 1

    def _take(self, frame: Frame, at_ns: int) -> Delta | None:
        """Take a frame; return what it means, unless that has nothing to do with the protocol."""
        data, is_error = frame.data.strip(), frame.event == b"error"
        if data == _DONE:
            self.answer.done = True
            return None
        if not data and not is_error:
            # Some servers keep a connection alive in this way.
            return None
        try:
            delta = self._codec.chunk(orjson.loads(data))
        except (orjson.JSONDecodeError, MalformedError) as error:
            # An `event: error` frame may carry plain text.
            if not is_error:
                raise _unknown(data, error) from error
            delta = Delta()
        if is_error and delta.error is None:
            delta = delta._replace(error=_excerpt(data))
        self.answer.add(delta, at_ns)
        return delta

    def _take_whole(self, body: bytes) -> None:
        try:
            delta = self._codec.whole(orjson.loads(body))
        except (orjson.JSONDecodeError, MalformedError) as error:
            raise RequestFailedError(
                Failure.MALFORMED_FRAME,
                f"a response that the protocol does not know ({error}): {_excerpt(body)}",
            ) from error
        self.answer.add(delta, None)


def _unknown(payload: bytes, error: Exception) -> RequestFailedError:
    return RequestFailedError(
        Failure.MALFORMED_FRAME, f"a frame that the protocol does not know ({error}): {_excerpt(payload)}"
    )


def _excerpt(data: bytes) -> str:
    """The start of a piece of the body, for a message; it is shortened once no secret can be cut in two."""
    return data[:_EXCERPT_BYTES].decode(errors="replace")
