"""From stamped bytes to an answer."""

from __future__ import annotations

from array import array
from collections import deque
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions, completions, stream
from loadgen.driver.client.arrival_bounds import coalesced, gaps_us
from loadgen.driver.client.body_format import error_text
from loadgen.driver.client.codec import Usage
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.memory_bounds import Allowance
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from loadgen.driver.client.parsed_response import ParsedResponse

    Split = Callable[[bytes, Iterable[int]], list[bytes]]

DELTAS = st.sampled_from(
    [
        *({"role": "assistant"}, {"content": ""}, {"content": None}, {"content": "a"}, {"content": "é😀\n"}),
        *({"reasoning_content": "hm"}, {"reasoning": "so"}, {"refusal": "no"}),
        {"tool_calls": [{"index": 0, "id": "a", "function": {"name": "f", "arguments": "{"}}]},
        {"tool_calls": [{"index": 0, "function": {"arguments": "}"}}]},
    ],
)
LATE = [{"choices": [{"delta": {}, "finish_reason": "stop"}]}, {"choices": [], "usage": {"prompt_tokens": 3}}]


def delta(**message: Any) -> bytes:
    """A frame with this delta."""
    return b"data: " + orjson.dumps({"choices": [{"delta": message}]}) + b"\n\n"


def received(pieces: Iterable[tuple[int, bytes]], *, event_stream: bool = True) -> ResponseStream:
    """A response that came in these pieces, not yet decoded to the end."""
    response = ResponseStream(chat_completions)
    response.start(event_stream=event_stream)
    for at_ns, data in pieces:
        response.receive([data], [at_ns])
    return response


def awaiting(response: ResponseStream, reads: Iterable[bytes]) -> list[bool]:
    """Whether the first token is still awaited, after each of these reads."""
    return [(response.receive([data], [at_ns]), response.awaits_token)[1] for at_ns, data in enumerate(reads)]


def answer(pieces: Iterable[tuple[int, bytes]], *, event_stream: bool = True) -> ParsedResponse:
    """The answer in a response that came in these pieces."""
    response = received(pieces, event_stream=event_stream)
    for _ in response.decode():
        pass
    return response.answer


def outcome_of(bodies: Iterable[bytes], *, event_stream: bool = True) -> tuple[Any, ...]:
    """What pieces of a body say, times aside; or the name of the failure that they are."""
    try:
        arguments = answer(((1, data) for data in bodies), event_stream=event_stream)
    except RequestFailedError as error:
        return (error.failure,)
    texts = ("".join(arguments.content), "".join(arguments.reasoning), arguments.tool_calls)
    return (
        *texts,
        arguments.finish_reason,
        arguments.usage,
        arguments.done,
        arguments.error,
        len(arguments.token_ns),
    )


def test_every_chunk_has_the_stamp_of_the_read_that_completed_it() -> None:
    """A chunk is there when its last byte is; what carries no token has no stamp."""
    whole = delta(content="b")
    pieces = [
        (10, delta(role="assistant")),
        (20, delta(content="a") + whole[:9]),
        (30, whole[9:]),
        (40, b": ping\n\n"),
        (50, delta(content="c") + delta(content="d")),
        (60, b"data: [DONE]\n\n"),
    ]
    arguments = answer(pieces)
    assert arguments.token_ns == [20, 30, 50, 50]
    assert coalesced(arguments.arrivals) == 1
    assert (arguments.done, "".join(arguments.content)) == (True, "abcd")


def test_the_first_token_is_reported_once_and_at_once() -> None:
    """While the stream runs: by the read that holds it, whatever came before."""
    response = received([])
    reads = [delta(role="assistant", content=""), delta(reasoning="a")[:-1], b"\n", delta(content="b")]
    assert awaiting(response, reads) == [True, True, False, False]
    assert response.answer.token_ns == [2]


def test_reasoning_is_a_token_but_no_output() -> None:
    """The first output is the first token that is not reasoning; a tool call is output."""
    thinking = [(1, delta(reasoning="a")), (2, delta(reasoning_content="b"))]
    assert answer(thinking).first_output_ns is None
    assert answer([*thinking, (3, delta(content="c")), (4, delta(content="d"))]).first_output_ns == 3
    assert answer([*thinking, (5, delta(tool_calls=[{"index": 0}]))]).first_output_ns == 5


