"""The wire format of protocol buffers, as far as needed for traces.

The protobuf library takes ten times as long for a packet, and a trace has one for every chunk of a run.
"""

from __future__ import annotations

import struct
from typing import Final

_VARINT: Final = 0
_FIXED64: Final = 1
_BYTES: Final = 2
_CONTINUES: Final = 0x80


def varint(value: int) -> bytes:
    """An unsigned integer, seven bits a byte, the lowest first."""
    encoded = bytearray()
    while value >= _CONTINUES:
        encoded.append(value & 0x7F | _CONTINUES)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def integer(field: int, value: int) -> bytes:
    """A field of a type such as uint64 or bool, or an enumeration: not negative."""
    return varint(field << 3 | _VARINT) + varint(value)


def double(field: int, value: float) -> bytes:
    """A field of type double."""
    return varint(field << 3 | _FIXED64) + struct.pack("<d", value)


def message(field: int, *parts: bytes) -> bytes:
    """A field that is a message, or bytes.

    Args:
        field: Its number.
        parts: The encoded fields of the message.
    """
    content = b"".join(parts)
    return varint(field << 3 | _BYTES) + varint(len(content)) + content


def text(field: int, value: str) -> bytes:
    """A field of type string; invalid Unicode becomes a question mark."""
    return message(field, value.encode("utf-8", "replace"))
