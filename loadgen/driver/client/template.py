"""Reading the frames of one stream that differ in their text alone, many at a time.

Nearly all frames of a stream are the same JSON around another text. Once one of them has been read in full,
what stands before the text and what stands after it is known; a frame with the same two ends needs no
parsing, and the texts of many frames are read as one JSON array. Whatever is not exactly of that form is left
to the codec.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, NamedTuple

import orjson

from loadgen.driver.client.codec import Delta
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.errors import MalformedResponseError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from loadgen.driver.client.codec import Codec

alike: Callable[[list[bytes], bytes, bytes], tuple[int, bytes | None]] | None = compiled_function("alike")
"""Compiled code that reads many frames; None without it."""

Channel = Literal["content", "reasoning"]

_ONLY: Final[dict[Channel, Callable[[str], Delta]]] = {
    "content": lambda text: Delta(content=text),
    "reasoning": lambda text: Delta(reasoning=text),
}
_START: Final = re.compile(rb"(event:[^\r\n]*\r?\n)?data: ?")
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
        if alike is None:
            insides = self.insides(frames)
            return len(insides), self.texts(insides) if insides else None
        count, joined = alike(frames, self.head, self.tail)
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
    if channel is None or not _START.fullmatch(before) or after not in _ENDS:
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