def test_reads_are_distinguished_by_their_stamps() -> None:
    """Several pieces of one read are one read."""
    response = received([(7, b"a"), (7, b"b"), (9, b"c"), (12, b"d"), (12, b"e")])
    assert (response.reads, response.bytes, response.last_ns) == (3, 5, 12)


@given(sent_ns=st.integers(0, 10**15), steps=st.lists(st.integers(0, 10**10), max_size=300))
def test_gaps_give_the_arrivals_back(sent_ns: int, steps: list[int]) -> None:
    """The running sum of the gaps is within half a microsecond of every arrival, however many there are."""
    arrivals = [sent_ns + offset for offset in accumulate(steps)]
    gaps = array("I", gaps_us(arrivals, sent_ns))
    assert gaps.itemsize == 4
    assert len(gaps) == len(arrivals)
    for at_us, at_ns in zip(accumulate(gaps), arrivals, strict=True):
        assert abs(at_us * 1000 - (at_ns - sent_ns)) <= 500


def test_a_gap_that_does_not_fit_is_the_greatest() -> None:
    """71 minutes and more."""
    hour_ns = 3600 * 10**9
    gaps = array("I", gaps_us([hour_ns, 3 * hour_ns, 3 * hour_ns + 5000], 0))
    assert list(gaps) == [3_600_000_000, 2**32 - 1, 5]


@given(
    deltas=st.lists(DELTAS, max_size=8),
    late=st.lists(st.sampled_from(LATE), max_size=2),
    end=st.sampled_from(
        [b"", b"data: [DONE]\n\n", b"data: [DONE]", b"data: {oops\n\n", b'data: {"error":"x"}']
    ),
    places=st.lists(st.integers(0, 3000), max_size=12),
)
def test_any_split_gives_the_same_answer(
    splits: Split,
    deltas: Sequence[Any],
    late: Sequence[Any],
    end: bytes,
    places: list[int],
) -> None:
    """In one piece, in some pieces, or byte by byte."""
    payloads = [*({"choices": [{"delta": delta}]} for delta in deltas), *late]
    body = b"".join(b"data: " + orjson.dumps(payload) + b"\n\n" for payload in payloads) + end
    assert outcome_of(splits(body, places)) == outcome_of([body])
    assert outcome_of(body[i : i + 1] for i in range(len(body))) == outcome_of([body])


@given(body=st.binary(max_size=40), event_stream=st.booleans(), data=st.booleans())
def test_any_bytes_are_an_answer_or_a_failure(body: bytes, event_stream: bool, data: bool) -> None:  # noqa: FBT001 (drawn)
    """Garbage ends a request by name; it never raises anything else."""
    outcome = outcome_of([b"data: " + body if data else body], event_stream=event_stream)
    assert len(outcome) == 8 or outcome == (Failure.MALFORMED_FRAME,)


