"""Datasets of Hugging Face: on the hub, in the hub's local cache, or in a folder.

    hf:openai/gsm8k:main:test    the split `test` of the configuration `main`
    hf:HuggingFaceH4/ultrachat_200k:train_sft[:1000]
    hf:./folder                  files that `datasets.load_dataset` reads, or what `save_to_disk` has written

Without a split the only one is taken, else the one called `train`. The checksum is that of the rows: each as
JSON with its members in the order of their names, a newline after each.
"""

from __future__ import annotations

import logging
import re
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, replace
from workloads.columns import Columns
from workloads.errors import SourceError
from workloads.prompts import read_questions
from workloads.sources import MOST_BYTES, FileRow

if TYPE_CHECKING:
    from collections.abc import Iterator

    from workloads.conversations import Take
    from workloads.dataset import Dataset

PREFIX: Final = "hf:"

_BATCH_ROWS: Final = 1024
_MOST_PARTS: Final = 3
_SAVED: Final = ("state.json", "dataset_dict.json")
_REVISION: Final = re.compile(r"@([0-9a-f]{40})/")
_COLON: Final = re.compile(r":(?![^\[]*\])")
_LONGEST: Final = 300


@dataclass(frozen=True, slots=True)
class Reference:
    """The parts of `hf:NAME[:[CONFIG:]SPLIT]`."""

    text: str
    name: str
    config: str | None = None  #: one of its configurations; None for the only one
    split: str | None = None  #: one of its splits; None for the only one, or `train`
    revision: str | None = None  #: one of its commits; None for the newest
    instead: str = "download it where there is a network, and name its folder: hf:./FOLDER"


def parse(text: str) -> Reference:
    """Read a reference; raise `SourceError` for anything else."""
    name, *parts = _COLON.split(text.removeprefix(PREFIX))
    if not name or len(parts) >= _MOST_PARTS or (parts and not parts[-1]):
        raise SourceError(f"{text}: no dataset; write hf:NAME, hf:NAME:SPLIT or hf:NAME:CONFIG:SPLIT")
    config, split = (None, *parts)[-2:] if parts else (None, None)
    return Reference(text, name, config or None, split)


def load_hub(
    text: str,
    columns: Columns = Columns(),  # noqa: B008 (a frozen value)
    take: Take | None = None,
    *,
    strict: bool = False,
) -> Dataset:
    """Read the questions of a dataset; raise `SourceError` where unavailable, or as `load_prompts`."""
    reference = parse(text)
    dataset, split = _one_split(reference, _load(reference))
    digest = sha256()
    rows = _rows(reference, dataset, digest)
    if not len(dataset):
        raise SourceError(f"{text}: there are no rows in the split {split}")
    local = Path(reference.name).is_dir()
    name = f"{PREFIX}{Path(reference.name).name if local else reference.name}"
    read = read_questions(name, rows, columns, take, digest.hexdigest, strict=strict)
    facts = {"config": reference.config, "split": split, "revision": _revision(dataset)}
    return replace(read, facts={**read.facts, **facts})


def save(reference: Reference, path: Path) -> str | None:
    """Write the rows of a dataset to a Parquet file; return the commit, if known. Raises as `load_hub`."""
    from pyarrow import parquet

    dataset, split = _one_split(reference, _load(reference))
    if not len(dataset):
        raise SourceError(f"{reference.text}: there are no rows in the split {split}")
    tables = dataset.with_format("arrow").iter(_BATCH_ROWS)
    first = next(tables)
    with parquet.ParquetWriter(path, first.schema) as file:
        for table in chain([first], tables):
            file.write_table(table)
    return reference.revision or _revision(dataset)


def _load(reference: Reference) -> Any:
    """The loaded data: a dataset, or several by split."""
    try:
        import datasets
    except ImportError as error:
        raise SourceError(
            f"{reference.text}: Hugging Face datasets require an extra: "
            f"pip install 'llm-loadgen[hf]'; or {reference.instead}"
        ) from error
    _quieten(datasets)
    folder = Path(reference.name)
    try:
        if any((folder / saved).is_file() for saved in _SAVED):
            return datasets.load_from_disk(reference.name)
        return datasets.load_dataset(
            reference.name, reference.config, split=reference.split, revision=reference.revision
        )
    except ConnectionError as error:
        raise SourceError(
            f"{reference.text}: the hub of Hugging Face cannot be reached, and the dataset is not in this "
            f"machine's cache; {reference.instead}"
        ) from error
    except datasets.exceptions.DatasetNotFoundError as error:
        raise SourceError(
            f"{reference.text}: the dataset does not exist, or is not public; look the name up, "
            f"and log in with `hf auth login` if it needs that; or {reference.instead}"
        ) from error
    except Exception as error:
        reason = " ".join(str(error.__cause__ or error).split())[:_LONGEST] or type(error).__name__
        raise SourceError(f"{reference.text}: cannot be loaded ({reason}); {reference.instead}") from error


def _quieten(datasets: Any) -> None:
    """Silence progress bars and retry messages: an error is reported once."""
    datasets.disable_progress_bars()
    logging.getLogger("huggingface_hub").setLevel(logging.ERROR)


def _one_split(reference: Reference, loaded: Any) -> tuple[Any, str]:
    """The chosen split, and the split's name."""
    if not isinstance(loaded, dict):
        split = str(loaded.split)
        if reference.split not in (None, split):
            raise SourceError(f"{reference.text}: there is no split {reference.split}, but {split}")
        return loaded, split
    names = list(loaded)
    split = reference.split or (names[0] if len(names) == 1 else "train")
    if split not in loaded:
        raise SourceError(
            f"{reference.text}: which split? There are {', '.join(names)}; name one, as in "
            f"{PREFIX}{reference.name}:{names[0]}"
        )
    return loaded[split], split


def _rows(reference: Reference, dataset: Any, digest: Any) -> Iterator[FileRow]:
    """The stored rows: images and sounds as bytes, not decoded."""
    number = size = 0
    for table in dataset.with_format("arrow").iter(_BATCH_ROWS):
        if (size := size + table.nbytes) > MOST_BYTES:
            raise SourceError(f"{reference.text}: more than {MOST_BYTES} bytes; name a smaller split of it")
        for value in table.to_pylist():
            number += 1
            digest.update(orjson.dumps(value, _as_json, orjson.OPT_SORT_KEYS) + b"\n")
            yield FileRow(f"{reference.text}, row {number}", value)


def _as_json(value: object) -> str:
    """A text for values that JSON lacks, for the checksum."""
    return sha256(value).hexdigest() if isinstance(value, bytes) else str(value)


def _revision(dataset: Any) -> str | None:
    """The commit that the files of a dataset are of, where the hub says."""
    downloaded = dataset.info.download_checksums or {}
    commits = (_REVISION.search(str(url)) for url in downloaded)
    return next((commit[1] for commit in commits if commit), None)
