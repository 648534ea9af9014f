"""Frames that differ in their text alone: the short way gives what the long way gives."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, completions
from loadgen.driver.client.frame_cache import Template, learn
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from loadgen.driver.client.codec import Codec

CHAT = b'{"id":"x","choices":[{"index":0,"delta":{"content":%s},"finish_reason":null}],"usage":null}'
THOUGHT = b'{"choices":[{"delta":{"role":null,"content":null,"reasoning_content":%s}}],"created":1}'
COMPLETION = b'{"choices":[{"text":%s,"index":0}]}'
TWICE = b'{"choices":[{"delta":{"content":"no"},"delta":{"content":%s}}]}'

TEXTS = st.text(max_size=6) | st.sampled_from(['"', "\\", 'a","b', "\n", "\u2028", "é😀", "", "stop", "x"])
STRINGS = TEXTS.map(orjson.dumps) | st.sampled_from(
    [b'"a\\"', b'"a","b"', b'"a"b"', b"null", b"7", b'"\\ud83d\\ude00"', b'"\\x"', b'"a\n"', b'"', b""],
)
"""JSON strings, and what is not one."""


def frame(shape: bytes, string: bytes, end: bytes = b"\n\n") -> bytes:
    """A frame of this shape around a string."""
    return b"data: " + shape % string + end


def read(pieces: list[bytes], codec: Codec, *, lessons: int) -> tuple[Any, ...]:
    """What pieces of a stream say, each of which came at its own time."""
    response = ResponseStream(codec)
    response._lessons = lessons
    response.start(event_stream=True)
    try:
        for at_ns, data in enumerate(pieces, 1):
            response.receive([data], [at_ns])
        for _ in response.decode():
            pass
    except RequestFailedError as error:
        return (error.failure, str(error))
    answer = response.answer
    texts = ("".join(answer.content), "".join(answer.reasoning))
    return (*texts, answer.token_ns, answer.first_output_ns, answer.finish_reason, answer.done)


@pytest.mark.parametrize(
    ("codec", "shape"),
    [
        (chat_completions, CHAT),
        (chat_completions, THOUGHT),
        (completions, COMPLETION),
        (chat_completions, TWICE),
    ],
)
@given(strings=st.lists(STRINGS, max_size=12), end=st.sampled_from([b"\n\n", b"\r\n\r\n", b"\r\r"]))
@example(strings=[b'"a"', b'"b"', b'"c\\"', b'"d","e"', b'"f"'], end=b"\n\n")
@example(strings=[b'"a"', b'"b"', b'"c"b"', b'"d"'], end=b"\n\n")
@example(strings=[b'"a"', b'"b"', b'""', b'"d"'], end=b"\n\n")
@example(strings=[b'"a"', b'"b"', b'"'], end=b"\n\n")
def test_the_template_makes_no_difference(
    codec: Codec, shape: bytes, strings: list[bytes], end: bytes
) -> None:
    """The same texts, times and failures as without it, for right frames and for wrong ones."""
    pieces = [frame(shape, string, end) for string in strings]
    assert read(pieces, codec, lessons=4) == read(pieces, codec, lessons=0)


@given(strings=st.lists(STRINGS, max_size=6), cuts=st.lists(st.integers(0, 600), max_size=6))
def test_nor_with_any_split(strings: list[bytes], cuts: list[int]) -> None:
    """A piece that looks like a frame may begin in the middle of another one."""
    whole = b"".join(frame(CHAT, string) for string in [b'"a"', *strings, b'"z"'])
    places = sorted({0, len(whole), *(cut for cut in cuts if cut < len(whole))})
    pieces = [whole[a:b] for a, b in pairwise(places)]
    assert read(pieces, chat_completions, lessons=4) == read(pieces, chat_completions, lessons=0)


def lesson(codec: Codec, shape: bytes, string: bytes, end: bytes = b"\n\n") -> Template | None:
    """What is learnt from one frame."""
    payload = shape % string
    return learn(codec, b"data: " + payload + end, payload, codec.chunk(orjson.loads(payload)))


def test_what_is_learnt() -> None:
    """The ends of the frame, and what its text is."""
    template = lesson(chat_completions, THOUGHT, b'"hm"', b"\r\n\r\n")
    assert template is not None
    assert template.channel == "reasoning"
    assert template.head + b"hm" + template.tail == frame(THOUGHT, b'"hm"', b"\r\n\r\n")
    frames = [frame(THOUGHT, text, b"\r\n\r\n") for text in (b'"a"', b'"b"')]
    assert template.texts(template.insides(frames)) == ["a", "b"]
    odd = b"data: {}\r\n\r\n"
    assert template.insides([*frames, odd]) == template.insides([*frames, odd, *frames]) == [b"a", b"b"]
    assert not template.insides([odd, *frames])


@pytest.mark.parametrize(
    ("shape", "string"),
    [
        (CHAT, b'""'),
        (CHAT, b'"index"'),
        (b'{"choices":[{"delta":{"content":%s},"finish_reason":"stop"}]}', b'"a"'),
        (b'{"choices":[{"delta":{"content":%s,"reasoning":"b"}}]}', b'"a"'),
        (b'{"choices":[{"delta":{"content":%s}}],"usage":{"prompt_tokens":1}}', b'"a"'),
        (b'{"note":%s,"choices":[{"delta":{"content":"\\u0061"}}]}', b'"a"'),
    ],
)
def test_what_teaches_nothing(shape: bytes, string: bytes) -> None:
    """A frame that says more than a text, and one in which the place of the text cannot be determined."""
    assert lesson(chat_completions, shape, string) is None


def test_a_stream_that_never_repeats_itself_ends_the_learning() -> None:
    """After some lessons in vain the template is given up; one that is learnt again counts from the start."""
    response = ResponseStream(chat_completions)
    response.start(event_stream=True)
    noisy = b'{"choices":[{"delta":{"content":"a"}}],"n":"a"}'
    for at_ns in range(1, 9):
        response.receive([b"data: " + noisy + b"\n\n"], [at_ns])
    for _ in response.decode():
        pass
    assert response._lessons == 0
    assert "".join(response.answer.content) == "a" * 8
