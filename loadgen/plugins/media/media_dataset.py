"""Datasets with media: the media of each question, encoded ahead of the first request."""

from __future__ import annotations

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from random import Random
from secrets import randbelow
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, replace
from loadgen.driver.workers.launcher import usable_cpus
from loadgen.plugins.media.media_files import cell_media, files_in, stored_file
from loadgen.plugins.media.media_plan import kinds
from loadgen.plugins.media.media_sample import MediaSamples, part
from loadgen.plugins.media.media_store import MediaStore
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.concerns import set_flags
from loadgen.sessions.settings.prompt_options import MOST_TEXT_SEED
from workloads.conversation_sample import conversation_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from loadgen.plugins.media.media_plan import Made, MediaKind
    from loadgen.plugins.media.media_sample import Media
    from loadgen.sessions.settings.perf import PerfSettings
    from workloads.dataset import Dataset
    from workloads.sample import Sample

    Parts = Sequence[Sequence[dict[str, Any]]]
    """The parts with media of one sample, by user turn."""

PROTOCOLS: Final = ("chat", "responses", "messages")
"""The protocols with media: audio and video go with `chat` alone."""


@dataclass(slots=True)
class _Pool:
    """The media of one kind: planned first, made afterwards, then used by number."""

    kind: MediaKind
    files: list[Path]
    makers: list[Made]
    media: list[Media]

    def number(self, rng: Random, reuse: float) -> int:
        """The number of the next medium: a new one, or with the share `reuse` an earlier one."""
        if self.makers and rng.random() < reuse:
            return rng.randrange(len(self.makers))
        self.makers.append(self.kind.plan(rng) if not self.files else bytes)
        return len(self.makers) - 1


def with_media(dataset: Dataset, settings: PerfSettings, count: int) -> Dataset:
    """A dataset whose user turns have the media that options name.

    Args:
        dataset: The questions.
        settings: The options of media, of prompts and of the endpoint.
        count: How many questions a run in order asks.

    Raises:
        UsageError, WorkloadError: Media cannot be had; why.
    """
    protocol = settings.endpoint.protocol
    if protocol not in PROTOCOLS:
        options = " and ".join(set_flags(settings.media, "images", "audio", "videos", "media_column"))
        raise UsageError(f"{options}: needs --protocol {' or '.join(PROTOCOLS)}, not {protocol}")
    parts, store, facts = media_of_samples(dataset, settings, count)
    samples = MediaSamples(
        _untagged(dataset.samples, settings.media.media_column),
        parts,
        store=store,
        as_text=protocol == "messages",
    )
    return replace(dataset, samples=samples, facts={**dataset.facts, **facts})


def media_of_samples(
    dataset: Dataset, settings: PerfSettings, count: int, least: str | None = None
) -> tuple[list[Parts], MediaStore, dict[str, Any]]:
    """The media of the questions of a dataset.

    Args:
        dataset: The questions.
        settings: The options of media and of prompts.
        count: How many questions a run in order asks.
        least: How many audio clips a user turn has where no option asks for media.

    Returns:
        By question and user turn the parts with media, the store that holds them, and facts for the log.

    Raises:
        UsageError, WorkloadError: Media cannot be had; why.
    """
    media = settings.media
    _check(dataset, settings)
    store = MediaStore()
    in_order = settings.prompts.order == "in-order" and not media.media_column
    asked = dataset.samples[: min(count, len(dataset.samples))] if in_order else dataset.samples
    seed = settings.prompts.text_seed if media.media_seed is None else media.media_seed
    seed = randbelow(MOST_TEXT_SEED) if seed is None else seed
    rng = Random(f"media {seed}")  # noqa: S311 (no secret depends on it)
    wanted = media if media.is_wanted else replace(media, audio=least)
    pools = [_Pool(kind, _files(kind, media.media_folder, rng), [], []) for kind in kinds(wanted)]
    numbers = [_numbers(pools, sample, rng, media.media_reuse) for sample in asked]
    _fill(pools, store, media.media_memory)
    columns = list(_columns(asked, settings, store))
    store.flush()
    parts = [_joined(turns, own) for turns, own in zip(map(_resolver(pools), numbers), columns, strict=True)]
    findings = [_repeated(pool) for pool in pools if len(pool.media) < len(pool.makers)]
    facts = {"seed": seed, "unique": len(store), "bytes": store.bytes, **_facts(pools)}
    return parts, store, {"media": facts, "findings": findings}


