"""The known shapes of an endpoint's frames, from earlier responses: such frames are not parsed.

The frames of two responses differ in the response's `id` and in the time at which it was `created`, and
otherwise mostly in their texts alone. So a template that was learnt from one response holds for the next, and
a frame without a text, such as the last one, means what it meant before. Each shape is proven: the codec
reads the same from it with another id and another time. Only what has been seen twice is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import orjson

from loadgen.driver.client import server_json
from loadgen.driver.client.body_format import excerpt
from loadgen.driver.client.codec import Codec, Delta
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.failure import Failure
from loadgen.driver.errors import MalformedResponseError, RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, MutableSet, Sequence

    from loadgen.driver.client.arrival_bounds import Late
    from loadgen.driver.client.sse import Frame

    Channel = Literal["content", "reasoning"]

    Texts = tuple[int, Channel, str | bytes, int, list[int], dict[int, int] | None]
    """Of how many frames, what the texts are, the texts as one (bytes: its JSON), characters of the first,
    when each arrived, and when those had not arrived that may have come before, by their place."""

    KnownFrames = Texts | tuple[Delta, int, int | None] | None
    """Texts; what another frame means, its moment, and when it had not arrived; None for `[DONE]`."""

    KnownStart = tuple[list[KnownFrames], int, int, int, int, int, int]
    """Of the first pieces of a part of a body, frames of known shapes: what they mean, how many they are, how
    long together, when the first and the last arrived, when the first had not (0 where its moment is exact),
    and how often a moment differs from the one before it."""

read_known: (
    Callable[[list[bytes], list[int], dict[int, Late], int, int, list[FramesAlike]], list[KnownFrames]] | None
)
read_known = compiled_function("known")
"""Compiled code that reads frames of known shapes; None without it."""

_RESPONSE: Final = re.compile(
    rb'(data: \{(?:"object": ?"[^"\\\r\n]*", ?)?"id": ?")[ !#-\[\]-~]*'
    rb'("(?:, ?"object": ?"[^"\\\r\n]*")?, ?"created": ?)(?:0|[1-9][0-9]*)(?=,)'
)
"""The start of a frame: what belongs to the response is between and after the two groups."""

_OTHER_RESPONSE: Final = rb"\1another id\g<2>1"
_START: Final = b"data: "
_END: Final = b"\n\n"
_LONGEST: Final = 2048
_MOST_SHAPES: Final = 64
"""How many shapes are kept, and how many that were seen once: a server that numbers its frames has no end."""


class FramesAlike(NamedTuple):
    """The shapes of frames that start alike, except for the parts of one response."""

    before: bytes  #: the start of a frame up to the response's id
    between: bytes  #: what stands between the id and the time
    templates: list[Template]  #: of frames with a text: the head begins after the time
    deltas: dict[bytes, Delta]  #: what frames without a text mean, by what follows the time


class Shapes:
    """The shapes of frames of one endpoint."""

    def __init__(self, codec: Codec) -> None:
        self.groups: list[FramesAlike] = []
        #: Whether frames have new parts of a text, although the protocol has the whole text in each.
        self.has_parts = False
        self.version = 0  #: how often something was learnt
        self.parts = 0  #: how many frames that come with others are still learnt from
        self.codec = codec
        self._seen_once: set[object] = set()

    def read(
        self, frames: list[bytes], moments: list[int], late: dict[int, Late], first: int, limit: int
    ) -> list[KnownFrames]:
        """The meaning of up to `limit` frames, from the `first` up to one of another shape, or the end.

        Frames that follow each other and have texts only are one item, each other frame is one. Without
        compiled code the list is empty.
        """
        return [] if read_known is None else read_known(frames, moments, late, first, limit, self.groups)

    def of_response(self, received: bytes) -> ResponseShapes | None:
        """The shapes of frames of the response that a received frame is from; None where none are known."""
        if (start := _RESPONSE.match(received)) is None:
            return None
        alike = self._alike(start[1], start[2])
        return None if alike is None else ResponseShapes(start[0], alike)

    def note_template(self, template: Template) -> None:
        """Keep a template of a form that other responses can have."""
        if (common := shared_bytes(template.head)) is None:
            return
        before, between, head = common
        alike = self._alike(before, between)
        own = Template(head, template.tail, template.channel)
        if (alike is not None and own in alike.templates) or not self.has_seen((*common, template.tail)):
            return
        payloads = [
            head.removeprefix(_START) + b"text" + template.tail.removesuffix(_END)
            for head in (template.head, _of_other_response(template.head))
        ]
        if self._means_the_same(*payloads):
            self._alike_or_new(before, between).templates.append(own)
            self.version += 1

    def note_delta(self, received: bytes, payload: bytes, delta: Delta) -> None:
        """Keep the meaning of a frame without a text, if other responses can have such a frame."""
        # An end is looked at each time: nothing is read after it.
        if len(received) > _LONGEST or delta.error is not None or delta.done:
            return
        if received != _START + payload + _END:
            return
        if (common := shared_bytes(received)) is None or not self.has_seen(common):
            return
        if self._means_the_same(payload, _of_other_response(received)[len(_START) : -len(_END)]):
            before, between, rest = common
            self._alike_or_new(before, between).deltas[rest] = delta
            self.version += 1

    def _alike(self, before: bytes, between: bytes) -> FramesAlike | None:
        return next((alike for alike in self.groups if alike[:2] == (before, between)), None)

    def _alike_or_new(self, before: bytes, between: bytes) -> FramesAlike:
        """The shapes of frames with such a start, with room for one more."""
        if sum(len(alike.templates) + len(alike.deltas) for alike in self.groups) >= _MOST_SHAPES:
            self.groups.clear()
        if (alike := self._alike(before, between)) is None:
            alike = FramesAlike(before, between, [], {})
            self.groups.append(alike)
        return alike

    def has_seen(self, key: object) -> bool:
        """Whether a shape was seen before; note the shape."""
        if key in self._seen_once:
            return True
        if len(self._seen_once) >= _MOST_SHAPES:
            self._seen_once.clear()
        self._seen_once.add(key)
        return False

    def _means_the_same(self, payload: bytes, other: bytes) -> bool:
        try:
            return self.codec.chunk(orjson.loads(payload)) == self.codec.chunk(orjson.loads(other))
        except (orjson.JSONDecodeError, MalformedResponseError):
            return False


class ResponseShapes:
    """The shapes of frames of one response."""

    __slots__ = ("_alike", "_own", "_prefix")

    def __init__(self, prefix: bytes, alike: FramesAlike) -> None:
        self._prefix = prefix
        self._alike = alike
        self._own: dict[Template, Template] = {}

    def is_of(self, received: bytes) -> bool:
        """Whether a frame is from this response."""
        return received.startswith(self._prefix)

    def find(self, received: bytes) -> Delta | Template | None:
        """The known meaning of a frame of the response, or the template that the frame looks like."""
        rest = received[len(self._prefix) :]
        if (delta := self._alike.deltas.get(rest)) is not None:
            return delta
        template = next((template for template in self._alike.templates if template.fits(rest)), None)
        if template is None:
            return None
        if (own := self._own.get(template)) is None:
            own = Template(self._prefix + template.head, template.tail, template.channel)
            self._own[template] = own
        return own


def shared_bytes(received: bytes) -> tuple[bytes, bytes, bytes] | None:
    """The bytes that a frame shares with frames of other responses, if any: around the id, after the time."""
    start = _RESPONSE.match(received)
    return None if start is None else (start[1], start[2], received[start.end() :])


def _of_other_response(received: bytes) -> bytes:
    """A frame with the id and the time of another response."""
    return _RESPONSE.sub(_OTHER_RESPONSE, received, count=1)


END: Final = Delta(done=True)
"""The meaning of `[DONE]`."""

_DONE: Final = b"[DONE]"
_IDLE: Final = frozenset({b"null", b'""', b"ping", b"[PING]", b"keepalive", b"keep-alive", b"heartbeat"})
_IDLE_NAMES: Final = frozenset({b"ping", b"keepalive", b"keep-alive", b"heartbeat"})


def read_frame(codec: Codec, frame: Frame, deviations: MutableSet[str]) -> Delta | None:
    """Read a frame, or raise `malformed_frame`; None for one that only keeps the connection alive.

    `deviations` takes what is not as protocol and JSON have it, and was read nevertheless.
    """
    data, is_error = frame.data.strip(), frame.is_error
    if not is_error:
        if data == _DONE:
            return END
        if not data:
            return None
        if data in _IDLE:
            deviations.add(f"data: {data.decode()}")
            return None
    try:
        payload = server_json.loads(data, deviations)
        delta = codec.chunk(payload)
        if (statements := server_json.statements(payload)) is not None:
            delta = delta._replace(statements=statements)
    except (orjson.JSONDecodeError, MalformedResponseError) as error:
        if frame.event in _IDLE_NAMES:
            return None
        # An `event: error` frame may carry plain text.
        if not is_error:
            raise RequestFailedError(
                Failure.MALFORMED_FRAME, f"a frame that the protocol does not know ({error}): {excerpt(data)}"
            ) from error
        delta = Delta()
    if is_error and delta.error is None:
        delta = delta._replace(error=excerpt(data) or "an error event without a text")
    return delta


read_alike: Callable[[list[bytes], bytes, bytes], tuple[int, bytes | None]] | None
read_alike = compiled_function("alike")
"""Compiled code that reads many frames; None without it."""

_ONLY: Final[dict[Channel, Callable[[str], Delta]]] = {
    "content": lambda text: Delta(content=text),
    "reasoning": lambda text: Delta(reasoning=text),
}
_FIELD: Final = re.compile(rb"(event:[^\r\n]*\r?\n)?data: ?")
_ENDS: Final = (b"\n\n", b"\r\n\r\n")
_BETWEEN: Final = b'","'
_HIDDEN_BETWEEN: Final = b'\\","'
_OTHER_TEXT: Final = "\x01another text"


class Template(NamedTuple):
    """The common bytes of the frames of a stream."""

    head: bytes  #: the bytes of a frame up to its text, the opening quote included
    tail: bytes  #: the bytes after the text, from the closing quote to the blank line
    channel: Channel

    def read(self, frames: list[bytes]) -> tuple[int, list[str] | None]:
        """Read the first frames up to one that lacks an end; return the number and the texts.

        The texts are None when one of them is empty, or more than one text.
        """
        if read_alike is None:
            insides = self.insides(frames)
            return len(insides), self.texts(insides) if insides else None
        count, joined = read_alike(frames, self.head, self.tail)
        return count, None if joined is None else _texts(joined, count)

    def insides(self, frames: Sequence[bytes]) -> Sequence[bytes]:
        """The bytes between the two ends, of the first frames up to one that lacks an end."""
        count = len(frames) if self.fits(frames[0]) else 0
        while count and not self.fits(frames[count - 1]):
            count -= 1
        if not count:
            return ()
        frames, start, end = frames[:count], len(self.head), len(self.tail)
        insides = [frame[start:-end] for frame in frames]
        # Put together again, pieces of the same lengths are the same bytes: then all have the two ends.
        whole = b"".join([self.head, (self.tail + self.head).join(insides), self.tail])
        if min(map(len, frames)) >= start + end and whole == b"".join(frames):
            return insides
        return insides[: next(number for number, frame in enumerate(frames) if not self.fits(frame))]

    def fits(self, frame: bytes) -> bool:
        """Whether a frame has both ends."""
        long_enough = len(frame) >= len(self.head) + len(self.tail)
        return long_enough and frame.startswith(self.head) and frame.endswith(self.tail)

    def delta(self, frame: bytes) -> Delta | None:
        """The meaning of a frame with both ends; None without a single text between."""
        _, texts = self.read([frame])
        return None if texts is None else _ONLY[self.channel](texts[0])

    def texts(self, insides: Sequence[bytes]) -> list[str] | None:
        """The texts between the two ends of frames; None when one is empty, or more than one text."""
        joined = _BETWEEN.join(insides)
        if _HIDDEN_BETWEEN in joined:
            # A text that ends with a backslash would make the next quote its own.
            return None
        return _texts(b'["%b"]' % joined, len(insides))


def _texts(joined: bytes, count: int) -> list[str] | None:
    """The texts of a JSON array; None for another number of texts, or an empty one."""
    try:
        texts: list[str] = orjson.loads(joined)
    except orjson.JSONDecodeError:
        return None
    # A quote inside a frame's text would make more texts of it than there are frames.
    return texts if len(texts) == count and all(texts) else None


def learn(codec: Codec, received: bytes, payload: bytes, delta: Delta) -> Template | None:
    """Learn the template from a frame; None when the codec proves no place to be that of its text."""
    before, _, after = received.partition(payload)
    channel = _only_channel(delta)
    if channel is None or not _FIELD.fullmatch(before) or after not in _ENDS:
        return None
    text = orjson.dumps(getattr(delta, channel))
    if payload.count(text) != 1:
        return None
    head, _, tail = payload.partition(text)
    try:
        proof = codec.chunk(orjson.loads(head + orjson.dumps(_OTHER_TEXT) + tail))
    except (orjson.JSONDecodeError, MalformedResponseError):
        return None
    if proof != _ONLY[channel](_OTHER_TEXT):
        return None
    return Template(before + head + b'"', b'"' + tail + after, channel)


def _only_channel(delta: Delta) -> Channel | None:
    """The only content of a frame, if a text."""
    for channel, only in _ONLY.items():
        text = getattr(delta, channel)
        if text and delta == only(text):
            return channel
    return None
