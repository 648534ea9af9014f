"""Recordings to transcribe: made up, from a folder, or from a column of a dataset."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from loadgen.plugins.media.media_dataset import media_of_samples
from loadgen.plugins.speech.audio_length import audio_seconds
from loadgen.plugins.speech.spoken_sample import SpokenSample
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.plugins.media.media_store import MediaStore
    from loadgen.sessions.settings.perf import PerfSettings
    from workloads.dataset import Dataset
    from workloads.sample import Sample


class SpokenSamples(list[SpokenSample]):
    """Recordings, with the store that holds them."""

    __slots__ = ("store",)
    store: MediaStore

    def __reduce__(self) -> Any:
        """The recordings for another process of this machine, where the store has the same place."""
        return list, (list(self),)


def spoken_dataset(dataset: Dataset, settings: PerfSettings, count: int) -> Dataset:
    """A dataset that asks a recording for each question of another one.

    Args:
        dataset: The questions, whose texts are left out.
        settings: The options of media.
        count: How many questions a run in order asks.

    Raises:
        UsageError, WorkloadError: Recordings cannot be had; why.
    """
    if settings.media.images is not None or settings.media.videos is not None:
        raise UsageError(
            f"--protocol {settings.endpoint.protocol} takes audio: leave --images and --videos out"
        )
    parts, store, facts = media_of_samples(dataset, settings, count, "1")
    samples = SpokenSamples(_spoken(dataset.samples, parts))
    samples.store = store
    return replace(dataset, samples=samples, facts={**dataset.facts, **facts})


def texts_without_tokens(dataset: Dataset, settings: PerfSettings, count: int) -> Dataset:
    """A dataset of texts whose answers have no tokens: audio or images.

    Raises:
        UsageError: Options ask for media in prompts.
    """
    del count
    if settings.media.is_wanted:
        raise UsageError(
            f"--protocol {settings.endpoint.protocol} takes texts: leave images, audio and videos out"
        )
    return replace(dataset, facts={**dataset.facts, "without_tokens": True})


def _spoken(samples: Sequence[Sample], parts: Sequence[Any]) -> Iterator[SpokenSample]:
    lengths: dict[str, float | None] = {}
    for number, (first, *_) in enumerate(parts):
        recording = next((part["input_audio"]["data"] for part in first if "input_audio" in part), None)
        if recording is None:
            raise UsageError(f"row {number + 1}: no audio to transcribe; name its column with --media-column")
        sample = SpokenSample(
            index=number,
            prompt=samples[number].prompt,
            tags=samples[number].tags,
            recording=recording,
            seconds=None,
        )
        if recording.digest not in lengths:
            lengths[recording.digest] = audio_seconds(sample.audio())
        yield replace(sample, seconds=lengths[recording.digest])
