"""What is kept of a request, in whichever order the news comes."""

from __future__ import annotations

import asyncio
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadgen.driver.client import chat_completions
from loadgen.driver.client.arrival_bounds import gaps_us
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.head import head
from loadgen.driver.client.stream import ResponseStream

if TYPE_CHECKING:
    from collections.abc import Iterator

HEAD = head(200, ((b"Content-Type", b"text/event-stream"),))
TOKEN = b'data: {"choices":[{"delta":{"content":"a"}}]}\n\n'

NewExchange = "Callable[[], tuple[Exchange, list[tuple[str, int | None]]]]"


@pytest.fixture(scope="module")
def new_exchange() -> Iterator[NewExchange]:
    """Make an exchange, and the list of what it tells."""
    loop = asyncio.new_event_loop()

    def new() -> tuple[Exchange, list[tuple[str, int | None]]]:
        payload: list[tuple[str, int | None]] = []

        def sent(exchange: Exchange) -> None:
            payload.append(("sent", exchange.sent_ns))

        def first_token(at_ns: int) -> None:
            payload.append(("first token", at_ns))

        async def make() -> Exchange:
            return Exchange(ResponseStream(chat_completions), sent, first_token)

        return loop.run_until_complete(make()), payload

    yield new
    loop.close()


def test_the_usual_order(new_exchange: NewExchange) -> None:
    """Sent, head, body, end: each moment is kept, and reported once."""
    exchange, payload = new_exchange()
    exchange.sent(10)
    exchange.head(HEAD, 20)
    exchange.body([TOKEN], [30])
    exchange.body([TOKEN], [40])
    exchange.ended(50, framed=True)
    assert payload == [("sent", 10), ("first token", 30)]
    assert (exchange.sent_ns, exchange.first_byte_ns, exchange.ended_ns) == (10, 20, 50)
    assert exchange.stream.answer.token_ns == [30]  # the second is decoded later
    assert exchange.finished.done()
    assert exchange.framed
    assert exchange.failure is None


def test_a_response_proves_that_the_request_was_sent(new_exchange: NewExchange) -> None:
    """A server may answer before it was sent everything; what is sent afterwards comes too late to count."""
    exchange, payload = new_exchange()
    exchange.head(HEAD, 20)
    exchange.sent(25)
    assert payload == [("sent", 20)]


@given(
    stamps=st.lists(st.integers(0, 50), min_size=1, max_size=20),
    sent_ns=st.integers(0, 50),
    head_ns=st.integers(0, 50),
    ended_ns=st.integers(0, 50),
)
def test_stamps_are_put_in_order(
    new_exchange: NewExchange,
    stamps: list[int],
    sent_ns: int,
    head_ns: int,
    ended_ns: int,
) -> None:
    """Two clocks, converted: whatever they say, nothing arrives before what came before it."""
    exchange, payload = new_exchange()
    exchange.sent(sent_ns)
    exchange.head(HEAD, head_ns)
    for at_ns in stamps:
        exchange.body([TOKEN], [at_ns])
    exchange.ended(ended_ns, framed=True)
    for _ in exchange.stream.decode():
        pass
    answer = exchange.stream.answer
    floor = max(sent_ns, head_ns)
    assert exchange.first_byte_ns == floor
    assert answer.token_ns == list(accumulate((max(at_ns, floor) for at_ns in stamps), max))
    assert payload[1] == ("first token", answer.token_ns[0])
    assert exchange.ended_ns == max(ended_ns, answer.token_ns[-1])
    assert len(gaps_us(answer.token_ns, sent_ns)) == 4 * len(stamps)


def test_the_first_end_is_the_end(new_exchange: NewExchange) -> None:
    """A deadline that comes with the last byte takes nothing back, and the first failure stands."""
    whole, _ = new_exchange()
    whole.sent(10)
    whole.ended(20, framed=True)
    whole.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    assert (whole.failure, whole.ended_ns) == (None, 20)

    broken, _ = new_exchange()
    broken.failed(Failure.RESET, "gone", 20)
    broken.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    assert (broken.failure, broken.message, broken.ended_ns) == (Failure.RESET, "gone", 20)


def test_a_request_that_is_sent_again_has_its_time() -> None:
    """What gave up its first connection says nothing of the second."""

    async def scenario() -> None:
        exchange = Exchange(ResponseStream(chat_completions), lambda _: None, lambda _: None)
        exchange.sent(10)
        exchange.deadline_ns = 30
        exchange.failed(Failure.FIRST_BYTE_TIMEOUT, "too late", 30)
        exchange.again()
        exchange.sent(40)
        exchange.head(HEAD, 50)
        exchange.body([TOKEN], [60])
        exchange.ended(70, framed=True)
        assert exchange.finished.done()
        assert (exchange.failure, exchange.ended_ns, exchange.stream.last_ns) == (None, 70, 60)

    asyncio.run(scenario())


def test_what_came_before_the_deadline_counts(new_exchange: NewExchange) -> None:
    """Also when it is only looked at after it; what came later does not, and nothing is out of order."""
    exchange, _ = new_exchange()
    exchange.sent(10)
    exchange.deadline_ns = 30
    exchange.head(HEAD, 20)
    exchange.body([TOKEN, TOKEN, TOKEN], [25, 30, 31])
    exchange.ended(32, framed=True)
    exchange.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    assert (exchange.failure, exchange.ended_ns, exchange.stream.last_ns) == (Failure.TOTAL_TIMEOUT, 30, 30)
    for _ in exchange.stream.decode():
        pass
    assert exchange.stream.answer.token_ns == [25, 30]

    late, _ = new_exchange()
    late.sent(10)
    late.deadline_ns = 30
    late.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    late.head(HEAD, 31)
    late.body([TOKEN], [31])
    assert (late.first_byte_ns, late.stream.bytes) == (30, 0)

    in_time, _ = new_exchange()
    in_time.sent(10)
    in_time.deadline_ns = 30
    in_time.head(HEAD, 20)
    in_time.body([TOKEN], [29])
    in_time.ended(29, framed=True)
    in_time.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    assert (in_time.failure, in_time.ended_ns) == (None, 29)


def test_a_failure_is_kept_after_the_wait_was_given_up(new_exchange: NewExchange) -> None:
    """Our deadline cancels the wait first, and then says why."""
    exchange, _ = new_exchange()
    exchange.finished.cancel()
    exchange.failed(Failure.TOTAL_TIMEOUT, "too late", 30)
    assert (exchange.failure, exchange.ended_ns) == (Failure.TOTAL_TIMEOUT, 30)


@pytest.mark.parametrize(
    ("fields", "event_stream"),
    [
        ([(b"content-type", b"text/event-stream")], True),
        ([(b"Content-Type", b"Text/Event-Stream; charset=utf-8")], True),
        ([(b"content-type", b"application/json")], False),
        ([], False),
    ],
)
def test_the_content_type_says_whether_it_is_a_stream(fields: Any, *, event_stream: bool) -> None:
    """In any case, and with parameters."""
    assert head(200, tuple(fields)).event_stream is event_stream
