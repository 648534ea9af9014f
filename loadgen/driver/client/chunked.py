"""Properties of a chunked response's read (RFC 9112, section 7.1) before parsing."""

from __future__ import annotations

from typing import Final

_SHORT: Final = 4
"""A read of fewer bytes can hold a part of the end that does not look like it."""


def may_end(data: bytes) -> bool:
    """Whether a read can contain the end of a chunked response: the last chunk, or the final blank line."""
    last_chunk = data.startswith(b"0\r\n") or b"\r\n0\r\n" in data
    return last_chunk or data.endswith(b"\r\n\r\n") or len(data) < _SHORT
