"""The end of a chunked response in a read, and unsolicited responses."""

from __future__ import annotations

from typing import Final

_RESPONSE: Final = b"HTTP/1."
_FAREWELLS: Final = (b"HTTP/1.1 408", b"HTTP/1.0 408")


def is_unasked(data: bytes) -> bool:
    """Whether bytes that arrived while no request was pending begin a response, and no farewell."""
    return data.startswith(_RESPONSE) and not data.startswith(_FAREWELLS)


_SHORT: Final = 4
"""A read of fewer bytes can hold a part of the end that looks like no end."""


def may_end(data: bytes) -> bool:
    """Whether a read can contain the end of a chunked response: the last chunk, or the final blank line."""
    last_chunk = data.startswith(b"0\r\n") or b"\r\n0\r\n" in data
    return last_chunk or data.endswith(b"\r\n\r\n") or len(data) < _SHORT
