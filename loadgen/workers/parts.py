"""What a client is put together from, by the names that `--protocol` and `--transport` take."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

from loadgen.client import chat_completions, completions

if TYPE_CHECKING:
    from collections.abc import Callable

    from loadgen.client.codec import Codec

CODECS: Final[dict[str, Codec]] = {"chat": chat_completions, "completions": completions}
"""Protocols."""

TRANSPORTS: Final = {
    "native": "loadgen.client.http_transport:HttpTransport",
    "aiohttp": "loadgen.client.aiohttp_transport:AiohttpTransport",
}
"""Transports, loaded on use: each is called with an endpoint and the seconds that a request may take."""


def load_transport(name: str) -> Callable[..., Any]:
    """Import a transport."""
    module, _, attribute = TRANSPORTS[name].partition(":")
    transport: Callable[..., Any] = getattr(import_module(module), attribute)
    return transport
