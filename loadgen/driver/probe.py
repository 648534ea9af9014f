"""Checks of an endpoint before the load."""

from __future__ import annotations

import re
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from loadgen.driver.client.body_format import described, error_text, page_title
from loadgen.driver.client.endpoint import JSON, Request
from loadgen.driver.client.exchange import Exchange
from loadgen.driver.client.failure import Failure
from loadgen.driver.client.stream import ResponseStream
from loadgen.driver.errors import RejectedError, UnreachableError
from loadgen.driver.requests.attempt import REFUSALS, attempt_request
from workloads.errors import did_you_mean
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.client.codec import Codec, Generation
    from loadgen.driver.client.transport import Transport

_UNAUTHORIZED: Final = frozenset({401, 403})
_NO_SUCH_PATH: Final = frozenset({404, 405, 501})
_KEY_HEADERS: Final = frozenset({"authorization", "x-api-key", "api-key"})
_CLIENT_ERRORS: Final = range(400, 500)
_TOO_MANY: Final = 429
_UNREACHABLE: Final = frozenset(
    {Failure.REFUSED, Failure.DNS, Failure.TLS, Failure.CONNECT_TIMEOUT, Failure.CLIENT_LIMIT}
)
_REMEDIES: Final[Mapping[str, str]] = {
    Failure.REFUSED: "; is the server up?",
    Failure.CONNECT_TIMEOUT: "; is the server up?",
    Failure.DNS: "; is the name right?",
}
MAX_TOKENS: Final = 8
"""The token limit of a probe: it should cost next to nothing."""

_LONGEST_NAME: Final = 200
_NOTHING: Final[Mapping[str, Any]] = {}

