"""The form of a body by its first bytes: event streams, JSON lines and one JSON text, in any split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions
from loadgen.driver.client.body_format import BodyFormat, FormatFinder
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    from collections.abc import Callable

EVENTS, LINES, WHOLE = BodyFormat
EVENT_STREAM = "text/event-stream"
JSON = "application/json"
TOKEN = b'{"choices":[{"delta":{"content":"hi"}}]}'
STOP = b'{"choices":[{"delta":{},"finish_reason":"stop"}]}'
ANSWER = b'{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}'
STREAM = b"data: " + TOKEN + b"\n\ndata: " + STOP + b"\n\n"
OLLAMA = {"text_at": "message.content", "finish_at": "done_reason", "tokens_at": "eval_count"}


@pytest.mark.parametrize(
    ("body", "media_type", "form"),
    [
        *((STREAM, media_type, EVENTS) for media_type in ("", "text/plain", JSON, EVENT_STREAM)),
        *((TOKEN + b"\n" + STOP, media_type, LINES) for media_type in ("", JSON, EVENT_STREAM)),
        *((ANSWER, media_type, WHOLE) for media_type in ("", "text/plain", JSON, EVENT_STREAM)),
        *((ANSWER + b"\n\n", media_type, WHOLE) for media_type in ("", JSON, EVENT_STREAM)),
        (b"\r\n\n \n" + ANSWER, JSON, WHOLE),
        (b"\xef\xbb\xbf" + STREAM, "", EVENTS),
        (b": ping\n\n" + STREAM, "", EVENTS),
        (b"error: {}\n\n", "text/plain", EVENTS),
        (b'{\n "choices": []\n}', EVENT_STREAM, WHOLE),
        (b'[{"a": 1}\n,{"a": 2}]', JSON, WHOLE),
        (b"<html>", EVENT_STREAM, WHOLE),
        (b"unknown: x\n\n", EVENT_STREAM, EVENTS),
        (b"dat", "text/plain", WHOLE),
        (b"", EVENT_STREAM, EVENTS),
        (b"Internal Server Error", "text/plain", WHOLE),
    ],
)
@given(places=st.lists(st.integers(0, 120), max_size=4))
def test_the_form_of_a_body(
    splits: Callable[..., list[bytes]], body: bytes, media_type: str, form: BodyFormat, places: list[int]
) -> None:
    """The bytes tell, and the media type only where they do not."""
    finder = FormatFinder(media_type)
    forms = [finder.look([piece]) for piece in splits(body, places)]
    assert (next(filter(None, forms), None) or finder.at_end()) is form


def read(codec: Any, pieces: list[bytes], media_type: str) -> ResponseStream:
    """A response whose pieces arrive 1 ns apart."""
    stream = ResponseStream(codec)
    stream.start(event_stream=media_type == EVENT_STREAM, media_type=media_type)
    for at_ns, piece in enumerate(pieces, 1):
        stream.receive([piece], [at_ns])
    for _ in stream.decode():
        pass
    return stream


@pytest.mark.parametrize("media_type", ["application/x-ndjson", EVENT_STREAM, JSON, ""])
def test_lines_of_json_have_their_own_times(media_type: str) -> None:
    """Those of Ollama, with the time of each line's last byte, also where it is known late what they are."""
    lines = [{"message": {"content": word}, "done": False} for word in ("a", "b", "c")]
    lines.append({"message": {"content": ""}, "done": True, "done_reason": "stop", "eval_count": 3})
    first, *rest = (orjson.dumps(line) + b"\n" for line in lines)
    stream = read(codec_of("sse", OLLAMA), [first[:10], first[10:], *rest], media_type)
    answer = stream.answer
    assert ("".join(answer.content), answer.token_ns) == ("abc", [2, 3, 4])
    assert (answer.finish_reason, answer.usage.output_tokens) == ("stop", 3)
    assert stream.streamed
    assert not stream.lacks_end(framed=True)
    assert stream.deviations == (
        {"JSON lines as no media type"}
        if not media_type
        else {"JSON lines as text/event-stream"}
        if media_type == EVENT_STREAM
        else set()
    )


def test_what_deviates_is_named() -> None:
    """The media type, events of null, numbers that JSON does not have."""
    stream = read(chat_completions, [STREAM], "text/plain")
    assert stream.deviations == {"event stream as text/plain"}
    nulls = b'data: null\n\ndata: {"choices":[{"logprobs":[-Infinity, NaN],"delta":{"content":"a"}}]}\n\n'
    stream = read(chat_completions, [nulls, STREAM], EVENT_STREAM)
    assert stream.deviations == {"data: null", "NaN or Infinity in JSON"}
    assert stream.answer.content == ["a", "hi"]
    stream = read(chat_completions, [ANSWER.replace(b',"finish_reason":"stop"', b"")], EVENT_STREAM)
    assert stream.deviations == {"JSON text as text/event-stream", "no finish reason"}
    assert read(chat_completions, [STREAM], EVENT_STREAM).deviations == set()
    assert read(chat_completions, [ANSWER], JSON).deviations == set()


@pytest.mark.parametrize("name", ["ping", "heartbeat", "keep-alive"])
def test_an_event_that_keeps_a_connection_alive_is_skipped(name: str) -> None:
    """Whatever its data is, if it is not JSON."""
    stream = read(chat_completions, [f"event: {name}\ndata: still here\n\n".encode(), STREAM], EVENT_STREAM)
    assert stream.answer.content == ["hi"]