def _check(dataset: Dataset, settings: PerfSettings) -> None:
    """Raise `UsageError` where prompts have no place for media."""
    media = settings.media
    if dataset.session_kind or settings.tasks.task or settings.cluster.ray is not None:
        raise UsageError("images, audio and video: not with benchmarks, session trees or --ray")
    if media.media_column and settings.prompts.prompts is None:
        raise UsageError("--media-column applies to the rows of a file or dataset: give --prompts")
    if dataset.samples[0].token_ids is not None:
        raise UsageError("prompts of token ids have no place for media; name a column of texts")


def _files(kind: MediaKind, folder: Path | None, rng: Random) -> list[Path]:
    if folder is None:
        return []
    files = files_in(folder, kind.name, kind.option)
    rng.shuffle(files)
    return files


def _numbers(pools: list[_Pool], sample: Sample, rng: Random, reuse: float) -> list[list[tuple[int, int]]]:
    """The media of a sample by user turn: the place of the pool, and the number in the pool."""
    return [
        [
            (place, pool.number(rng, reuse))
            for place, pool in enumerate(pools)
            for _ in range(pool.kind.count(rng))
        ]
        for _ in range(1 + len(conversation_of(sample).follow_ups))
    ]


def _fill(pools: list[_Pool], store: MediaStore, most_bytes: int) -> None:
    """Make what is planned, on all CPUs, up to a number of bytes."""
    with ThreadPoolExecutor(usable_cpus()) as threads:
        for pool in pools:
            pool.media += [stored_file(store, path) for path in pool.files[: len(pool.makers)]]
            made = iter(() if pool.files else pool.makers)
            while (store.bytes < most_bytes or not pool.media) and (
                batch := list(islice(made, usable_cpus()))
            ):
                pool.media += [
                    store.add(encoded, pool.kind.mime) for encoded in threads.map(lambda make: make(), batch)
                ]


def _resolver(pools: list[_Pool]) -> Any:
    def resolved(turns: list[list[tuple[int, int]]]) -> Parts:
        return [
            [
                part(pools[place].kind.name, pools[place].media[number % len(pools[place].media)])
                for place, number in turn
            ]
            for turn in turns
        ]

    return resolved


def _columns(
    samples: Sequence[Sample], settings: PerfSettings, store: MediaStore
) -> Iterator[list[dict[str, Any]]]:
    """The parts of each sample's columns of media."""
    folder = Path(settings.prompts.prompts or "").parent
    for sample in samples:
        cells = [(column, sample.tags.get(column, "")) for column in settings.media.media_column]
        yield [
            part(kind, medium)
            for column, text in cells
            if text
            for kind, medium in cell_media(text, f"row {sample.index + 1}, column {column!r}", folder, store)
        ]
        if cells and store.bytes > settings.media.media_memory:
            raise UsageError(
                f"--media-column: the media up to row {sample.index + 1} take more than --media-memory "
                f"{settings.media.media_memory} bytes; raise the limit or give fewer rows"
            )


def _joined(turns: Parts, own: list[dict[str, Any]]) -> Parts:
    first, *later = turns
    return [[*own, *first], *later]


def _untagged(samples: Sequence[Sample], columns: Sequence[str]) -> Sequence[Sample]:
    """The samples without the tags that hold media."""
    if not columns:
        return samples
    return [
        replace(sample, tags={name: value for name, value in sample.tags.items() if name not in columns})
        for sample in samples
    ]


def _repeated(pool: _Pool) -> dict[str, Any]:
    """The finding on media of which there are fewer than planned."""
    unique, wanted, name = len(pool.media), len(pool.makers), pool.kind.name
    return {
        "code": "media_repeated",
        "severity": "warning",
        "message": f"{wanted:,} different media ({name}) were planned and {unique:,} are repeated; a cache "
        "of media makes TTFT shorter.",
        "remedy": "Put more files into --media-folder."
        if pool.files
        else "Give a larger --media-memory, fewer requests, or smaller media.",
    }


def _facts(pools: list[_Pool]) -> dict[str, Any]:
    """For the log: by kind, how many media were planned and how many there are."""
    planned: dict[str, Any] = defaultdict(dict)
    for pool in pools:
        planned[pool.kind.name] = {"planned": len(pool.makers), "made": len(pool.media)}
    return dict(planned)
