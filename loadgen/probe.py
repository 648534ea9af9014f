"""Asking an endpoint about itself before load is put on it."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from difflib import get_close_matches
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.client.exchange import Exchange
from loadgen.client.failure import Failure, RequestFailedError
from loadgen.client.stream import ResponseStream
from loadgen.client.transport import Request
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.client.codec import Codec, Generation
    from loadgen.client.transport import Transport

_UNAUTHORIZED: Final = frozenset({401, 403})
_CLIENT_ERRORS: Final = range(400, 500)
_TOO_MANY: Final = 429
_UNREACHABLE: Final = frozenset(
    {Failure.REFUSED, Failure.DNS, Failure.TLS, Failure.CONNECT_TIMEOUT, Failure.CLIENT_LIMIT},
)
MAX_TOKENS: Final = 8
"""A question before a run is to cost next to nothing."""

_LONGEST_NAME: Final = 200

_PROBE: Final = Sample(index=-1, prompt="Say hello.")


class UnreachableError(Exception):
    """No connection to the endpoint."""


class RejectedError(Exception):
    """The endpoint is there, but turns these settings down: the key, or the model."""


@dataclass(frozen=True, slots=True)
class Probe:
    """What one small request showed.

    Attributes:
        status: The HTTP status; None without a response.
        failure: Why the request failed on the way; None when a response came through.
        message: What the server or the client says about the failure.
        ttft_ms: To the first token of a stream.
        streams: Whether the response was an event stream.
        usage: Whether it told the number of output tokens.
        answered: Whether there was a token in it.
    """

    status: int | None
    failure: str | None
    message: str
    ttft_ms: float | None
    streams: bool
    usage: bool
    answered: bool


class Prober:
    """Asks the endpoint about itself.

    Args:
        transport: Carries the requests.
        codec: The protocol.
        generation: What the run's requests ask for.
    """

    def __init__(self, transport: Transport, codec: Codec, generation: Generation) -> None:
        self._transport = transport
        self._codec = codec
        self._generation = replace(
            generation, max_tokens=min(generation.max_tokens or MAX_TOKENS, MAX_TOKENS)
        )

    async def require_ready(self) -> tuple[list[str] | None, Probe | None]:
        """Make sure that a run has a chance, at the least cost.

        One `GET /models` settles it where the endpoint lists the model. Where it does not, one request is
        asked for real, because some servers take names that they do not list.

        Returns:
            The models that the endpoint lists, None where it has no such list; and what the request showed,
            None where none was needed.

        Raises:
            UnreachableError: No connection.
            RejectedError: The key or the model is turned down.
        """
        models = await self.models()
        if models is not None and self._generation.model in models:
            return models, None
        probe = await self.completion()
        self._require_accepted(probe, models)
        return models, probe

    async def models(self) -> list[str] | None:
        """The models that the endpoint lists; None where it has no such list.

        Raises:
            UnreachableError: No connection.
            RejectedError: The key is turned down.
        """
        if self._codec.models is None:
            return None
        exchange = await self._ask("GET", self._codec.models)
        self._require_reached(exchange)
        if exchange.response is None or not exchange.response.ok:
            return None
        try:
            listed = orjson.loads(exchange.stream.body())["data"]
            hide = self._transport.endpoint.hide
            return [hide(str(model["id"]))[:_LONGEST_NAME] for model in listed]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            return None

    async def completion(self) -> Probe:
        """Ask one short question in the way that the run will.

        Raises:
            UnreachableError: No connection.
            RejectedError: The key is turned down.
        """
        body = self._codec.request(_PROBE, self._generation)
        exchange = await self._ask("POST", self._codec.path, orjson.dumps(body))
        self._require_reached(exchange)
        answer, response = exchange.stream.answer, exchange.response
        failure, message = exchange.failure, exchange.message
        if response is not None and not response.ok:
            message = exchange.stream.error_text()
        else:
            try:
                deque(exchange.stream.decode(), maxlen=0)
            except RequestFailedError as error:
                failure, message = failure or error.failure, message or str(error)
        ttft_ms = None
        if answer.arrivals and exchange.sent_ns is not None:
            ttft_ms = (answer.arrivals[0] - exchange.sent_ns) / 1e6
        return Probe(
            status=response.status if response else None,
            failure=failure,
            message=self._transport.endpoint.redact(answer.error or message),
            ttft_ms=ttft_ms,
            streams=response is not None and response.event_stream,
            usage=answer.usage.output_tokens is not None,
            answered=not answer.empty,
        )

    def _require_accepted(self, probe: Probe, models: list[str] | None) -> None:
        if probe.status is None or probe.status not in _CLIENT_ERRORS or probe.status == _TOO_MANY:
            return
        model = self._generation.model
        near = get_close_matches(model, models or [], n=1)
        known = ""
        if near:
            known = f"; did you mean {near[0]!r}?"
        elif models:
            known = f"; it lists {', '.join(models[:5])}"
        raise RejectedError(
            f"{self._transport.endpoint.url} turns down a request for model {model!r} "
            f"with HTTP {probe.status}: {probe.message}{known}",
        )

    def _require_reached(self, exchange: Exchange) -> None:
        url = self._transport.endpoint.url
        if exchange.failure in _UNREACHABLE:
            raise UnreachableError(f"{url} cannot be reached: {exchange.message}; is the server up?")
        status = exchange.response.status if exchange.response else None
        if status in _UNAUTHORIZED:
            said = self._transport.endpoint.redact(exchange.stream.error_text())
            raise RejectedError(
                f"{url} answers HTTP {status}: {said}; give the key with --api-key or in LOADGEN_API_KEY",
            )

    async def _ask(self, method: str, path: str, body: bytes = b"") -> Exchange:
        exchange = Exchange(ResponseStream(self._codec), on_sent=_ignore, on_first_token=_ignore)
        await self._transport.send(Request(method, path, token_hex(16), body), exchange)
        return exchange


def _ignore(_: Any) -> None:
    """Nobody waits for the moments of a probe."""
