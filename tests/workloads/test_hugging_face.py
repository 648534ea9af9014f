"""Datasets of Hugging Face, from folders; the hub itself is not there in a test."""

from __future__ import annotations

import json
import sys
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from workloads.columns import Columns
from workloads.errors import SourceError
from workloads.hugging_face import load_hub, parse
from workloads.own_data import SCORERS
from workloads.question import Question
from workloads.question_loading import load
from workloads.sample import Sample
from workloads.task import Task
from workloads.workload import Inputs, Source, Workload

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The library, offline, with a cache of this test's own."""
    library = pytest.importorskip("datasets", reason="needs the extra hf, which `make test-hf` installs")
    hub = pytest.importorskip("huggingface_hub")
    monkeypatch.setattr(library.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for constants in (library.config, hub.constants):
        monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    return library


def saved(datasets: Any, folder: Path, rows: list[dict[str, Any]]) -> str:
    """Save rows as a dataset; return the reference."""
    datasets.Dataset.from_list(rows).save_to_disk(folder)
    return f"hf:{folder}"


@pytest.mark.parametrize(
    ("text", "name", "config", "split"),
    [
        ("hf:org/name", "org/name", None, None),
        ("hf:org/name:test", "org/name", None, "test"),
        ("hf:org/name:main:test", "org/name", "main", "test"),
        ("hf:org/name:main:test[:10]", "org/name", "main", "test[:10]"),
        ("hf:./folder", "./folder", None, None),
    ],
)
def test_references(text: str, name: str, config: str | None, split: str | None) -> None:
    """The last part is the split, the one before it the configuration."""
    reference = parse(text)
    assert (reference.name, reference.config, reference.split) == (name, config, split)


@pytest.mark.parametrize("text", ["hf:", "hf::test", "hf:name:", "hf:name:main:test:more"])
def test_no_reference(text: str) -> None:
    """What is not a reference is reported, with the forms that there are."""
    with pytest.raises(SourceError, match=r"hf:NAME:CONFIG:SPLIT"):
        parse(text)


def test_a_saved_dataset(datasets: Any, tmp_path: Path) -> None:
    """Rows are questions as those of files are; the checksum is that of their JSON."""
    rows: list[dict[str, Any]] = [{"question": "a", "kind": "x"}, {"question": "b", "kind": None}]
    read = load_hub(saved(datasets, tmp_path / "kept", rows), Columns(tags=("kind",)))
    assert (read.name, read.synthetic) == ("hf:kept", False)
    assert read.samples == (Sample(0, "a", tags={"kind": "x"}), Sample(1, "b"))
    canonical = (json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows)
    assert read.sha256 == sha256("".join(canonical).encode()).hexdigest()
    assert load_hub(saved(datasets, tmp_path / "again", rows)).sha256 == read.sha256


def test_a_saved_dataset_of_conversations(datasets: Any, tmp_path: Path) -> None:
    """Messages are read as in a file; images are bytes, not decoded."""
    chat = [{"role": "user", "content": "u"}, {"role": "assistant", "content": "a"}]
    rows = [{"messages": [*chat, chat[0]], "picture": b"\x89PNG"}]
    (sample,) = load_hub(saved(datasets, tmp_path / "kept", rows), take="all").samples
    assert len(sample.follow_ups) == 1


def test_a_folder_of_files(datasets: Any, tmp_path: Path) -> None:
    """Its files are splits: a named one is taken, else `train`; an unknown one is reported."""
    assert datasets is not None
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "train.jsonl").write_text('{"question": "a"}\n', encoding="utf-8")
    (folder / "test.jsonl").write_text('{"question": "b"}\n', encoding="utf-8")
    assert load_hub(f"hf:{folder}").samples == (Sample(0, "a"),)
    read = load_hub(f"hf:{folder}:test")
    assert read.samples == (Sample(0, "b"),)
    assert read.facts == {"config": None, "split": "test", "revision": None}
    with pytest.raises(SourceError, match=r"folder:tst: cannot be loaded \(Unknown split \"tst\""):
        load_hub(f"hf:{folder}:tst")


def test_kept_for_a_benchmark(datasets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows of a split are kept in the cache, and read from there when the dataset is gone."""
    assert datasets is not None
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    folder = tmp_path / "folder"
    folder.mkdir()
    rows = [{"question": "a", "choices": ["x", "y"]}, {"question": "b", "choices": []}]
    parquet.write_table(pa.Table.from_pylist(rows), folder / "test.parquet")
    source = Source(("test.parquet",), hub=str(folder), split="test", columns=("question", "choices"), rows=2)

    def asked(inputs: Inputs) -> Iterator[Question]:
        for index, row in enumerate(inputs.rows):
            yield Question(str(index), Sample(index, row["question"]), {"choices": row["choices"]})

    task = Task("quiz", Workload("quiz", "", 1, source, asked, SCORERS), {})
    read = load(task)
    assert [question.reference["choices"] for question in read.questions] == [["x", "y"], []]
    assert (list(read.facts["files"]), read.facts["rows"]) == (["rows.parquet"], 2)
    (folder / "test.parquet").unlink()
    assert load(task) == read


def test_several_splits(datasets: Any, tmp_path: Path) -> None:
    """Of several saved splits one must be named, unless one is called `train`."""
    part = datasets.Dataset.from_list([{"question": "a"}])
    datasets.DatasetDict({"easy": part, "hard": part}).save_to_disk(tmp_path / "both")
    with pytest.raises(SourceError, match=r"which split\? There are easy, hard"):
        load_hub(f"hf:{tmp_path / 'both'}")
    assert load_hub(f"hf:{tmp_path / 'both'}:hard").facts["split"] == "hard"


def test_a_hub_out_of_reach(datasets: Any) -> None:
    """One sentence, with the way out."""
    assert datasets is not None
    with pytest.raises(SourceError) as caught:
        load_hub("hf:org/name:main:test")
    assert str(caught.value) == (
        "hf:org/name:main:test: the hub of Hugging Face cannot be reached, and the dataset is not in this "
        "machine's cache; download it where there is a network, and name its folder: hf:./FOLDER"
    )


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(SourceError, match=r"pip install 'llm-loadgen\[hf\]'"):
        load_hub("hf:org/name")


def test_a_part_of_a_split(datasets: Any, tmp_path: Path) -> None:
    """A slice is taken as `datasets` has it; one without rows is reported."""
    assert datasets is not None
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "train.csv").write_text("question\na\nb\n", encoding="utf-8")
    assert len(load_hub(f"hf:{folder}:train[:1]").samples) == 1
    with pytest.raises(SourceError, match=r"train\[:0\]: .*no (data|rows)"):
        load_hub(f"hf:{folder}:train[:0]")
