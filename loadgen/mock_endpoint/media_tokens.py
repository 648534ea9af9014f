"""The tokens of media in a request: one per patch of 28 pixels, 25 per second of audio, 256 per video."""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections import Counter
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable

PATCH: Final = 28
AUDIO_BYTES_A_TOKEN: Final = 16_000 * 2 // 25
VIDEO_TOKENS: Final = 256

_HEAD: Final = 4 * 1024
"""Characters of base64 that have the size of an image as Pillow writes it: a multiple of 4."""
_FRAMES: Final = frozenset({0xC0, 0xC1, 0xC2})


def media_tokens(parts: Iterable[Any]) -> tuple[tuple[str, int], ...]:
    """The tokens of the parts of messages by name, as `prompt_tokens_details` has them; without zeros."""
    counts: Counter[str] = Counter()
    for part in parts:
        match part:
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                counts["image_tokens"] += _image_tokens(url)
            case {"type": "input_audio", "input_audio": {"data": str(data)}}:
                counts["audio_tokens"] += -(-len(data) * 3 // 4 // AUDIO_BYTES_A_TOKEN)
            case {"type": "video_url"}:
                counts["video_tokens"] += VIDEO_TOKENS
    return tuple(counts.items())


def _image_tokens(url: str) -> int:
    """The patches of an embedded JPEG or PNG; one token for any other image."""
    _, _, data = url.partition(";base64,")
    try:
        head = b64decode(data[:_HEAD])
    except binascii.Error:
        return 1
    width, height = _size(head)
    return -(-width // PATCH) * -(-height // PATCH)


def _size(head: bytes) -> tuple[int, int]:
    if head.startswith(b"\x89PNG"):
        return int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
    place = 2
    while head.startswith(b"\xff\xd8") and place + 9 <= len(head):
        if head[place + 1] in _FRAMES:
            return int.from_bytes(head[place + 7 : place + 9]), int.from_bytes(head[place + 5 : place + 7])
        place += 2 + int.from_bytes(head[place + 2 : place + 4])
    return 1, 1
