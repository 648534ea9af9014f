"""The length of audio by its bytes: WAV by its header, MP3 by the bit rate of its first frame, else PCM."""

from __future__ import annotations

from typing import Final

PCM_BYTES_A_SECOND: Final = 2 * 24_000
"""Bytes a second of `response_format: pcm`: mono, 16 bits, 24 kHz."""

_MP3_KBITS: Final = {
    1: (0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320),
    2: (0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160),
}
"""The bit rates of layer III by index: of MPEG 1, and of MPEG 2 and 2.5 (ISO/IEC 11172-3, 13818-3)."""

_SCANNED: Final = 16 * 1024
_SYNC_BYTE: Final = b"\xff"
_SYNC, _LAYER_3, _MPEG_1 = 0xE6, 0xE2, 0x18
_FACTS_WITHIN: Final = 64


def audio_start(data: bytes) -> tuple[int, float | None]:
    """Where audio begins, and how many bytes a second of it takes.

    Args:
        data: The audio from its first byte, the header of a WAV complete.

    Returns:
        The bytes before the audio, and the bytes a second; None for an unknown format.
    """
    if data.startswith(b"RIFF"):
        place = data.find(b"data", 12)
        return (0, None) if place < 0 else (place + 8, float(int.from_bytes(data[28:32], "little")))
    if data.startswith((b"OggS", b"fLaC")):
        return 0, None
    if data.startswith(b"ID3") or data[:1] == b"\xff":
        return _mp3(data[:_SCANNED])
    return 0, float(PCM_BYTES_A_SECOND)


def audio_seconds(data: bytes) -> float | None:
    """The length of audio in s; None for an unknown format."""
    start, rate = audio_start(data)
    return max(0, len(data) - start) / rate if rate else None


def _mp3(data: bytes) -> tuple[int, float | None]:
    start = 0
    if data.startswith(b"ID3"):
        start = 10 + sum((data[6 + byte] & 0x7F) << (21 - 7 * byte) for byte in range(4))
    for place in range(start, len(data) - 3):
        if (rate := _frame_rate(data, place)) is None:
            continue
        # A frame of LAME's with facts on the file has its own bit rate.
        has_facts = any(name in data[place : place + _FACTS_WITHIN] for name in (b"Xing", b"Info"))
        return place, _frame_rate(data, _next_frame(data, place)) or rate if has_facts else rate
    return start, None


def _frame_rate(data: bytes, place: int) -> float | None:
    """The bytes a second of the frame at a place; None where no frame begins there."""
    if data[place : place + 1] != _SYNC_BYTE or data[place + 1] & _SYNC != _LAYER_3:
        return None
    version = 1 if data[place + 1] & _MPEG_1 == _MPEG_1 else 2
    index = data[place + 2] >> 4
    return _MP3_KBITS[version][index] * 1000 / 8 if 0 < index < len(_MP3_KBITS[1]) else None


def _next_frame(data: bytes, place: int) -> int:
    """The next place with the first two bytes of a frame."""
    return max(place, data.find(data[place : place + 2], place + 4))
