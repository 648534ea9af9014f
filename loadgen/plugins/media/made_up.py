"""Made-up media: images with the detail of photographs, audio with the rhythm of speech, moving videos."""

from __future__ import annotations

import wave
from array import array
from functools import cache
from io import BytesIO
from math import pi, sin
from random import Random
from typing import TYPE_CHECKING, Final

from loadgen.sessions.extra_packages import importing

if TYPE_CHECKING:
    from PIL.Image import Image

SAMPLE_RATE: Final = 16_000
"""Samples a second of audio: what speech models take."""

FRAMES_A_SECOND: Final = 4

_COARSE: Final = 16
_NOISE_PART: Final = 16
_MARGIN: Final = 64
_QUALITY: Final = 85
_SYLLABLES: Final = 64
_SYLLABLE: Final = SAMPLE_RATE // 5


def image(seed: int, width: int, height: int, form: str) -> bytes:
    """Encode an image: coarse random colours with fine noise, about 0.2 bytes a pixel as JPEG.

    Args:
        seed: The seed of the pixels.
        width: In pixels.
        height: In pixels.
        form: `jpeg` or `png`.
    """
    encoded = BytesIO()
    pixels(Random(seed), width, height).save(encoded, form.upper(), quality=_QUALITY, compress_level=1)  # noqa: S311
    return encoded.getvalue()


def pixels(rng: Random, width: int, height: int) -> Image:
    """An image that no other seed has."""
    with importing("--images", "media"):
        from PIL import Image, ImageChops
    coarse = (width // _COARSE + 2, height // _COARSE + 2)
    colours = Image.frombytes("RGB", coarse, rng.randbytes(3 * coarse[0] * coarse[1]))
    left, top = rng.randrange(_MARGIN), rng.randrange(_MARGIN)
    noise = _noise(width, height).crop((left, top, left + width, top + height))
    return ImageChops.add(colours.resize((width, height), Image.Resampling.BICUBIC), noise, offset=-128)


@cache
def _noise(width: int, height: int) -> Image:
    """The noise of a size, of which images have different cuts."""
    from PIL import Image

    size = (width + _MARGIN, height + _MARGIN)
    even = Image.frombytes("L", size, Random(0).randbytes(size[0] * size[1]))  # noqa: S311
    return even.point([128 + (value - 128) // _NOISE_PART for value in range(256)]).convert("RGB")


def audio(seed: int, seconds: float, form: str) -> bytes:
    """Encode a clip of mono audio, 16 bits at 16 kHz.

    Args:
        seed: The seed of the sound.
        seconds: The length.
        form: `wav` or `mp3`.
    """
    sound = speech(Random(seed), seconds)  # noqa: S311
    if form == "mp3":
        return _mp3(sound)
    encoded = BytesIO()
    with wave.open(encoded, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE)
        file.writeframes(sound)
    return encoded.getvalue()


def speech(rng: Random, seconds: float) -> bytes:
    """Samples of 16 bits: syllables in random order."""
    count = max(1, round(seconds * SAMPLE_RATE))
    syllables = _syllables()
    parts = (rng.choice(syllables) for _ in range(count // _SYLLABLE + 1))
    return b"".join(parts)[: 2 * count]


@cache
def _syllables() -> tuple[bytes, ...]:
    """Tones of the pitch of voices, with overtones, that swell and fade."""
    return tuple(_syllable(90 + 3 * number) for number in range(_SYLLABLES))


def _syllable(hertz: int) -> bytes:
    step = 2 * pi * hertz / SAMPLE_RATE
    return array(
        "h",
        (
            round(6000 * sin(pi * number / _SYLLABLE) * (sin(step * number) + sin(3 * step * number) / 2))
            for number in range(_SYLLABLE)
        ),
    ).tobytes()


def _mp3(sound: bytes) -> bytes:
    with importing("--audio-format mp3", "media"):
        import av
    encoded = BytesIO()
    with av.open(encoded, "w", format="mp3") as file:
        stream = file.add_stream("mp3", rate=SAMPLE_RATE, layout="mono")
        frame = av.AudioFrame(format="s16", layout="mono", samples=len(sound) // 2)
        frame.sample_rate = SAMPLE_RATE
        frame.planes[0].update(sound.ljust(frame.planes[0].buffer_size, b"\0"))
        resampler = av.AudioResampler("s16p", "mono", SAMPLE_RATE, frame_size=stream.codec_context.frame_size)
        for piece in (*resampler.resample(frame), *resampler.resample(None)):
            file.mux(stream.encode(piece))
        file.mux(stream.encode(None))
    return encoded.getvalue()


def video(seed: int, seconds: float, width: int, height: int) -> bytes:
    """Encode a video: H.264 in MP4, 4 frames a second, each a shifted cut of one image.

    Args:
        seed: The seed of the pixels.
        seconds: The length.
        width: In pixels, made even.
        height: In pixels, made even.
    """
    with importing("--videos", "media"):
        import av
    width, height, frames = width & ~1, height & ~1, max(1, round(seconds * FRAMES_A_SECOND))
    scene = pixels(Random(seed), width + frames, height)  # noqa: S311
    encoded = BytesIO()
    with av.open(encoded, "w", format="mp4") as file:
        stream = file.add_stream(
            "libx264", rate=FRAMES_A_SECOND, options={"preset": "ultrafast", "threads": "1"}
        )
        stream.width, stream.height, stream.pix_fmt = width, height, "yuv420p"
        for number in range(frames):
            frame = av.VideoFrame.from_image(scene.crop((number, 0, number + width, height)))
            file.mux(stream.encode(frame))
        file.mux(stream.encode(None))
    return encoded.getvalue()
