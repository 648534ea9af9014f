"""What earlier responses have shown of frames, and what it must not be taken for."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, completions
from loadgen.driver.client.codec import Delta
from loadgen.driver.client.frame_cache import Shapes
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Sequence

DONE = b"data: [DONE]\n\n"


class CountingCodec:
    """Reads chat completions, and counts the frames that it is asked to read."""

    def __init__(self) -> None:
        self.frames = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(chat_completions, name)

    def chunk(self, payload: Any) -> Delta:
        """Read one frame of a stream."""
        self.frames += 1
        return chat_completions.chunk(payload)


def frame(number: int, choice: Any, **more: Any) -> bytes:
    """A frame of a response."""
    head = {"id": f"chatcmpl-{number}", "object": "chat.completion.chunk", "created": 1_700_000_000 + number}
    choices = [] if choice is None else [choice]
    return b"data: %b\n\n" % orjson.dumps({**head, "model": "m", "choices": choices, **more})


def delta(finish_reason: str | None = None, **members: Any) -> dict[str, Any]:
    """A choice with a delta."""
    return {"index": 0, "delta": members, "finish_reason": finish_reason}


def response(number: int, texts: Sequence[str]) -> list[bytes]:
    """The frames of a response."""
    usage = {"prompt_tokens": 3, "completion_tokens": len(texts)}
    return [
        frame(number, delta(role="assistant", content="")),
        *(frame(number, delta(content=text)) for text in texts),
        frame(number, delta("stop")),
        frame(number, None, usage=usage),
        DONE,
    ]


def decoded(codec: Any, pieces: Sequence[bytes], shapes: Shapes | None) -> Any:
    """What a response says, decoded with the shapes of others."""
    stream = ResponseStream(codec, shapes=shapes)
    stream.start(event_stream=True)
    moments = count(1000)
    for piece in pieces:
        stream.receive([piece], [next(moments)])
    for _ in stream.decode():
        pass
    answer = stream.answer
    return (
        *("".join(answer.content), "".join(answer.reasoning), answer.token_ns, answer.silent_ns),
        *(answer.finish_reason, answer.usage, answer.done, answer.error, answer.tool_calls),
        *(answer.first_chunk, answer.first_visible_ns, stream.lacks_end(framed=True)),
    )


@pytest.mark.parametrize("compiled", [True, False])
def test_the_third_response_needs_no_parsing(monkeypatch: pytest.MonkeyPatch, *, compiled: bool) -> None:
    """Two responses show all shapes: of the next one no frame is read by the codec."""
    if not compiled:
        monkeypatch.setattr("loadgen.driver.client.frame_cache.read_known", None)
    codec: Any = CountingCodec()
    shapes = Shapes(codec)
    for number in range(2):
        decoded(codec, response(number, ["a", "b", "c"]), shapes)
    codec.frames = 0
    result = decoded(codec, response(2, ["d", "e", "f"]), shapes)
    assert codec.frames == 0
    assert result == decoded(chat_completions, response(2, ["d", "e", "f"]), None)


text = st.text(max_size=8) | st.sampled_from(['"', "\\", '","', '"id":"x"', "\n\n", "data: ", "", "é", "😀"])

INSIDES = st.sampled_from(
    [
        b"a",
        b"b c",
        b"\\n",
        b"\\u00e9",
        b"\\ud83d\\ude00",
        b"\\ud83d",
        b"\\ude00",
        b"\\",
        b'\\"',
        b'"',
        b"\\x",
        b"\\u12",
        b"\\\x00",
        b"\n",
        b"\x00",
        b"\x7f",
        "é😀".encode(),
        b"\xf0\x9f",
        b"\x98\x80",
        b"\xed\xa0\x80",
        b"",
        b"\xff",
    ]
)
"""What stands between the quotes of a text: JSON or not."""


@given(st.lists(st.lists(text, max_size=5), min_size=3, max_size=5))
def test_shapes_change_nothing(answers: list[list[str]]) -> None:
    """Every response says the same as without those before it."""
    shapes = Shapes(chat_completions)  # type: ignore[arg-type]
    for number, texts in enumerate(answers):
        pieces = response(number, texts)
        assert decoded(chat_completions, pieces, shapes) == decoded(chat_completions, pieces, None)


def outcome(pieces: Sequence[bytes], shapes: Shapes | None) -> Any:
    """What a response says, or how it fails."""
    try:
        return decoded(chat_completions, pieces, shapes)
    except RequestFailedError as error:
        return (error.failure, str(error))


@given(insides=st.lists(INSIDES, max_size=6), thought=st.booleans())
def test_any_bytes_between_the_quotes(insides: list[bytes], *, thought: bool) -> None:
    """Texts of a known shape are read together, and as the parser reads each: else they are left to it."""
    shapes, member = Shapes(chat_completions), "reasoning" if thought else "content"  # type: ignore[arg-type]
    for number in range(2):
        decoded(chat_completions, response(number, ["a", "b"]), shapes)
        decoded(chat_completions, [frame(number, delta(reasoning="a"))] * 2 + [DONE], shapes)
    pieces = [frame(7, delta(**{member: "TEXT"})).replace(b"TEXT", inside) for inside in insides]
    assert outcome([*pieces, DONE], shapes) == outcome([*pieces, DONE], None)


@given(
    st.lists(
        st.sampled_from(
            [
                frame(1, delta(content="a")),
                frame(2, delta(content="a")),
                frame(1, delta(reasoning="a")),
                frame(1, delta("length")),
                frame(2, delta("stop")),
                frame(1, delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f"}}])),
                frame(1, delta(tool_calls=[{"index": 0, "id": "b", "function": {"name": "f"}}])),
                frame(2, delta(content=""), error={"message": "oops"}),
                frame(2, delta(content="")),
                frame(1, delta(role="assistant", content="")),
                frame(1, delta(role="assistant", content=""))[:-2],
                b"\n\n",
                b": ping\n\n",
                b"event: error\n",
                b"\r\n",
                DONE,
                frame(3, None, usage={"completion_tokens": 1}),
                frame(3, None, usage={"completion_tokens": 2}),
            ]
        ),
        max_size=12,
    ),
    st.sampled_from([chat_completions, completions]),
)
def test_any_frames_in_any_order(pieces: list[bytes], codec: Any) -> None:
    """Also frames in pieces, and those that mean nothing to the protocol."""
    shapes = Shapes(codec)
    for _ in range(3):
        outcomes = []
        for shapes_used in (shapes, None):
            try:
                outcomes.append(decoded(codec, pieces, shapes_used))
            except Exception as error:  # noqa: BLE001 (whatever it is, it must be the same)
                outcomes.append((type(error), str(error)))
        assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("member", ["id", "created"])
def test_a_codec_that_reads_what_differs(member: str) -> None:
    """Where the id or the time is a part of the answer, no shape is kept."""

    class Codec(CountingCodec):
        def chunk(self, payload: Any) -> Delta:
            self.frames += 1
            return Delta(content=str(payload[member]))

    codec: Any = Codec()
    shapes = Shapes(codec)
    for number in range(4):
        result = decoded(codec, [frame(number, delta(content="a"))] * 2, shapes)
        assert result == decoded(codec, [frame(number, delta(content="a"))] * 2, None)


def test_numbered_frames_are_bounded() -> None:
    """A server with a shape for every frame makes nothing grow."""
    shapes = Shapes(chat_completions)  # type: ignore[arg-type]
    for number in range(500):
        for _ in range(2):
            decoded(chat_completions, [frame(1, {**delta("stop"), "n": number})], shapes)
    assert sum(len(alike.deltas) for alike in shapes.groups) <= 64
    assert len(shapes._seen_once) <= 64