@pytest.mark.parametrize("slice_size", [1, 2, 3, 1000])
def test_slices_make_no_difference(monkeypatch: pytest.MonkeyPatch, slice_size: int) -> None:
    """Decoding in slices gives the answer that decoding at once gives, and pauses in between."""
    pieces = [delta(content=str(number)) for number in range(99)]
    at_once = answer([(1, b"".join(pieces))])
    monkeypatch.setattr(stream, "SLICE", slice_size)
    response = received([])
    response.receive(pieces, [1] * len(pieces))
    pauses = sum(1 for _ in response.decode())
    assert response.answer == at_once
    assert pauses == -(-98 // slice_size) - 1  # the first piece was decoded when it came


def test_nothing_makes_up_for_a_bad_frame() -> None:
    """Not even an end that came with it, far behind: what was read after it is not part of the answer."""
    tokens = [delta(content="a")] * 80
    response = received([(1, tokens[0])])
    with pytest.raises(RequestFailedError, match="oops"):
        response.receive([*tokens[:9], b"data: {oops\n\n", *tokens, b"data: [DONE]\n\n"], [2] * 91)
    for _ in response.decode():
        pass
    assert ("".join(response.answer.content), response.answer.done) == ("a" * 10, False)


def test_nothing_follows_the_end() -> None:
    """What a server says after `[DONE]` is not part of the answer, whichever way it is read."""
    tokens = [delta(content="a")] * 80
    arguments = answer([(1, b"".join(tokens)), (2, b"data: [DONE]\n\n"), *((3, token) for token in tokens)])
    assert (arguments.content, arguments.done) == (["a"] * 80, True)
    assert answer([(1, b"data: [DONE]\n\n" + tokens[0])]).empty


def test_a_slice_is_decoded_when_it_has_come(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that there is little left to do at the end; and what is not an answer is known at once."""
    monkeypatch.setattr(stream, "SLICE", 3)
    response = received((at_ns, delta(content="a")) for at_ns in range(1, 9))
    assert len(response.answer.token_ns) == 7
    response.receive([b"data: {oops\n\n"], [9])
    with pytest.raises(RequestFailedError, match="oops"):
        response.receive([delta(content="b")], [10])


def test_decoding_again_adds_nothing() -> None:
    """A request that is given up while it is decoded is decoded once more, to the end."""
    whole = orjson.dumps({"choices": [{"message": {"content": "a"}}]})
    for body, event_stream in ((delta(content="a"), True), (delta(content="a")[:-2], True), (whole, False)):
        response = received([(1, body)], event_stream=event_stream)
        for _ in (*response.decode(), *response.decode()):
            pass
        assert response.answer.content == ["a"]


@pytest.mark.parametrize(
    "done", [b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n", b"data:  [DONE] \n\n", b"data: [DONE]"]
)
def test_done(done: bytes) -> None:
    """The end of a stream, with white space or without."""
    assert answer([(1, delta(content="a") + done)]).done


@pytest.mark.parametrize(
    "nothing", [b"data:\n\n", b"data: \n\n", b"data\n\n", b"data: \ndata: \n\n", b"data: {}\n\n"]
)
def test_an_empty_payload_says_nothing(nothing: bytes) -> None:
    """Some servers keep a connection alive with empty frames."""
    assert "".join(answer([(1, nothing + delta(content="a") + nothing)]).content) == "a"


@pytest.mark.parametrize(
    ("frame", "error"),
    [
        (b'data: {"error":{"message":"out of memory"}}\n\n', "out of memory"),
        (b"event: error\ndata: out of memory\n\n", "out of memory"),
        (b'event: error\ndata: {"message":"out of memory"}\n\n', "out of memory"),
        (b"event: error\n: out of memory\n\ndata: [DONE]\n\n", "out of memory"),
        (b"event: modelStreamErrorException\ndata: out of memory\n\n", "out of memory"),
        (b"event: error\n\n", "an error event without a text"),
        (b"event: error\ndata: [DONE]\n\n", "[DONE]"),
        (b'error: {"code":500,"message":"out of memory"}\n\n', "out of memory"),
        (b'{"error":{"message":"out of memory"}}\n\n', "out of memory"),
        (b'data: {"status_code":503,"detail":"out of memory"}\n\n', "out of memory"),
        (b'data: {"base_resp":{"status_code":1002,"status_msg":"rate limit"}}\n\n', "rate limit"),
        (b'event: error\ndata: {"error":{"message":"out of memory"}}\n\n', "out of memory"),
        (b"event: error\ndata: [1]\n\n", "[1]"),
    ],
)
def test_error_frames(frame: bytes, error: str) -> None:
    """By the payload or by the event's name; what came before is kept."""
    arguments = answer([(1, delta(content="a")), (2, frame)])
    assert (arguments.error, arguments.content) == (error, ["a"])


def test_the_first_error_stands() -> None:
    """What follows from it is not a news."""
    frames = b'data: {"error":"first"}\n\ndata: {"error":"second"}\n\nevent: error\ndata: third\n\n'
    assert answer([(1, frames)]).error == "first"


@pytest.mark.parametrize(
    "frame",
    [
        b"data: {oops\n\n",
        b"data: [1]\n\n",
        b"data: \xff\n\n",
        b"data: " + b"[" * 2000 + b"\n\n",
        b"data: NaN\n\n",
    ],
)
@pytest.mark.parametrize("before", [b"", delta(content="a")])
def test_malformed_frames_show_what_came(frame: bytes, before: bytes) -> None:
    """Before the first token they are found at once, after it in the end; the message holds an excerpt."""
    with pytest.raises(RequestFailedError) as raised:
        answer([(1, before), (2, frame)])
    assert raised.value.failure == Failure.MALFORMED_FRAME
    assert frame[6:12].decode(errors="replace").rstrip("\n") in str(raised.value)
    assert len(str(raised.value)) < 10_000


def test_a_whole_response() -> None:
    """A body that is not a stream has texts and counts, but no times."""
    payload = {
        "choices": [{"message": {"content": "hi", "reasoning": "hm"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 2},
    }
    body = orjson.dumps(payload)
    arguments = answer([(1, body[:20]), (2, body[20:])], event_stream=False)
    assert (arguments.content, arguments.reasoning, arguments.finish_reason) == (["hi"], ["hm"], "stop")
    assert (arguments.usage, arguments.token_ns, arguments.first_output_ns) == (Usage(3, 2), [], None)


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"choices":7}', b'{"choices":[{"message":"hi"}]}'])
def test_a_whole_response_may_be_malformed(body: bytes) -> None:
    """A page instead of JSON, and JSON of another shape."""
    assert outcome_of([body], event_stream=False) == (Failure.MALFORMED_FRAME,)


def test_nothing_is_an_empty_answer() -> None:
    """No body at all is not malformed: it has no token in it."""
    assert answer([], event_stream=False).empty
    assert answer([]).empty


def test_late_usage_without_figures_takes_nothing_back() -> None:
    """An empty or a null usage after a full one."""
    full = b'data: {"choices":[],"usage":{"completion_tokens":5}}\n\n'
    for late in (b'data: {"usage":{}}\n\n', b'data: {"usage":null}\n\n'):
        assert answer([(1, full + late)]).usage.output_tokens == 5


def pieces_stored(pieces: Iterable[bytes], *, event_stream: bool) -> int:
    """How many of endlessly many pieces are kept until the response is given up."""
    response = received([(1, delta(content="a"))] if event_stream else [], event_stream=event_stream)
    response._allowance = Allowance(100_000)
    with pytest.raises(RequestFailedError) as raised:
        deque((response.receive([data], [2]) for data in pieces), maxlen=0)
    assert raised.value.failure == Failure.TOO_LARGE
    return len(response._pieces)


@pytest.mark.parametrize("event_stream", [True, False])
@pytest.mark.parametrize("size", [1, 100, 5000])
def test_memory_is_bounded(size: int, event_stream: bool) -> None:  # noqa: FBT001 (a case)
    """Whatever is sent: what it costs to keep a small piece counts too."""
    count = pieces_stored([b"x" * size] * 200_000, event_stream=event_stream)
    assert count * max(size, 100) <= 110_000


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b'{"error":{"message":"no such model"}}', "no such model"),
        (b'{"object":"error","message":"no such model"}', "no such model"),
        (b'{"error":"no such model"}', "no such model"),
        (b'{"detail":"no such model"}', "no such model"),
        (b'{"detail":"no such model","id":7}', '{"detail":"no such model","id":7}'),
        (b"[1]", "[1]"),
        (b"<h1>502 Bad Gateway</h1>", "<h1>502 Bad Gateway</h1>"),
        (b"\xff", "�"),
        (b"", ""),
    ],
)
def test_the_text_of_an_http_error(body: bytes, text: str) -> None:
    """The error's own message, or the start of the body."""
    assert error_text(body) == text


def test_completions_speak_the_same_language() -> None:
    """The other protocol's frames go the same way."""
    response = ResponseStream(completions)
    response.start(event_stream=True)
    frames = [b'data: {"choices":[{"text":""}]}\n\n', b'data: {"choices":[{"text":"a"}]}\n\n']
    assert awaiting(response, frames) == [True, False]
    assert all(a <= b for a, b in pairwise(response.answer.token_ns))
