"""Sending an answer on time: the one place where tokens meet the clock.

Every piece is awaited until its own moment, counted from the start of service, so that being late with one
never delays the next. An event loop on epoll counts in milliseconds: a piece leaves up to 1 ms late.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from aiohttp import web

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.token import SILENT, joined

if TYPE_CHECKING:
    from loadgen.mock_endpoint.ask import MockRequest
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.script import PlannedResponse
    from loadgen.mock_endpoint.slots import Slots
    from loadgen.mock_endpoint.stall import Stall
    from loadgen.mock_endpoint.truth import Truth

_OK: Final = 200
_EVENTS: Final = {"Content-Type": "text/event-stream; charset=utf-8", "Cache-Control": "no-cache"}


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """A request with the planned answer, and the recorded truth."""

    request: web.BaseRequest
    dialect: wire.WireProtocol
    ask: MockRequest
    answer: PlannedResponse
    truth: Truth


class Delivery:
    """Sends answers.

    Args:
        options: In what shape.
        slots: Where each waits for its turn.
        stall: When nothing leaves.
    """

    def __init__(self, options: MockOptions, slots: Slots, stall: Stall) -> None:
        self._options = options
        self._slots = slots
        self._stall = stall

    async def deliver(self, exchange: ServedRequest) -> web.StreamResponse:
        """Send an answer.

        Raises:
            RefusedRequest: The answer is a scripted failure; it is raised when it is due, and takes no slot.
        """
        if exchange.answer.refusal:
            await self._until(_start_s(exchange.truth) + exchange.answer.ttft_s)
            raise exchange.answer.refusal
        return await (self._stream(exchange) if exchange.ask.stream else self._whole(exchange))

    async def _whole(self, exchange: ServedRequest) -> web.Response:
        """Send an answer in one piece, when the last token is due."""
        ask, answer, truth = exchange.ask, exchange.answer, exchange.truth
        async with self._slots.taken(truth.received_ns) as truth.queued_ns:
            due_s = _start_s(truth) + answer.last_due_s()
            await self._until(due_s)
            _note_lateness(truth, due_s, time.monotonic_ns())
            counts = wire.usage(ask.input_tokens, len(answer.tokens), answer.cached_tokens(ask.input_tokens))
            body = wire.whole(exchange.dialect, ask, joined(answer.tokens), answer.finish_reason, counts)
            response = await send(exchange.request, body, _OK, truth)
            truth.tokens = len(answer.tokens)
            return response

    async def _stream(self, exchange: ServedRequest) -> web.StreamResponse:
        """Send an answer as a stream of events. The headers go out at once, as those of vLLM do."""
        answer, truth = exchange.answer, exchange.truth
        response = web.StreamResponse(headers=_EVENTS | _echo(truth))
        await response.prepare(exchange.request)
        truth.status = _OK
        frames = wire.StreamFrames(exchange.dialect, exchange.ask)
        lead = b"" if self._options.role_chunk == "none" else frames.role()
        if self._options.role_chunk == "early":
            await response.write(lead)
            lead = b""
        async with self._slots.taken(truth.received_ns) as truth.queued_ns:
            start_s = _start_s(truth)
            for due_s, text, tokens in answer.pieces(self._options.tokens_per_chunk):
                await self._until(start_s + due_s)
                truth.tokens += tokens
                if text == SILENT:
                    truth.silent_ns.append(time.monotonic_ns())
                    continue
                if lead:
                    await response.write(lead)
                    lead = b""
                event = frames.piece(text)
                sent_ns = time.monotonic_ns()
                truth.chunk_ns.append(sent_ns)
                _note_lateness(truth, start_s + due_s, sent_ns)
                await response.write(event)
            if not answer.tokens:
                await self._until(start_s + answer.ttft_s)
            counts = wire.usage(
                exchange.ask.input_tokens, truth.tokens, answer.cached_tokens(exchange.ask.input_tokens)
            )
            await response.write_eof(lead + frames.end(answer.finish_reason, counts))
        return response

    async def _until(self, due_s: float) -> None:
        """Return when something that is due can leave."""
        await asyncio.sleep(due_s - time.monotonic())
        await until_over(self._stall)


async def send(
    request: web.BaseRequest, body: bytes, status: int, truth: Truth, retry_after_s: int | None = None
) -> web.Response:
    """Send JSON in one piece."""
    headers = _echo(truth)
    if retry_after_s is not None:
        headers["Retry-After"] = str(retry_after_s)
    response = web.Response(body=body, status=status, content_type="application/json", headers=headers)
    await response.prepare(request)
    await response.write_eof()
    truth.status = status
    return response


def _start_s(truth: Truth) -> float:
    """When service began, on the event loop's clock: CLOCK_MONOTONIC in seconds."""
    return (truth.received_ns + truth.queued_ns) / 1e9


def _note_lateness(truth: Truth, due_s: float, sent_ns: int) -> None:
    truth.late_ns = max(truth.late_ns, sent_ns - int(due_s * 1e9))


async def until_over(stall: Stall) -> None:
    """Return when the server is not stalled."""
    if left_s := stall.left_s(time.monotonic_ns()):
        await asyncio.sleep(left_s)


def _echo(truth: Truth) -> dict[str, str]:
    return {} if truth.request_id is None else {"X-Request-Id": truth.request_id}
