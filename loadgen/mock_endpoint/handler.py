"""From a request to its answer: the routes, who may use them, and what becomes known of a request."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final, cast

import orjson
from aiohttp import web

from loadgen.mock_endpoint import wire
from loadgen.mock_endpoint.ask import Refusal, read_chat, read_completion
from loadgen.mock_endpoint.delivery import Delivery, Exchange, send
from loadgen.mock_endpoint.metrics import Metrics
from loadgen.mock_endpoint.options import DEFAULT_MODEL
from loadgen.mock_endpoint.slots import Slots
from loadgen.mock_endpoint.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.connection import Connection
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.script import Script

_PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"
_GENERATION: Final = {
    "/v1/chat/completions": (wire.CHAT, read_chat),
    "/v1/completions": (wire.COMPLETION, read_completion),
}


class Handler:
    """Answers requests.

    Args:
        options: How.
        script: Decides what is answered.
        tell: Takes what is known of each completion request when it ends.
    """

    def __init__(self, options: MockOptions, script: Script, tell: Callable[[Truth], None]) -> None:
        self._options = options
        self._script = script
        self._tell = tell
        self._models = options.models or (DEFAULT_MODEL,)
        slots = Slots(options.slots)
        self._delivery = Delivery(options, slots)
        self._metrics = Metrics(self._models[0], slots)
        self._started_s = int(time.time())
        self._pages: dict[str, Callable[[], web.Response]] = {
            "/v1/models": self._model_list,
            "/health": web.Response,
            "/metrics": self._figures,
        }

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path = request.path
        if path in _GENERATION and request.method == "POST":
            response = await self._generate(request)
        else:
            response = self._page(request)
        known = path in _GENERATION or path in self._pages
        self._metrics.responded(path if known else "none", request.method, response.status)
        return response

    async def _generate(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast("Connection", request.protocol)
        truth = Truth(request.headers.get("X-Request-Id"), request.path, connection.read_ns)
        self._metrics.began(truth)
        try:
            return await self._answer(request, connection, truth)
        finally:
            truth.done_ns = time.monotonic_ns()
            self._metrics.ended(truth)
            self._tell(truth)

    async def _answer(
        self,
        request: web.BaseRequest,
        connection: Connection,
        truth: Truth,
    ) -> web.StreamResponse:
        dialect, read = _GENERATION[request.path]
        try:
            self._admit(request)
            body = await _body(request)
            truth.received_ns = connection.read_ns
            ask = read(body, self._options.models)
            truth.input_tokens = ask.input_tokens
            answer = self._script.answer(ask)
            response = await self._delivery.deliver(Exchange(request, dialect, ask, answer, truth))
            truth.outcome, truth.finish_reason = "completed", answer.finish_reason
        except Refusal as refusal:
            response = await send(request, refusal.body(), refusal.status, truth)
            truth.outcome = "failed"
        return response

    def _page(self, request: web.BaseRequest) -> web.Response:
        try:
            return self._find(request)()
        except Refusal as refusal:
            return web.Response(body=refusal.body(), status=refusal.status, content_type="application/json")

    def _find(self, request: web.BaseRequest) -> Callable[[], web.Response]:
        if request.path.startswith("/v1/"):
            self._admit(request)
        page = self._pages.get(request.path)
        if page is None and request.path not in _GENERATION:
            raise Refusal(404, f"There is nothing at {request.path}")
        if page is None or request.method != "GET":
            raise Refusal(405, f"{request.path} does not take {request.method}")
        return page

    def _admit(self, request: web.BaseRequest) -> None:
        key = self._options.api_key
        if key is not None and request.headers.get("Authorization") != f"Bearer {key}":
            raise Refusal(401, "The API key is missing or wrong", code="invalid_api_key")

    def _model_list(self) -> web.Response:
        models = [
            {"id": name, "object": "model", "created": self._started_s, "owned_by": "loadgen"}
            for name in self._models
        ]
        body = orjson.dumps({"object": "list", "data": models})
        return web.Response(body=body, content_type="application/json")

    def _figures(self) -> web.Response:
        return web.Response(body=self._metrics.render().encode(), headers={"Content-Type": _PROMETHEUS})


async def _body(request: web.BaseRequest) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError as error:
        raise Refusal(400, "The body is not what its headers say") from error
