"""A question that is a recording."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Any

from lazy_dataclasses import dataclass
from workloads.sample import Sample

if TYPE_CHECKING:
    from loadgen.plugins.media.media_store import StoredMedia


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenSample(Sample):
    """A recording to transcribe.

    Attributes:
        recording: The encoded audio.
        seconds: The length of the audio; None for an unknown format.
    """

    recording: StoredMedia
    seconds: float | None

    def audio(self) -> bytes:
        """The encoded audio."""
        return b64decode(self.recording.quoted()[1:-1])

    def content(self) -> list[Any]:
        """Everything that is asked, for a checksum."""
        return [self.recording.reference]
