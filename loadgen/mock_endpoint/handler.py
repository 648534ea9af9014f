"""From a request to an answer: routes, access, and the recorded truth."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, cast

from aiohttp import web

from loadgen.mock_endpoint.ask import RefusedRequest
from loadgen.mock_endpoint.delivery import Delivery, ServedRequest, send, until_over
from loadgen.mock_endpoint.metrics import PROMETHEUS, Metrics
from loadgen.mock_endpoint.options import DEFAULT_MODEL
from loadgen.mock_endpoint.routes import GENERATION, HEALTH, METRICS, MODELS, Doorkeeper, model_list
from loadgen.mock_endpoint.slots import Slots
from loadgen.mock_endpoint.truth import Truth

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.mock_endpoint.connection import MockConnection
    from loadgen.mock_endpoint.lifetime import Lifetime
    from loadgen.mock_endpoint.options import MockOptions
    from loadgen.mock_endpoint.script import Script
    from loadgen.mock_endpoint.stall import Stall


class Handler:
    """Answers requests.

    Args:
        options: How.
        script: Decides what is answered.
        stall: When nothing is.
        lifetime: Learns of completion requests.
        tell: Takes what is known of each completion request when it ends.
    """

    def __init__(
        self,
        options: MockOptions,
        script: Script,
        stall: Stall,
        lifetime: Lifetime,
        tell: Callable[[Truth], None],
    ) -> None:
        self._options = options
        self._script = script
        self._stall = stall
        self._lifetime = lifetime
        self._tell = tell
        self._model_list = model_list(options)
        slots = Slots(options.slots)
        self._delivery = Delivery(options, slots, stall)
        self._metrics = Metrics(
            (options.models or (DEFAULT_MODEL,))[0], lambda: (slots.running, slots.waiting)
        )
        self._pages: dict[str, Callable[[], web.Response]] = {
            MODELS: self._models,
            HEALTH: web.Response,
            METRICS: self._figures,
        }
        self._door = Doorkeeper(options, self._pages)

    async def __call__(self, request: web.BaseRequest) -> web.StreamResponse:
        """Answer one request."""
        path = request.path
        await until_over(self._stall)
        if path in GENERATION and request.method == "POST":
            response = await self._generate(request)
        else:
            response = self._page(request)
        if self._options.close:
            cast("MockConnection", request.protocol).close()
        is_served = path in GENERATION or path in self._pages
        self._metrics.responded(path if is_served else "none", request.method, response.status)
        return response

    async def _generate(self, request: web.BaseRequest) -> web.StreamResponse:
        connection = cast("MockConnection", request.protocol)
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
        connection: MockConnection,
        truth: Truth,
    ) -> web.StreamResponse:
        dialect, read = GENERATION[request.path]
        try:
            self._door.admit(request.headers.get("Authorization"))
            body = await _body(request)
            truth.received_ns = connection.read_ns
            self._stall.heard(truth.received_ns)
            self._lifetime.heard()
            await until_over(self._stall)
            ask = read(body, self._options.models, self._options.refuse)
            truth.learn(ask, in_detail=self._options.truth is not None)
            answer = self._script.answer(ask)
            truth.cached = bool(answer.cached)
            response = await self._delivery.deliver(ServedRequest(request, dialect, ask, answer, truth))
            truth.outcome, truth.finish_reason = "completed", answer.finish_reason
        except RefusedRequest as refusal:
            response = await send(request, refusal.body(), refusal.status, truth, refusal.retry_after_s)
            truth.outcome = "failed"
        return response

    def _page(self, request: web.BaseRequest) -> web.Response:
        try:
            page = self._door.page(request.method, request.path, request.headers.get("Authorization"))
            return self._pages[page]()
        except RefusedRequest as refusal:
            return web.Response(body=refusal.body(), status=refusal.status, content_type="application/json")

    def _models(self) -> web.Response:
        return web.Response(body=self._model_list, content_type="application/json")

    def _figures(self) -> web.Response:
        return web.Response(body=self._metrics.render().encode(), headers={"Content-Type": PROMETHEUS})


async def _body(request: web.BaseRequest) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError as error:
        raise RefusedRequest(400, "The body is not what its headers say") from error
