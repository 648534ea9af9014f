"""Server-sent events: whatever the split of the bytes, the frames are the same."""

from __future__ import annotations

import sys
from collections import deque
from itertools import repeat
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.driver.client import sse
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.sse import Frame, SSEDecoder
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    Split = Callable[[bytes, Iterable[int]], list[bytes]]

ENDS = (b"\n", b"\r", b"\r\n")
PARTS = st.sampled_from(
    [
        *ENDS,
        *(
            b"data",
            b"data:",
            b"data: ",
            b"event: error",
            b"error: boom",
            b"{}",
            b"id: 7",
            b":",
            b": ping",
            b"retry: 9",
        ),
        *(
            b" ",
            b"x",
            b"\xef\xbb\xbf",
            b"\xc3\xa9",
            b"\xf0\x9f\x98\x80",
            b"\x00",
            b"[DONE]",
            b"\x0b",
            b"\x85",
        ),
    ],
)
STREAMS = st.lists(PARTS, max_size=30).map(b"".join) | st.binary(max_size=40)
"""Bytes that are nearly an event stream, and any others."""


def decode(pieces: Iterable[bytes]) -> list[Frame]:
    """All frames of a stream that comes in these pieces and then ends."""
    decoder = SSEDecoder()
    return [frame for piece in pieces for frame in decoder.feed(piece)] + decoder.close()


def is_error(event: bytes) -> bool:
    """Whether the name of an event says that it is an error."""
    return event.lower().endswith((b"error", b"exception"))


def by_the_letter(stream: bytes) -> list[Frame]:
    """The frames as the standard's text has them, and errors, from the whole of the bytes and in no hurry."""
    stream = stream.removeprefix(b"\xef\xbb\xbf")
    lines = stream.replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    frames, data, event, comments = [], [], b"", []
    for line in [*lines, b""]:
        field, _, value = line.partition(b":")
        value = value[1:] if value[:1] == b" " else value
        if not line:
            frames += [Frame(b"\n".join(data or comments[-16:]), event)] if data or is_error(event) else []
            data, event, comments = [], b"", []
        elif field == b"data":
            data.append(value)
        elif field == b"event":
            event = value
        elif field == b"error":
            data.append(value)
            event = field
        elif not field:
            comments.append(value)
        elif line[:1] == b"{" and line[-1:] == b"}":
            frames.append(Frame(line, event))
    return frames


@given(stream=STREAMS)
def test_the_frames_are_the_standard_s(stream: bytes) -> None:
    """Read at once, a stream has the frames that the standard's algorithm gives it."""
    assert decode([stream]) == by_the_letter(stream)


@given(stream=STREAMS, places=st.lists(st.integers(0, 200), max_size=8))
@example(stream=b"\xef\xbb\xbfdata: a\r\n\r\ndata: b\r\n\r\n", places=range(200))
@example(stream=b"data: a\r\rdata: b\n\r\n", places=range(200))
@example(stream=b"\xef\xbb", places=[1])
def test_any_split_gives_the_same_frames(splits: Split, stream: bytes, places: list[int]) -> None:
    """A cut may fall anywhere: in a CRLF, in the byte order mark, in a character."""
    assert decode(splits(stream, places)) == decode([stream])
    assert decode(stream[i : i + 1] for i in range(len(stream))) == decode([stream])


@given(
    payloads=st.lists(st.lists(st.text("aé😀:{ ", max_size=5), min_size=1, max_size=3), max_size=4),
    ends=st.lists(st.sampled_from(ENDS), min_size=1),
)
def test_line_ends_may_be_mixed(payloads: list[list[str]], ends: list[bytes]) -> None:
    """LF, CR and CRLF end lines alike, each wherever it stands."""
    lines = [line for payload in payloads for line in (*(f"data: {part}" for part in payload), "")]
    stream = b"".join(line.encode() + ends[i % len(ends)] for i, line in enumerate(lines))
    # A CR before an LF is one end, not two; here that would be another stream.
    if b"\r\n" not in {a + b for a, b in zip(ends, [*ends[1:], ends[0]], strict=True)}:
        assert [frame.data.decode() for frame in decode([stream])] == ["\n".join(p) for p in payloads]


