"""What a client is put together from, by the names that `--protocol` and `--transport` take."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loadgen.client import chat_completions, completions, messages, responses
from loadgen.client.plain_json import PlainJson
from loadgen.client.plain_sse import PlainSSE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.client.codec import Codec

CODECS: Final[Mapping[str, Codec]] = {
    "chat": chat_completions,
    "completions": completions,
    "responses": responses,
    "messages": messages,
}
"""Protocols that are the same wherever they are spoken."""

DESCRIBED: Final[Mapping[str, type[PlainJson]]] = {"sse": PlainSSE, "json": PlainJson}
"""Protocols that the user describes."""

PROTOCOLS: Final = (*CODECS, *DESCRIBED)


def codec_of(protocol: str, options: Mapping[str, Any]) -> Codec:
    """The codec of a protocol.

    Args:
        protocol: A name of `PROTOCOLS`.
        options: What the user says of it: attributes of its codec, all JSON. Only `DESCRIBED` ones take any.
    """
    return DESCRIBED[protocol](**options) if protocol in DESCRIBED else CODECS[protocol]


TRANSPORTS: Final = {
    "native": "loadgen.client.http_transport:HttpTransport",
    "aiohttp": "loadgen.client.aiohttp_transport:AiohttpTransport",
}
"""Transports, loaded on use: each is called with an endpoint and `Timeouts`."""


def load_transport(name: str) -> Callable[..., Any]:
    """Import a transport."""
    module, _, attribute = TRANSPORTS[name].partition(":")
    transport: Callable[..., Any] = getattr(import_module(module), attribute)
    return transport
