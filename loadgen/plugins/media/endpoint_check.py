"""The media that an endpoint takes in chat: a small image, and a short recording."""

from __future__ import annotations

import struct
import zlib
from base64 import b64encode
from typing import TYPE_CHECKING, Any, Final

import orjson

from loadgen.plugins.media.made_up import audio

if TYPE_CHECKING:
    from collections.abc import Mapping

    from loadgen.driver.checked_endpoint import CheckedEndpoint

_SIDE: Final = 64
_MAX_TOKENS: Final = 8
_OK: Final = 200


def _png() -> bytes:
    """A grey image."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        checked = kind + data
        return struct.pack(">I", len(data)) + checked + struct.pack(">I", zlib.crc32(checked))

    head = struct.pack(">IIBBBBB", _SIDE, _SIDE, 8, 2, 0, 0, 0)
    rows = (b"\0" + b"\x80" * 3 * _SIDE) * _SIDE
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    )


def _parts() -> Mapping[str, dict[str, Any]]:
    image = f"data:image/png;base64,{b64encode(_png()).decode()}"
    recording = {"data": b64encode(audio(1, 1.0, "wav")).decode(), "format": "wav"}
    return {
        "--images 1": {"type": "image_url", "image_url": {"url": image}},
        "--audio 1": {"type": "input_audio", "input_audio": recording},
    }


async def media_check(endpoint: CheckedEndpoint) -> tuple[bool, str]:
    """Ask about an image and a recording.

    Returns:
        True, and the options of a run for what is taken.
    """
    if endpoint.protocol != "chat":
        return True, "not tried: --protocol chat has media"
    taken: list[str] = []
    refused: list[str] = []
    for option, part in _parts().items():
        content = [{"type": "text", "text": "Describe this."}, part]
        body = {
            "model": endpoint.generation.model,
            "messages": [{"role": "user", "content": content}],
            "max_tokens": _MAX_TOKENS,
        }
        status = await endpoint.status_of(endpoint.codec.path, orjson.dumps(body))
        (taken if status == _OK else refused).append(option)
    nothing = f"; not {', '.join(refused)}" if refused else ""
    return True, f"takes {', '.join(taken) or 'no media'}{nothing}"
