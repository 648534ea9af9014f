"""The options of images, audio and video in prompts."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.kinds import Share, Size
from loadgen.sessions.settings.option import Panel

MEDIA: Final = Panel("Images, audio and video")


@dataclass(frozen=True, kw_only=True, slots=True)
class MediaSettings:
    """The options of media in prompts, one per field."""

    images: str | None = MEDIA.option(
        "Images in each user turn: a number or a distribution, such as uniform:0..4.", metavar="DISTRIBUTION"
    )
    image_size: str = MEDIA.option(
        "Size of the images: 360p, 720p, 1080p, 4k, WIDTHxHEIGHT of numbers or distributions, or several "
        "with weights: 720p=3,4k=1.",
        "720p",
        metavar="SIZE",
    )
    image_format: Literal["jpeg", "png"] = MEDIA.option("Format of the images.", "jpeg")
    audio: str | None = MEDIA.option("Audio clips in each user turn.", metavar="DISTRIBUTION")
    audio_seconds: str = MEDIA.option("Length of audio clips in seconds.", "10", metavar="DISTRIBUTION")
    audio_format: Literal["wav", "mp3"] = MEDIA.option("Format of audio clips, mono at 16 kHz.", "wav")
    videos: str | None = MEDIA.option("Videos in each user turn.", metavar="DISTRIBUTION")
    video_seconds: str = MEDIA.option("Length of videos in seconds.", "5", metavar="DISTRIBUTION")
    video_size: str = MEDIA.option("Size of videos: see --image-size.", "360p", metavar="SIZE")
    media_folder: Path | None = MEDIA.option(
        "Folder of image, audio and video files to send in place of made-up ones, in random order."
    )
    media_column: list[str] = MEDIA.option(
        "Column of --prompts with the media of a row: a file, a URL or a list of them; repeatable.",
        [],
        metavar="NAME",
    )
    media_reuse: Share = MEDIA.option("Share of images, clips and videos that repeat an earlier one.", 0.0)
    media_seed: int | None = MEDIA.option("Seed of made-up media. Default: --text-seed, or drawn.")
    media_memory: Size = MEDIA.option(
        "Bytes of encoded media to make ahead; once as many are made, they repeat.", 1_073_741_824
    )

    def __post_init__(self) -> None:
        if not self.is_wanted and (others := set_flags(self, *self.__slots__)):
            raise UsageError(f"{' and '.join(others)}: give --images, --audio or --videos as well")

    @property
    def is_wanted(self) -> bool:
        """Whether prompts have media."""
        return bool(self.media_column or self.images or self.audio or self.videos)
