"""What a client is put together from, by the names that `--protocol` and `--transport` take."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.client import chat_completions, completions, messages, responses
from loadgen.driver.client.plain_json import PlainJson
from loadgen.driver.client.plain_sse import PlainSSE
from workloads.errors import PluginError
from workloads.plugins import loaded, origin, plugins

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from loadgen.driver.client.codec import Codec

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


_CODEC: Final = (
    *("path", "models", "announces_end", "cumulative"),
    *("headers", "request", "asked", "chunk", "whole"),
)
"""What a codec has: see `loadgen.driver.client.codec.Codec`."""


def codec_of(protocol: str, options: Mapping[str, Any]) -> Codec:
    """The codec of a protocol.

    Args:
        protocol: A name of `PROTOCOLS`, or of a plug-in's protocol.
        options: What the user says of it: attributes of its codec, all JSON. Only `DESCRIBED` ones take any.

    Raises:
        PluginError: It is a plug-in's, and cannot be used.
    """
    if protocol in DESCRIBED:
        return DESCRIBED[protocol](**options)
    return CODECS[protocol] if protocol in CODECS else _codec_of_plugin(protocol)


def protocol_names() -> list[str]:
    """The names of all protocols: those that come with this program, and those of plug-ins."""
    return [*PROTOCOLS, *(name for name in plugins("protocols") if name not in PROTOCOLS)]


def _codec_of_plugin(name: str) -> Codec:
    codec: Codec = loaded("protocols", name)
    if missing := [member for member in _CODEC if not hasattr(codec, member)]:
        package = origin(plugins("protocols")[name])
        raise PluginError(f"{name}: the protocol of {package} cannot be used: it has no {missing[0]!r}")
    return codec


TRANSPORTS: Final = {
    "native": "loadgen.driver.client.http_transport:HttpTransport",
    "aiohttp": "loadgen.driver.client.aiohttp_transport:AiohttpTransport",
}
"""Transports, loaded on use: each is called with an endpoint and `Timeouts`."""


def load_transport(name: str) -> Callable[..., Any]:
    """Import a transport."""
    module, _, attribute = TRANSPORTS[name].partition(":")
    transport: Callable[..., Any] = getattr(import_module(module), attribute)
    return transport
