"""A recording proxy: an endpoint on this machine whose requests are turns of one episode.

An external agent asks it as it would ask OpenAI's chat completions, with or without a stream. The request to
the endpoint under test is issued by the load generator, always as the session asks.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from secrets import token_urlsafe
from typing import TYPE_CHECKING, Any, Final

import orjson

from workloads.episodes.episode import EpisodeError, LimitReachedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from aiohttp import web

    from workloads.episodes.episode import Ask, Reply

_OURS: Final = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
    | {"temperature", "n"}
)
"""Members of a request that the load generator sets itself, or passes on by their meaning."""

_LARGEST_BODY: Final = 64 * 2**20


class RecordingProxy:
    """Turns of an episode for a program.

    Args:
        ask: Asks the endpoint.
        model: The name of the model in answers.

    Attributes:
        url: Its base URL, which no other program can guess.
        error: Why the episode can ask no more; None while it can.
        messages: The conversation up to the last answer.
    """

    def __init__(self, ask: Ask, model: str) -> None:
        self.url = ""
        self.error: EpisodeError | None = None
        self.messages: list[Mapping[str, Any]] = []
        self._ask = ask
        self._model = model
        self._token = token_urlsafe(16)

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen on a free port of the loopback for the length of a block."""
        from aiohttp import web

        application = web.Application(client_max_size=_LARGEST_BODY)
        base = f"/{self._token}/v1"
        application.router.add_post(f"{base}/chat/completions", self._complete)
        application.router.add_get(f"{base}/models", self._models)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}{base}"
            yield
        finally:
            await runner.cleanup()

    async def _models(self, _: web.Request) -> web.Response:
        from aiohttp import web

        return web.json_response({"object": "list", "data": [{"id": self._model, "object": "model"}]})

    async def _complete(self, request: web.Request) -> web.Response:
        from aiohttp import web

        try:
            body = orjson.loads(await request.read())
            messages = body["messages"]
            if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
                raise TypeError  # noqa: TRY301 (one answer for all that is wrong)
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return _failed(400, "the body must be a JSON object with messages")
        try:
            reply = await self._ask(
                messages,
                tools=body.get("tools") or (),
                max_tokens=body.get("max_tokens") or body.get("max_completion_tokens"),
                temperature=body.get("temperature"),
                body={name: value for name, value in body.items() if name not in _OURS},
            )
        except EpisodeError as error:
            over = isinstance(error, LimitReachedError) or error.ending == "cut"
            self.error = error if over else self.error
            return _failed(403 if over else 502, str(error))
        self.messages = [*messages, reply.message]
        if body.get("stream"):
            return web.Response(body=_streamed(reply, self._model), content_type="text/event-stream")
        return web.json_response(_whole(reply, self._model))


def _failed(status: int, message: str) -> web.Response:
    from aiohttp import web

    return web.json_response({"error": {"message": message, "type": "loadgen"}}, status=status)


def _usage(reply: Reply) -> dict[str, int]:
    prompt, completion = reply.input_tokens or 0, reply.output_tokens
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _envelope(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-episode", "object": kind, "created": int(time.time()), "model": model}


def _whole(reply: Reply, model: str) -> dict[str, Any]:
    """An answer as one object."""
    choice = {"index": 0, "message": reply.message, "finish_reason": reply.finish_reason or "stop"}
    return {**_envelope(model, "chat.completion"), "choices": [choice], "usage": _usage(reply)}


def _streamed(reply: Reply, model: str) -> bytes:
    """An answer as the events of a stream."""
    envelope = _envelope(model, "chat.completion.chunk")
    calls = [{"index": index, **call} for index, call in enumerate(reply.tool_calls)]
    delta = {**reply.message, **({"tool_calls": calls} if calls else {})}
    end = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason or "stop"}
    frames = [
        {**envelope, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**envelope, "choices": [end]},
        {**envelope, "choices": [], "usage": _usage(reply)},
    ]
    return b"".join(b"data: " + orjson.dumps(frame) + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