@pytest.mark.parametrize(
    ("stream", "frames"),
    [
        (b"data: a\n\n", [Frame(b"a")]),
        (b"data:a\n\n", [Frame(b"a")]),
        (b"data:  a\n\n", [Frame(b" a")]),
        (b"data: a\ndata: b\n\n", [Frame(b"a\nb")]),
        (b"data\n\n", [Frame(b"")]),
        (b": ping\n\ndata: a\n\n: ping\n\n", [Frame(b"a")]),
        (b"data: a\n: in the middle\ndata: b\n\n", [Frame(b"a\nb")]),
        (b"event: error\ndata: a\n\ndata: b\n\n", [Frame(b"a", b"error"), Frame(b"b")]),
        (b"event: error\n\ndata: b\n\n", [Frame(b"", b"error"), Frame(b"b")]),
        (b"event: error\n: a\n: b\n\ndata: c\n\n", [Frame(b"a\nb", b"error"), Frame(b"c")]),
        (b": a\nevent: error\n\n", [Frame(b"a", b"error")]),
        (b": a\n\nevent: ping\n\n", []),
        (b'error: {"code":500}\n\n', [Frame(b'{"code":500}', b"error")]),
        (b'data: a\n\n{"error": "b"}\n', [Frame(b"a"), Frame(b'{"error": "b"}')]),
        (b"id: 1\nretry: 5\nunknown: x\ndata: a\n\n", [Frame(b"a")]),
        (b"data: a", [Frame(b"a")]),
        (b"data: a\n", [Frame(b"a")]),
        (b"data: a\n\ndata: b\r", [Frame(b"a"), Frame(b"b")]),
        (b"data: a\x0bb\x85c\xe2\x80\xa8d\n\n", [Frame(b"a\x0bb\x85c\xe2\x80\xa8d")]),
        (b"\n\n\n", []),
        (b"", []),
    ],
)
def test_shapes(stream: bytes, frames: list[Frame]) -> None:
    """Comments, names, several data lines, and an end without its blank line."""
    assert decode([stream]) == frames


def test_a_frame_is_there_as_soon_as_its_blank_line() -> None:
    """Nothing waits for the next bytes, not even after a CR that an LF may follow."""
    decoder = SSEDecoder()
    assert decoder.feed(b"data: a\r\r") == [Frame(b"a")]
    assert decoder.feed(b"\ndata: b\r\n\r") == [Frame(b"b")]
    assert decoder.feed(b"\n") == []
    assert decoder.feed(b"") == []
    assert decoder.close() == []


def held(decoder: SSEDecoder) -> int:
    """The bytes of memory that a decoder holds, counting shared objects once."""
    line, data = decoder._line, decoder._data
    return sys.getsizeof(line) + sys.getsizeof(data) + sum({id(d): sys.getsizeof(d) for d in data}.values())


@pytest.mark.parametrize("piece", [b"x" * 999, b"data: " + b"x" * 99 + b"\n", b"data:\n" * 200])
def test_memory_is_bounded(monkeypatch: pytest.MonkeyPatch, piece: bytes) -> None:
    """A line without end, and a frame without end, even of empty lines, are given up at the bound."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100_000)
    decoder = SSEDecoder()
    with pytest.raises(RequestFailedError, match="more than 100000 bytes") as raised:
        deque(map(decoder.feed, repeat(piece, 200_000 // len(piece))), maxlen=0)
    assert raised.value.failure == Failure.TOO_LARGE
    assert held(decoder) < 4 * 100_000


def test_many_frames_are_not_a_big_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bound is a frame's, not the stream's."""
    monkeypatch.setattr(sse, "MAX_FRAME_BYTES", 100)
    assert len(decode([b"data: 0123456789\n\n"] * 1000)) == 1000


def test_a_huge_line_in_small_pieces_is_not_copied_for_each() -> None:
    """It grows in place: the work is that of its bytes, not of their square."""
    decoder = SSEDecoder()
    decoder.feed(b"data: ")
    line = decoder._line
    for _ in range(8 * 1024):
        decoder.feed(b"x" * 1024)
        assert decoder._line is line
    assert [len(frame.data) for frame in decoder.feed(b"\n\n")] == [8 * 2**20]
