"""What a row says in addition to its question: token ids, lengths of answers, weights and tags."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

from tests import golden
from workloads.columns import TOKEN_COLUMNS, Columns
from workloads.errors import WorkloadError
from workloads.prompts import load_prompts
from workloads.sample import Sample


@pytest.mark.parametrize("column", TOKEN_COLUMNS)
def test_tokens_are_found(tmp_path: Path, column: str) -> None:
    """Lists of whole numbers under a usual name are prompts as tokens."""
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"id": 1, column: [1, 0, 151_643]}), encoding="utf-8")
    assert load_prompts(file).samples == (Sample(0, token_ids=(1, 0, 151_643)),)


def test_named_tokens(tmp_path: Path) -> None:
    """A column that is named holds what it holds; a null system prompt is not one."""
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"prompt": "a", "ids": [5], "system": None}), encoding="utf-8")
    assert load_prompts(file, Columns("ids")).samples[0].token_ids == (5,)


def test_lengths_weights_and_tags(tmp_path: Path) -> None:
    """They come from any column, of CSV cells too; where no length stands, none is said."""
    file = tmp_path / "q.csv"
    file.write_text("question,n,w,class,kind\na,12,2,x,\nb,,0.5,y,7\n", encoding="utf-8")
    dataset = load_prompts(file, Columns(output="n", weight="w", tags=("class", "kind")))
    assert dataset.weights == (2.0, 0.5)
    assert dataset.samples == (
        Sample(0, "a", max_tokens=12, tags={"class": "x", "kind": ""}),
        Sample(1, "b", tags={"class": "y", "kind": "7"}),
    )


def test_tags_are_texts(tmp_path: Path) -> None:
    """Numbers and truth values are tags as JSON writes them; null is not a tag."""
    file = tmp_path / "q.jsonl"
    file.write_text(json.dumps({"prompt": "a", "i": 3, "f": 0.5, "b": True, "n": None}), encoding="utf-8")
    (sample,) = load_prompts(file, Columns(tags=("i", "f", "b", "n"))).samples
    assert sample.tags == {"i": "3", "f": "0.5", "b": "true"}


def test_conversations_of_parquet(tmp_path: Path) -> None:
    """Messages in Parquet have every member that any of them has; those that are null are left out."""
    rows = [
        {
            "messages": [
                {"role": "user", "content": "u", "tool_call_id": None},
                {"role": "assistant", "content": "a", "tool_call_id": None},
                {"role": "user", "content": "v", "tool_call_id": None},
            ],
            "ids": [1, 2],
        },
    ]
    parquet.write_table(pa.Table.from_pylist(rows), tmp_path / "q.parquet")
    (sample,) = load_prompts(tmp_path / "q.parquet", take="all").samples
    assert sample.after({"role": "assistant", "content": "a"}).messages() == [
        {"role": "user", "content": "u"},
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "v"},
    ]
    assert load_prompts(tmp_path / "q.parquet", Columns("ids")).samples[0].token_ids == (1, 2)


BAD: dict[str, tuple[Any, Columns]] = {
    "no-output": ({"prompt": "a"}, Columns(output="max_tokens")),
    "output-text": ({"prompt": "a", "n": "many"}, Columns(output="n")),
    "output-none": ({"prompt": "a", "n": 0}, Columns(output="n")),
    "output-fraction": ({"prompt": "a", "n": 1.5}, Columns(output="n")),
    "output-truth": ({"prompt": "a", "n": True}, Columns(output="n")),
    "weight-negative": ({"prompt": "a", "w": -1}, Columns(weight="w")),
    "weight-endless": ({"prompt": "a", "w": "inf"}, Columns(weight="w")),
    "weight-null": ({"prompt": "a", "w": None}, Columns(weight="w")),
    "weights-zero": ({"prompt": "a", "w": 0}, Columns(weight="w")),
    "no-tag": ({"prompt": "a", "class": "x"}, Columns(tags=("clas",))),
    "tag-list": ({"prompt": "a", "class": ["x"]}, Columns(tags=("class",))),
    "plain-string": ("a", Columns(tags=("class",))),
}
GOLDEN = Path(__file__).with_name("golden") / "bad_columns.txt"


def test_complaints_about_values(tmp_path: Path) -> None:
    """A value that is not what its column is for gets a sentence with its place."""
    lines = []
    for name, (row, columns) in BAD.items():
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps(row), encoding="utf-8")
        with pytest.raises(WorkloadError) as caught:
            load_prompts(file, columns)
        lines.append(f"{type(caught.value).__name__}: {caught.value}".replace(f"{tmp_path}/", ""))
    golden.check(GOLDEN, "\n".join(lines) + "\n")
