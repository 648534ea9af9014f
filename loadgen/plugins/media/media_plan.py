"""From options to plans: how many media a user turn has, and of which sizes and lengths."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.media import made_up
from workloads.distribution_notation import amount
from workloads.errors import DistributionError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from random import Random

    from loadgen.sessions.settings.prompt_options import MediaSettings
    from workloads.distributions import LengthDistribution

    Made = Callable[[], bytes]

MOST_MEDIA: Final = 255
"""The most media of a kind in a user turn."""

MOST_PIXELS: Final = 16_384
"""The largest width and height, in pixels."""

MOST_SECONDS: Final = 3_600.0

_NAMED: Final[Mapping[str, str]] = {
    "360p": "640x360",
    "480p": "854x480",
    "720p": "1280x720",
    "1080p": "1920x1080",
    "4k": "3840x2160",
}
_WEIGHTED: Final = re.compile(r"([^=]+)=(\d+(?:\.\d+)?)(?:,|$)")
_OPTIONS: Final = {"image": "--images", "audio": "--audio", "video": "--videos"}


@dataclass(frozen=True, slots=True)
class MediaKind:
    """One kind of media.

    Attributes:
        name: `image`, `audio` or `video`.
        option: The option that asks for it.
        counts: The media of a user turn, before rounding.
        mime: The media type of those that are made up.
        plan: Draws the size and length of one, and returns what makes it.
    """

    name: str
    option: str
    counts: LengthDistribution
    mime: str
    plan: Callable[[Random], Made]

    def count(self, rng: Random) -> int:
        """Draw the number of media of a user turn."""
        return min(max(0, round(self.counts(rng))), MOST_MEDIA)


def kinds(media: MediaSettings) -> list[MediaKind]:
    """The kinds of media that options ask for.

    Raises:
        DistributionError: A number, size or length cannot be read.
    """
    counts = {"image": media.images, "audio": media.audio, "video": media.videos}
    wanted = {name: spec for name, spec in counts.items() if spec is not None}
    return [_kind(name, spec, media) for name, spec in wanted.items()]


def _kind(name: str, spec: str, media: MediaSettings) -> MediaKind:
    make = partial(MediaKind, name, _OPTIONS[name], _amount(_OPTIONS[name], spec, whole=True))
    if name == "image":
        size, encoding = sizes("--image-size", media.image_size), media.image_format
        return make(f"image/{encoding}", lambda rng: partial(made_up.image, _seed(rng), *size(rng), encoding))
    if name == "audio":
        seconds, form = _seconds("--audio-seconds", media.audio_seconds), media.audio_format
        return make(f"audio/{form}", lambda rng: partial(made_up.audio, _seed(rng), seconds(rng), form))
    size, seconds = sizes("--video-size", media.video_size), _seconds("--video-seconds", media.video_seconds)
    return make("video/mp4", lambda rng: partial(made_up.video, _seed(rng), seconds(rng), *size(rng)))


def sizes(option: str, spec: str) -> Callable[[Random], tuple[int, int]]:
    """Read sizes: a name, `WIDTHxHEIGHT` of numbers or distributions, or several with weights.

    Raises:
        DistributionError: The text cannot be read; the message says what can.
    """
    weighted = _WEIGHTED.findall(spec) if "=" in spec else [(spec, "1")]
    if "=" in spec and ",".join(f"{size}={weight}" for size, weight in weighted) != spec:
        raise DistributionError(f"{option} {spec!r}: write sizes with weights as 720p=3,4k=1")
    shapes = [_size(option, size) for size, _ in weighted]
    weights = [float(weight) for _, weight in weighted]
    if not any(weights):
        raise DistributionError(f"{option} {spec!r}: all weights are 0")

    def draw(rng: Random) -> tuple[int, int]:
        width, height = rng.choices(shapes, weights)[0]
        return _pixels(width(rng)), _pixels(height(rng))

    return draw


def _size(option: str, spec: str) -> tuple[LengthDistribution, LengthDistribution]:
    # `x` is in the name of a distribution, too.
    sides = re.split(r"(?<=\d)x", _NAMED.get(spec.strip().lower(), spec.strip()), maxsplit=1)
    if len(sides) != 2:  # noqa: PLR2004 (width and height)
        raise DistributionError(
            f"{option} {spec!r}: write {', '.join(_NAMED)}, or WIDTHxHEIGHT such as 1024x768 or "
            "uniform:256..1024xuniform:256..1024"
        )
    width, height = (_amount(option, side, whole=True) for side in sides)
    return width, height


def _pixels(drawn: float) -> int:
    return min(max(2, round(drawn)), MOST_PIXELS)


def _seconds(option: str, spec: str) -> Callable[[Random], float]:
    shape = _amount(option, spec, whole=False)
    return lambda rng: min(max(0.1, shape(rng)), MOST_SECONDS)


def _amount(option: str, spec: str, *, whole: bool) -> LengthDistribution:
    try:
        return amount(spec, whole=whole)
    except DistributionError as error:
        raise DistributionError(f"{option} {error}") from error


def _seed(rng: Random) -> int:
    return rng.getrandbits(64)
