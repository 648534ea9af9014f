"""One response, from stamped bytes to an answer.

Timing needs no JSON. While the response runs, its pieces are kept with their stamps, and decoded a slice at a
time, but for the few up to the first token, which the log announces at once: so there is little left to do
when the response is over, and a long answer delays no other request.
"""

from __future__ import annotations

from itertools import chain
from operator import ne
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client.body_format import EVENT_STREAM, BodyFormat, FormatFinder, deviation, read_whole
from loadgen.driver.client.codec import Codec, Delta
from loadgen.driver.client.frame_cache import END, Template, learn, read_frame
from loadgen.driver.client.memory_bounds import PIECE_BYTES, SMALL_BYTES, Allowance
from loadgen.driver.client.parsed_response import ParsedResponse
from loadgen.driver.client.sse import Frame, SSEDecoder
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from loadgen.driver.client._wire import Body
    from loadgen.driver.client.arrival_bounds import Late
    from loadgen.driver.client.cumulative import TextSoFar
    from loadgen.driver.client.frame_cache import KnownStart, ResponseShapes, Shapes

SLICE: Final = 64
SLICE_BYTES: Final = 16 * 1024
"""How many pieces, and how many bytes, are decoded before everybody else gets a turn: well under 1 ms."""

MOST_KNOWN: Final = 256
"""How many pieces of known shapes are read at once: no longer than a slice of others."""

LESSONS: Final = 4
"""How often in a row a template is learnt that no further frame has: some servers number their frames."""

_DONE_FRAME: Final = b"data: [DONE]\n\n"
_EXACT: Final[Mapping[int, Any]] = {}