_PROBE: Final = Sample(index=-1, prompt="Say hello.")


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of one small request."""

    status: int | None  #: the HTTP status; None without a response
    #: What a run would call the failure of this request, such as `http_500` or `truncated`; None for a
    #: success.
    failure: str | None
    message: str  #: the server's or the client's error message; empty for a success
    ttft_ms: float | None
    streams: bool
    usage: bool
    #: The optional members that the server refused in the requests before this one.
    refused: tuple[str, ...] = ()
    #: Where the response states times or drafts of the request, such as `metrics`.
    stated: tuple[str, ...] = ()


class Prober:
    """Checks the endpoint."""

    def __init__(
        self,
        transport: Transport,
        codec: Codec,
        generation: Generation,
        on_connected: Callable[[], None] = lambda: None,
    ) -> None:
        self.no_list = ""  #: why `models` returned no list; empty before, and where it returned one
        self._transport = transport
        self._codec = codec
        self._on_connected = on_connected
        self._generation = replace(
            generation, max_tokens=min(generation.max_tokens or MAX_TOKENS, MAX_TOKENS)
        )

    async def require_ready(self) -> tuple[list[str] | None, Probe | None]:
        """Make sure that the endpoint can serve a run, at the least cost.

        One `GET /models` is enough where the endpoint lists the model. Otherwise one request is sent, because
        some servers accept names that they do not list. Returns the listed models, and the result of the
        request; None for what is not there.

        Raises:
            UnreachableError: No connection.
            RejectedError: The key or the model is rejected.
        """
        models = await self.models()
        if models is not None and self._generation.model in models:
            return models, None
        probe = await self.completion()
        self.require_accepted(probe, models)
        return models, probe

    async def models(self) -> list[str] | None:
        """The models listed by the endpoint; None without a list. Raises as `require_ready`."""
        if self._codec.models is None:
            self.no_list = "the protocol has none"
            return None
        exchange = self._exchange()
        await self._transport.send(_request("GET", self._codec.models), exchange)
        self._require_reached(exchange)
        if exchange.response is None:
            self.no_list = self._transport.endpoint.redact(exchange.message)
            return None
        if not exchange.response.ok:
            message = self._transport.endpoint.redact(error_text(exchange.stream.body()))
            self.no_list = f"HTTP {exchange.response.status}: {message}"
            return None
        try:
            listed = orjson.loads(exchange.stream.body())["data"]
            hide = self._transport.endpoint.hide
            return [hide(str(model["id"]))[:_LONGEST_NAME] for model in listed]
        except (orjson.JSONDecodeError, KeyError, TypeError):
            title = page_title(exchange.stream.body())
            self.no_list = "the answer is not a model list" if title is None else described(title)
            return None

    async def completion(self, more: Mapping[str, Any] = _NOTHING) -> Probe:
        """Send one short request, with `more` in the body, and again without optional members if refused."""
        body = self._codec.request(_PROBE, self._generation)
        body = body if isinstance(body, bytes) else orjson.dumps(body | dict(more))
        content_type: str = getattr(self._codec, "content_type", JSON)
        left_out: tuple[str, ...] = ()
        while True:
            exchange = self._exchange()
            failed = await attempt_request(
                self._transport,
                _request("POST", self._codec.path, body)._replace(content_type=content_type),
                exchange,
            )
            self._require_reached(exchange)
            if failed is None or failed.failure not in REFUSALS:
                break
            from loadgen.driver.requests.refused_members import RefusedMembers

            refused = RefusedMembers(self._generation, _ignore)
            answered = exchange.stream.body() if exchange.response else b""
            name = refused.refused_in(body, failed.failure, answered)
            if name is None or name in more:
                break
            body, left_out = refused.without(body, name), (*left_out, name)
        answer, response = exchange.stream.answer, exchange.response
        ttft_ms = None
        if answer.arrivals and exchange.sent_ns is not None:
            ttft_ms = (answer.arrivals[0] - exchange.sent_ns) / 1e6
        return Probe(
            status=response.status if response else None,
            failure=failed.failure if failed else None,
            message=self._transport.endpoint.redact(str(failed)) if failed else "",
            ttft_ms=ttft_ms,
            streams=exchange.stream.streamed,
            usage=answer.usage.output_tokens is not None,
            refused=left_out,
            stated=(*(answer.statements or ()), *(response.stated if response else ())),
        )

    def require_accepted(self, probe: Probe, models: list[str] | None) -> None:
        """Raise `RejectedError`, with reason and remedy, for a request rejected for its contents."""
        if probe.status is None or probe.status not in _CLIENT_ERRORS or probe.status == _TOO_MANY:
            return
        model, url = self._generation.model, self._transport.endpoint.url
        if probe.status in _NO_SUCH_PATH and not _is_about_model(probe.message, model):
            raise RejectedError(
                f"{url} has no {self._codec.path} (HTTP {probe.status}): {probe.message}; choose the "
                "--protocol that the server speaks, or check --url"
            )
        hint = ""
        if models and model not in models:
            hint = did_you_mean(model, models) or f"; it lists {', '.join(models[:5])}"
        raise RejectedError(
            f"{url} rejected the request for model {model!r} (HTTP {probe.status}): {probe.message}{hint}"
        )

    @property
    def key_sent(self) -> bool:
        """Whether requests carry a key, judged by header names."""
        return any(name.lower() in _KEY_HEADERS for name in self._transport.endpoint.headers)

    def _require_reached(self, exchange: Exchange) -> None:
        url = self._transport.endpoint.url
        if exchange.failure in _UNREACHABLE:
            remedy = _REMEDIES.get(exchange.failure or "", "")
            raise UnreachableError(f"{url} cannot be reached: {exchange.message}{remedy}")
        status = exchange.response.status if exchange.response else None
        if status in _UNAUTHORIZED:
            message = self._transport.endpoint.redact(error_text(exchange.stream.body()))
            remedy = (
                "the key that was sent is not accepted: give another"
                if self.key_sent
                else "no key was sent: give one"
            )
            raise RejectedError(
                f"{url} answers HTTP {status}: {message}; {remedy} with --api-key or in LOADGEN_API_KEY"
            )

    def _exchange(self) -> Exchange:
        return Exchange(
            ResponseStream(self._codec), on_sent=lambda _: self._on_connected(), on_first_token=_ignore
        )


def _request(method: str, path: str, body: bytes = b"") -> Request:
    return Request(method, path, token_hex(16), body)


def _is_about_model(message: str, model: str) -> bool:
    """Whether an error message is about a model rather than about a path that does not exist."""
    named = re.search(rf"(?<![\w/.-]){re.escape(model)}(?![\w/-])", message, re.IGNORECASE)
    return "model" in message.lower() or named is not None


def _ignore(_: Any) -> None:
    """Ignore the timings of a probe."""
