"""One attempt at a request: sent, read, and judged. A run and `loadgen check` judge a response alike."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, Final

from loadgen.driver.client.body_format import error_text, excerpt
from loadgen.driver.client.failure import Failure, http, mendable
from loadgen.driver.errors import RequestFailedError
from recorder.finish_reasons import AnswerEnding, ending_of

if TYPE_CHECKING:
    from collections.abc import MutableSet

    from loadgen.driver.client.endpoint import Request
    from loadgen.driver.client.exchange import Exchange
    from loadgen.driver.client.head import Head
    from loadgen.driver.client.stream import ResponseStream
    from loadgen.driver.client.transport import Transport

_REDIRECTS: Final = range(300, 400)

REFUSALS: Final = frozenset({"http_400", "http_422"})
"""Failures that can name members of the request (`refused_members.py`)."""


async def attempt_request(
    transport: Transport, request: Request, exchange: Exchange, decoding: MutableSet[Exchange] | None = None
) -> RequestFailedError | None:
    """Send a request, read and judge the response; return why the attempt failed, None for a success.

    `decoding` holds the exchange while its response, which is complete, is decoded slice by slice.
    """
    try:
        await transport.send(request, exchange)
        _require_readable(exchange)
        try:
            for _ in exchange.stream.decode():
                if _length_is_unproven(exchange):
                    continue
                if decoding is not None:
                    decoding.add(exchange)
                await asyncio.sleep(0)
        except RequestFailedError:
            # A cut leaves half a frame behind: then the cut is the news, not the half.
            if exchange.failure is None and not exchange.stream.is_cut(framed=exchange.framed):
                raise
        finally:
            if decoding:
                decoding.discard(exchange)
        _require_success(exchange)
    except RequestFailedError as error:
        if exchange.drop_connection is not None and exchange.response is not None and exchange.response.ok:
            exchange.drop_connection()
        return error
    except Exception as error:  # noqa: BLE001 (a bug of ours ends one request, not the run)
        return RequestFailedError(Failure.CLIENT_BUG, f"{type(error).__name__}: {error}")
    return None


def _length_is_unproven(exchange: Exchange) -> bool:
    """Whether only the answer proves that the response ended at the Content-Length.

    Until then its connection must carry no other request, which would get the rest: no other task may run.
    """
    head = exchange.response
    return head is not None and not head.chunked and not head.until_close


def _require_readable(exchange: Exchange) -> None:
    """Demand an answer that can be decoded: of status 200, and not compressed."""
    if exchange.response is None:
        return
    if not exchange.response.ok:
        raise RequestFailedError(
            http(exchange.response.status), _error_text(exchange.response, exchange.stream)
        )
    if exchange.response.encoding:
        raise RequestFailedError(Failure.DECODE_ERROR, _COMPRESSED.format(exchange.response.encoding))


def _require_success(exchange: Exchange) -> None:
    """Demand that a decoded response has a token, and an end that says that the answer is complete."""
    answer = exchange.stream.answer
    if answer.error is not None:
        raise RequestFailedError(Failure.ERROR_FRAME, answer.error)
    if exchange.failure is not None and not answer.done:
        raise RequestFailedError(exchange.failure, exchange.message)
    if exchange.stream.lacks_end(framed=exchange.framed):
        raise RequestFailedError(Failure.TRUNCATED, _LACKS_END[answer.done])
    if answer.finish_reason is not None and ending_of(answer.finish_reason) is AnswerEnding.ABORTED:
        raise RequestFailedError(
            Failure.ABORTED, f"the server aborted the answer: finish reason {answer.finish_reason!r}"
        )
    if answer.empty and not answer.facts:
        raise _empty(exchange.stream)


_COMPRESSED: Final = "the body is {}, although `Accept-Encoding: identity` was asked"
_LACKS_END: Final = (
    "the response stops without a finish reason, or inside an event",
    "the response ends with [DONE], but without a finish reason: the server cut the answer",
)
"""The messages for a stream without a finish reason: without `[DONE]`, and with it."""


def _empty(stream: ResponseStream) -> RequestFailedError:
    """Name an answer without a token: the model had nothing to say, or no answer came at all."""
    reason, output_tokens = stream.answer.finish_reason, stream.answer.usage.output_tokens
    if reason is None:
        start = f"; the body begins with {excerpt(stream.body())!r}" if stream.body() else ""
        message = f"the response is complete, but has neither a token nor a finish reason in it{start}"
        return RequestFailedError(Failure.EMPTY_RESPONSE, message)
    counted = f", and {output_tokens} output tokens by the server's count" if output_tokens else ""
    message = f"the answer has no token in it; finish reason {reason!r}{counted}"
    return RequestFailedError(Failure.EMPTY_ANSWER, message)


def _error_text(head: Head, stream: ResponseStream) -> str:
    """The text of an HTTP error: the body, or the target of a redirect, which is not followed."""
    place = head.header("location")
    if place and head.status in _REDIRECTS:
        return (
            f"redirects to {place}: no redirect is followed, for the key would go along; give the right --url"
        )
    return _COMPRESSED.format(head.encoding) if head.encoding else error_text(stream.body())


FIRST_WAIT_S: Final = 0.5
MOST_WAIT_S: Final = 30.0
"""Where the server names no time: half a second to begin with, twice as long each time, at most this."""


class Retries:
    """Decides on further attempts, for all requests of a worker."""

    def __init__(self, limit: int = 0, total_s: float = 0.0, seed: int | str = 0) -> None:
        self._limit = limit
        self._total_s = total_s
        self._random = Random(seed)  # noqa: S311 (no secret depends on it)
        self._stopped = asyncio.Event()

    def stop(self) -> None:
        """Let no further attempt begin: the failures that there are stand."""
        self._stopped.set()

    def due_s(self, begun_s: float) -> float:
        """The end of a request's time limit, on the clock of the request's start."""
        return begun_s + self._total_s

    def wait_s(self, attempt: int, failure: str, asked_s: float | None, left_s: float) -> float | None:
        """How long to wait, in s, before the next attempt; None where none follows. Attempts count from 1."""
        if attempt > self._limit or not mendable(failure) or self._stopped.is_set():
            return None
        wait_s = asked_s
        if wait_s is None:
            longest_s = min(MOST_WAIT_S, FIRST_WAIT_S * 2.0 ** min(attempt - 1, 10))
            wait_s = longest_s * self._random.uniform(0.5, 1.0)
        return wait_s if wait_s < left_s else None

    async def pause(self, wait_s: float) -> bool:
        """Wait; tell whether the next attempt may begin then."""
        try:
            await asyncio.wait_for(self._stopped.wait(), wait_s)
        except TimeoutError:
            return True
        return False
