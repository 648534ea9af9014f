"""What a read of a chunked response (RFC 9112, section 7.1) shows before it is parsed."""

from __future__ import annotations

from typing import Final

_SHORT: Final = 4
"""A read of fewer bytes can hold a part of the end that does not look like it."""


def may_end(data: bytes) -> bool:
    """Whether the end of a chunked response can be in a read: its last chunk, or the blank line after it."""
    last_chunk = data.startswith(b"0\r\n") or b"\r\n0\r\n" in data
    return last_chunk or data.endswith(b"\r\n\r\n") or len(data) < _SHORT
