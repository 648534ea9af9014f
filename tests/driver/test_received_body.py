"""A part of a body that compiled code has read gives the same as its pieces, one by one."""

from __future__ import annotations

import asyncio
from itertools import accumulate
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions
from loadgen.driver.client.arrival_bounds import Late
from loadgen.driver.client.compiled import compiled_function
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.frame_cache import Shapes
from loadgen.driver.client.head import head
from loadgen.driver.client.memory_bounds import Allowance
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RequestFailedError
from loadgen.driver.requests.response_payload import response_payload
from tests.driver.test_shapes import DONE, delta, frame, response

Body: Any = compiled_function("Body")
pytestmark = pytest.mark.skipif(Body is None, reason="needs the compiled code: a C compiler at installation")

HEAD = head(200, ((b"Content-Type", b"text/event-stream"),))
SENT_NS = 1_000
PIECES = st.sampled_from(
    [
        *(frame(7, delta(content=text)) for text in ("a", "é\n", "\U0001f600")),
        frame(7, delta(reasoning="a")),
        frame(7, delta(role="assistant", content="")),
        frame(7, delta("stop")),
        frame(7, None, usage={"completion_tokens": 3}),
        frame(7, delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "f"}}])),
        frame(7, delta(content="b")) * 2,
        b": ping\n\n",
        b"data: {",
        DONE,
    ]
)
ARRIVALS = st.tuples(
    PIECES, st.integers(-3, 50), st.none() | st.tuples(st.integers(900, 1100), st.booleans())
)
"""A piece, how long after the one before it arrived, and what is known of it where it came late."""


def learnt(shapes: Shapes | None = None) -> Shapes:
    """The shapes that two responses show."""
    shapes = shapes or Shapes(chat_completions)  # type: ignore[arg-type]
    for number in range(2):
        counted = {"prompt_tokens": 5 + number, "completion_tokens": 9 * number, "total_tokens": 1}
        usage = {**counted, "completion_tokens_details": {"reasoning_tokens": number}, "other": 0}
        for pieces in (
            response(number, ["a"]),
            [frame(number, delta(reasoning="a"))],
            [frame(number, None, usage=usage)],
        ):
            stream = ResponseStream(chat_completions, shapes=shapes)
            stream.start(event_stream=True)
            for piece in pieces:
                stream.receive([piece], [1])
            list(stream.decode())
    return shapes


async def observed(batches: list[list[Any]], shapes: Shapes, *, compiled: bool) -> Any:
    """All that the log would have of a response, and what it takes to keep."""
    calls: list[Any] = []
    allowance = Allowance()
    stream = ResponseStream(chat_completions, allowance, shapes)
    exchange = Exchange(stream, lambda _: None, calls.append)
    exchange.sent(SENT_NS)
    exchange.head(HEAD, SENT_NS)
    moment_ns = SENT_NS
    try:
        for batch in batches:
            pieces = [piece for piece, _, _ in batch]
            _, *moments = accumulate((after_ns for _, after_ns, _ in batch), initial=moment_ns)
            moment_ns = moments[-1]
            late = {place: Late(*bound) for place, (_, _, bound) in enumerate(batch) if bound is not None}
            if compiled:
                calls.append(exchange.received(Body(pieces, moments, late)))
            else:
                calls.append(exchange.body(pieces, moments, late))
        list(stream.decode())
    except RequestFailedError as error:
        calls.append((error.failure, str(error)))
    answer = stream.answer
    figures = (
        answer.done,
        answer.error,
        allowance.held,
        stream.lacks_end(framed=True),
        stream.is_cut(framed=False),
    )
    return calls, response_payload(exchange), figures


@given(batches=st.lists(st.lists(ARRIVALS, min_size=1, max_size=6), max_size=4))
def test_the_same_is_known(batches: list[list[Any]]) -> None:
    """Whatever comes, in whichever parts, whole or cut, in doubt or out of order."""
    shapes = learnt()
    interpreted = asyncio.run(observed(batches, shapes, compiled=False))
    assert asyncio.run(observed(batches, shapes, compiled=True)) == interpreted


def test_what_takes_too_much_is_refused() -> None:
    """Also where no piece is kept: what is decoded takes memory, too."""
    batch = [(frame(7, delta(content="a")), 0, None)] * 3

    async def refused() -> Any:
        exchange = Exchange(ResponseStream(chat_completions, Allowance(900), learnt()), lambda _: None, int)
        exchange.head(HEAD, SENT_NS)
        body = Body([piece for piece, _, _ in batch], [SENT_NS] * len(batch), {})
        exchange.received(body)
        with pytest.raises(RequestFailedError, match="more than 900 bytes"):
            exchange.received(body)
        return exchange.stream.bytes

    assert asyncio.run(refused()) == 2 * sum(len(piece) for piece, _, _ in batch)


def test_frames_of_known_shapes_are_not_kept() -> None:
    """They are decoded where they are; from the first of another shape on, pieces are taken as ever."""
    pieces = [*response(7, ["a", "b"])[:-2], frame(7, None, usage={"completion_tokens": 9}), DONE]
    stream = ResponseStream(chat_completions, shapes=learnt())
    stream.start(event_stream=True)
    start = stream.receive_known(Body(pieces, [5] * len(pieces), {}), 5)
    assert start is not None
    assert start[1:] == (len(pieces) - 2, sum(map(len, pieces[:-2])), 5, 5, 0, 0)
    assert stream.body() == b""
    assert ("".join(stream.answer.content), stream.answer.finish_reason) == ("ab", "stop")


def test_what_is_put_in_comes_out() -> None:
    """Pieces, moments and what is known of the late ones; and what known frames have in common."""
    a, stop = frame(7, delta(content="a")), frame(7, delta("stop"))
    pieces, moments, late = [a, a, b"c"], [5, 6, 9], {0: (3, True), 2: (4, False)}
    body = Body(pieces, moments, late)
    assert len(body) == 3
    assert body.lists(0) == (pieces, moments, late)
    assert body.lists(2) == (pieces[2:], moments[2:], {0: late[2]})
    assert body.lists(9) == ([], [], {})
    shapes = learnt()
    texts = (2, "content", "aa", 1, [5, 6], {0: 3})
    assert body.known(shapes.groups, 5) == ([texts], 2, 2 * len(a), 5, 6, 3, 1)
    assert body.known(shapes.groups, 6) is None
    assert Body([a, a], [5, 4], {}).known(shapes.groups, 0) is None
    assert Body([b"c", a], [5, 5], {}).known(shapes.groups, 0) is None
    (meaning,), *_ = Body([stop], [5], {0: (4, False)}).known(shapes.groups, 0)
    assert meaning == (chat_completions.chunk({"choices": [delta("stop")]}), 5, None)


def test_other_types_are_refused() -> None:
    """What is not a list of bytes with a moment for each raises."""
    for wrong in (([], [], {}), ([b""], [], {}), (["a"], [1], {}), ([b""], ["1"], {}), ([b""], [2**70], {})):
        with pytest.raises((TypeError, ValueError, OverflowError)):
            Body(*wrong)
    with pytest.raises(TypeError):
        Body([b""], [1], {}).known((), 0)
