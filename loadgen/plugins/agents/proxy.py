"""A recording proxy: a local endpoint whose requests are turns of one episode.

An external agent asks it as it would ask OpenAI's chat completions, with or without a stream. The request to
the endpoint under test is issued by the load generator, always as the session asks.
"""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from secrets import token_urlsafe
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from loadgen.plugins.agents.episode import EpisodeError, LimitReachedError, TurnFailedError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from aiohttp import web

    from loadgen.plugins.agents.episode import Ask, Reply

_OURS: Final = frozenset(
    {"model", "messages", "tools", "stream", "stream_options", "max_tokens", "max_completion_tokens"}
    | {"temperature", "n"}
)
"""Members of a request that the load generator sets itself, or passes on by their meaning."""

_LARGEST_BODY: Final = 64 * 2**20


class ProxyAnswer(NamedTuple):
    """A response to the program."""

    status: int
    content_type: str
    body: bytes
    headers: Mapping[str, str] = MappingProxyType({})


class RecordingProxy:
    """Turns the requests of a program into turns of an episode.

    Attributes:
        base: The path of its base URL, which no other program can guess.
        error: The reason why no further turn can be issued; None while one can.
    """

    def __init__(self, ask: Ask, model: str) -> None:
        self.url = ""
        self.error: EpisodeError | None = None
        self.messages: list[Mapping[str, Any]] = []
        self._ask = ask
        self._model = model
        self.base = f"/{token_urlsafe(16)}/v1"

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        """Listen on a free port of the loopback inside the `with` block."""
        from aiohttp import web

        async def handle(request: web.Request) -> web.Response:
            answer = await self.answer(request.method, request.path, await request.read())
            headers = {"Content-Type": answer.content_type, **answer.headers}
            return web.Response(status=answer.status, body=answer.body, headers=headers)

        application = web.Application(client_max_size=_LARGEST_BODY)
        application.router.add_route("*", "/{path:.*}", handle)
        runner = web.AppRunner(application, access_log=None)
        await runner.setup()
        try:
            site = web.TCPSite(runner, "127.0.0.1", 0)
            await site.start()
            self.url = f"http://127.0.0.1:{runner.addresses[0][1]}{self.base}"
            yield
        finally:
            await runner.cleanup()

    async def answer(self, method: str, path: str, body: bytes) -> ProxyAnswer:
        """Answer a request of the program."""
        match method, path.partition("?")[0].removeprefix(self.base):
            case "POST", "/chat/completions":
                return await self._complete(body)
            case "GET", "/models":
                models = [{"id": self._model, "object": "model"}]
                return _json(200, {"object": "list", "data": models})
        return _failed(404, f"{path}: only chat completions are asked here")

    async def _complete(self, request: bytes) -> ProxyAnswer:
        try:
            body = orjson.loads(request)
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
        except TurnFailedError as error:
            if error.rejection is None:
                return _failed(502, str(error))
            status, content_type, text, headers = error.rejection
            return ProxyAnswer(status, content_type, text.encode(), headers)
        except EpisodeError as error:
            over = isinstance(error, LimitReachedError) or error.ending == "cut"
            self.error = error if over else self.error
            return _failed(403 if over else 502, str(error))
        self.messages = [*messages, reply.message]
        if body.get("stream"):
            return ProxyAnswer(200, "text/event-stream", _streamed(reply, self._model))
        return _json(200, _whole(reply, self._model))


def _json(status: int, value: Any) -> ProxyAnswer:
    return ProxyAnswer(status, "application/json", orjson.dumps(value))


def _failed(status: int, message: str) -> ProxyAnswer:
    return _json(status, {"error": {"message": message, "type": "loadgen"}})


def _message(reply: Reply) -> dict[str, Any]:
    """The message of an answer, with the reasoning under the name that most servers use."""
    reasoning = reply.details.reasoning
    return {**({"reasoning_content": reasoning} if reasoning else {}), **reply.message}


def _envelope(model: str, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-episode", "object": kind, "created": int(time.time()), "model": model}


def _whole(reply: Reply, model: str) -> dict[str, Any]:
    """An answer as one object."""
    choice = {"index": 0, "message": _message(reply), "finish_reason": reply.finish_reason or "stop"}
    choice["logprobs"] = reply.details.logprobs
    return {**_envelope(model, "chat.completion"), "choices": [choice], "usage": reply.usage}


def _streamed(reply: Reply, model: str) -> bytes:
    """An answer as the events of a stream."""
    envelope = _envelope(model, "chat.completion.chunk")
    calls = [{"index": index, **call} for index, call in enumerate(reply.tool_calls)]
    delta = {**_message(reply), **({"tool_calls": calls} if calls else {})}
    first = {"index": 0, "delta": delta, "logprobs": reply.details.logprobs, "finish_reason": None}
    end = {"index": 0, "delta": {}, "finish_reason": reply.finish_reason or "stop"}
    frames = [
        {**envelope, "choices": [first]},
        {**envelope, "choices": [end]},
        {**envelope, "choices": [], "usage": reply.usage},
    ]
    return b"".join(b"data: " + orjson.dumps(frame) + b"\n\n" for frame in frames) + b"data: [DONE]\n\n"