class ResponseStream:
    """The body of one response.

    Attributes:
        reader: What reads frames and bodies: the protocol, unless that is replaced by one that keeps more.
        last_ns: When the last piece arrived, 0 before the first.
    """

    def __init__(
        self,
        codec: Codec,
        allowance: Allowance | None = None,
        shapes: Shapes | None = None,
        reader: Codec | None = None,
    ) -> None:
        self.answer = ParsedResponse()
        self.bytes = self.reads = self.last_ns = 0
        self._settle_at = SMALL_BYTES
        self._codec = codec
        self.reader = reader or codec
        self._allowance = allowance or Allowance()
        self._held = self._passed = 0
        self.streamed = self.awaits_token = False
        self.media_type = ""
        self.deviations: set[str] = set()  #: what is not as the protocol has it, and was read nevertheless
        self._finder: FormatFinder | None = None
        self._sse: SSEDecoder | None = None
        self._template: Template | None = None
        # Where each frame repeats what came before, no two have as much in common.
        self._lessons = 0 if codec.cumulative else LESSONS
        self._shapes = None if codec.cumulative else shapes
        self._text: TextSoFar | None = None
        if codec.cumulative:
            # Few protocols repeat texts.
            from loadgen.driver.client.cumulative import TextSoFar

            self._text = TextSoFar(self.answer, shapes)
        self._own_shapes: ResponseShapes | None = None
        self._pieces: list[bytes] = []
        self._moments: list[int] = []
        self._late: dict[int, Late] = {}
        self._decoded = 0
        self._begun = self._cut = False

    def lacks_end(self, *, framed: bool) -> bool:
        """Whether a stream lacks a finish reason that the protocol has; `framed`: complete by HTTP.

        Some servers and gateways end a response in order, even with `[DONE]`, although its generation was
        cut. What is not such a stream is complete when HTTP says so, and one JSON text when it is one.
        """
        has_begun = not self.answer.empty if self.answer.done else self._begun or not framed
        must_end = self._codec.announces_end and self.streamed and has_begun
        return (must_end and self.answer.finish_reason is None) or self.is_cut(framed=framed)

    def is_cut(self, *, framed: bool) -> bool:
        """Whether the end of the connection came inside an event, and nothing but that says so."""
        return self._cut and not framed and not self.answer.done

    def start(self, *, event_stream: bool, media_type: str = "") -> None:
        """Take the head of an answer; the first bytes decide the form of the body."""
        self.streamed = event_stream
        self.media_type = media_type or (EVENT_STREAM if event_stream else "")
        self.awaits_token = event_stream or "json" not in media_type
        self._finder = FormatFinder(self.media_type)

    def receive(
        self, pieces: Sequence[bytes], moments: Sequence[int], late: Mapping[int, Late] = _EXACT
    ) -> None:
        """Store received pieces of the body, `late` ones perhaps earlier; or raise the failure of a piece."""
        if self.bytes >= self._settle_at:
            self._settle()
        if late:
            queued = len(self._pieces)
            self._late.update((queued + place, bound) for place, bound in late.items() if place < len(pieces))
        self._pieces += pieces
        self._moments += moments
        size = sum(map(len, pieces))
        self.bytes += size
        more = size + PIECE_BYTES * len(pieces)
        self._held += more
        if moments[0] == moments[-1]:
            self.reads += moments[0] != self.last_ns
        else:
            self.reads += sum(map(ne, moments, chain((self.last_ns,), moments)))
        self.last_ns = moments[-1]
        self._allowance.take(more, self._held)
        if self._finder is not None:
            self._find_format(self._finder.look(pieces))
            if self._finder is not None:
                return
        try:
            if self.awaits_token:
                self._find_token()
                return
            while self.streamed and len(self._pieces) - self._decoded >= SLICE:
                self._decode_slice(self._decoder())
        except RequestFailedError:
            # What comes after it, a [DONE] perhaps, makes it no better.
            del self._pieces[self._decoded :], self._moments[self._decoded :]
            raise

    def receive_known(self, body: Body, earliest_ns: int) -> KnownStart | None:
        """Take the first pieces of a part of a body if earlier responses had frames of these shapes.

        It is the same as to `receive` them, but that none is kept. Nothing is taken, and None returned, where
        they are out of order or before `earliest_ns`.
        """
        can_pass_over = self._sse is None or self._sse.can_pass_over
        if self._shapes is None or self.answer.done or not can_pass_over or self._decoded < len(self._pieces):
            return None
        start: KnownStart | None = body.known(self._shapes.groups, earliest_ns)
        if start is None:
            return None
        items, count, size, first_ns, last_ns, _, reads = start
        more = size + PIECE_BYTES * count
        if not self._allowance.takes(more, self._held + more):
            return None
        if self.bytes >= self._settle_at:
            self._settle()
        self.bytes += size
        self.reads += reads + (first_ns != self.last_ns)
        self.last_ns = last_ns
        self._held += more
        self._passed += more
        self._begun = True
        if self._finder is not None:
            self._find_format(BodyFormat.EVENTS)
        self.answer.add_known(items)
        if self._sse is not None:
            self._sse.pass_over()
        if self.awaits_token:
            self.awaits_token = not self.answer.token_ns
        return start

    def decode(self) -> Iterator[None]:
        """Decode the rest, or raise `malformed_frame` or `too_large`; yields between slices."""
        if self._finder is not None and self.bytes:
            self._find_format(self._finder.at_end())
        while self.streamed and self._decoded < len(self._pieces):
            self._decode_slice(self._decoder())
            if self._decoded < len(self._pieces):
                yield
        if self._sse is not None:
            self._close(self._sse)
        elif not self.streamed and self._decoded < len(self._pieces):
            self._decoded = len(self._pieces)
            timed = getattr(self.reader, "timed", None)  # a protocol for audio: it has no JSON
            if timed is None:
                whole = read_whole(self.reader, self.body(), self.media_type, self.deviations)
            else:
                whole = timed(self._pieces, self._moments)
            self.answer.add(whole, None)
            if self._codec.announces_end and whole.finish_reason is None and whole.error is None:
                self.deviations.add("no finish reason")

    def _find_format(self, form: BodyFormat | None) -> None:
        """Set up the decoder for the form of the body; None while unknown."""
        if form is None:
            return
        self._finder = None
        self.streamed = self.awaits_token = form is not BodyFormat.WHOLE
        if form is BodyFormat.LINES:
            from loadgen.driver.client.json_lines import JsonLinesDecoder

            self._sse = JsonLinesDecoder()
        if (other := deviation(form, self.media_type)) and not hasattr(self.reader, "timed"):
            self.deviations.add(other)

    def _decoder(self) -> SSEDecoder:
        """The decoder that splits the stream into frames; a stream of known shapes needs none."""
        if self._sse is None:
            self._sse = SSEDecoder()
            if self._begun:
                self._sse.pass_over()
        return self._sse

    def _close(self, sse: SSEDecoder) -> None:
        """Take the end of a stream, and note whether an event is incomplete."""
        self._cut = sse.in_event
        for frame in sse.close():
            try:
                self._take(frame, self.last_ns)
            except RequestFailedError:
                self._cut = True
                raise
        if self._text is not None:
            self._text.close()

    def _settle(self) -> None:
        """Drop decoded pieces, and charge the decoded content if larger.

        Small responses keep their pieces: what is decoded of them takes less than what they hold.
        """
        self._settle_at = self.bytes + SMALL_BYTES
        count = self._decoded
        dropped = self._passed + sum(map(len, self._pieces[:count])) + PIECE_BYTES * count
        self._passed = 0
        self._late = {place - count: bound for place, bound in self._late.items() if place >= count}
        del self._pieces[:count], self._moments[:count]
        self._decoded = 0
        if (more := self.answer.compact() - dropped) > 0:
            self._held += more
            self._allowance.take(more, self._held)

    def forget(self) -> None:
        """Drop everything received and decoded, which is in the log."""
        self._pieces, self._moments, self._late, self._decoded = [], [], {}, 0
        self.answer = ParsedResponse()

    def release(self) -> None:
        """Release the allowance: the request is over, and the end event is queued."""
        self._allowance.give_back(self._held)
        self._held = 0

    def body(self) -> bytes:
        """The received body."""
        return b"".join(self._pieces)

    def _find_token(self) -> None:
        """Decode piece by piece until there is a token."""
        sse = self._decoder()
        while self.awaits_token and self._decoded < len(self._pieces):
            if self._read_known(sse):
                self.awaits_token = not self.answer.token_ns
                continue
            self._decoded += 1
            try:
                self._feed(sse, self._decoded - 1)
            finally:
                self.awaits_token = not self.answer.token_ns

    def _read_known(self, sse: SSEDecoder) -> bool:
        """Take the next frames if of known shapes; return whether any were."""
        if self._shapes is None or not sse.can_pass_over or self.answer.done:
            return False
        first = self._decoded
        items = self._shapes.read(self._pieces, self._moments, self._late, first, MOST_KNOWN)
        if not items:
            return False
        self._begun = True
        self._decoded += self.answer.add_known(items)
        sse.pass_over()
        return True

    def _decode_slice(self, sse: SSEDecoder) -> None:
        if self._read_known(sse):
            return
        pieces = self._pieces[self._decoded : self._decoded + SLICE]
        if (count := sum(map(len, pieces))) > SLICE_BYTES:
            del pieces[max(1, len(pieces) * SLICE_BYTES // count) :]
        while pieces:
            count, texts, shape = 0, None, None
            if sse.between_frames and not self.answer.done:
                count, texts = (0, None) if self._template is None else self._template.read(pieces)
                if not count and isinstance(shape := self._shape_of(pieces[0]), Template):
                    self._template = shape
                    count, texts = shape.read(pieces)
            first, count = self._decoded, count or 1
            self._decoded += count
            if texts is not None:
                self._take_texts(texts, self._moments[first : first + count])
            elif isinstance(shape, Delta):
                self._take_delta(shape, sse, first)
            else:
                for place in range(first, first + count):
                    self._parse(sse, place)
            del pieces[:count]

    def _take_texts(self, texts: list[str], moments: list[int]) -> None:
        """Take the texts of frames that match the template."""
        assert self._template is not None  # noqa: S101 (it has read them)
        since = self._since(self._decoded - len(moments), len(moments)) if self._late else None
        self.answer.add_texts(self._template.channel, texts, moments, since)
        if self._lessons:
            self._lessons = LESSONS

    def _since(self, first: int, count: int) -> dict[int, int]:
        """The lower bounds of late pieces, by place."""
        late = ((place, self._late.get(first + place)) for place in range(count))
        return {place: bound.since_ns for place, bound in late if bound is not None and bound.whole}

    def _feed(self, sse: SSEDecoder, place: int) -> None:
        """Decode the piece at a place."""
        shape = self._shape_of(self._pieces[place]) if sse.can_pass_over and not self.answer.done else None
        if isinstance(shape, Template):
            self._template = shape
            shape = shape.delta(self._pieces[place])
        if shape is None:
            self._parse(sse, place)
        else:
            self._take_delta(shape, sse, place)

    def _shape_of(self, data: bytes) -> Delta | Template | None:
        """The meaning of a frame of known shape, or the matching template."""
        if self._shapes is None:
            return None
        if data == _DONE_FRAME:
            return END
        if self._own_shapes is None or not self._own_shapes.is_of(data):
            self._own_shapes = self._shapes.of_response(data)
        return None if self._own_shapes is None else self._own_shapes.find(data)

    def _take_delta(self, delta: Delta, sse: SSEDecoder, place: int) -> None:
        """Take the meaning of the frame of known shape at a place."""
        late = self._late.get(place) if self._late else None
        since_ns = late.since_ns if late is not None and late.whole else None
        self.answer.add(delta, self._moments[place], since_ns)
        sse.pass_over()
        self._begun = True

    def _parse(self, sse: SSEDecoder, place: int) -> None:
        """Parse the piece at a place."""
        data, at_ns, late = self._pieces[place], self._moments[place], self._late.get(place)
        frames = sse.feed(data)
        delta = None
        for left, frame in zip(reversed(range(len(frames))), frames, strict=True):
            since_ns = late.since_ns if late is not None and (left or late.whole) else None
            delta = self._take(frame, at_ns, since_ns)
            if delta is not None and len(frames) > 1 and self._shapes is not None and self._shapes.parts:
                self._shapes.parts -= 1
                if (part := b"data: %b\n\n" % frame.data) in data:
                    self._learn(part, frame, delta)
        if len(frames) == 1 and delta is not None:
            self._learn(data, frames[0], delta)

    def _learn(self, data: bytes, frame: Frame, delta: Delta) -> None:
        """Learn the shape of a frame that came alone in a piece."""
        if not delta.carries_token:
            if self._shapes is not None and not frame.event:
                self._shapes.note_delta(data, frame.data, delta)
        elif self._lessons:
            self._template = learn(self._codec, data, frame.data, delta)
            self._lessons -= 1
            if self._shapes is not None and self._template is not None:
                self._shapes.note_template(self._template)

    def _take(self, frame: Frame, at_ns: int, since_ns: int | None = None) -> Delta | None:
        """Take a frame, unless after the end; return the meaning, if any."""
        delta = None if self.answer.done else read_frame(self.reader, frame, self.deviations)
        if delta is None:
            return None
        if self._text is not None:
            delta = self._text.taken(delta, at_ns, since_ns)
        self._begun = True
        self.answer.add(delta, at_ns, since_ns)
        return delta
