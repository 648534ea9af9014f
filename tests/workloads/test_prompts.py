"""Questions come out of rows: which column is meant, and what is said when none fits."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from workloads.columns import PROMPT_COLUMNS, SYSTEM_COLUMNS, Columns
from workloads.errors import SourceError, WorkloadError
from workloads.prompts import load_prompts
from workloads.sample import Sample


def written(path: Path, *rows: Any) -> Path:
    """Write rows as JSON Lines; return the path."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("column", [*PROMPT_COLUMNS, "Question", "PROMPT"])
def test_usual_columns_are_found(tmp_path: Path, column: str) -> None:
    """A column with a usual name is taken without being named, in any case."""
    path = written(tmp_path / "q.jsonl", {"id": "7", column: "Why?", "answer": "Because."})
    assert load_prompts(path).samples == (Sample(0, "Why?"),)


def test_first_usual_name_wins(tmp_path: Path) -> None:
    """Of several usual names the first of the list is taken, whatever the order of the columns."""
    path = written(tmp_path / "q.jsonl", {"input": "no", "instruction": "yes", "text": "no"})
    assert load_prompts(path).samples[0].prompt == "yes"


def test_named_column_wins(tmp_path: Path) -> None:
    """A column that is named is taken, whatever else there is."""
    path = written(tmp_path / "q.jsonl", {"prompt": "no", "Body": "yes"})
    assert load_prompts(path, Columns("Body")).samples[0].prompt == "yes"


def test_plain_strings_are_prompts(tmp_path: Path) -> None:
    """Rows that are plain strings are prompts, in order."""
    assert load_prompts(written(tmp_path / "q.jsonl", "one", "two")).samples == (
        Sample(0, "one"),
        Sample(1, "two"),
    )


@pytest.mark.parametrize("column", SYSTEM_COLUMNS)
def test_usual_system_columns_are_found(tmp_path: Path, column: str) -> None:
    """A system prompt with a usual name is taken; a row without one, or with null or nothing, has none."""
    path = written(
        tmp_path / "q.jsonl",
        {"prompt": "a", column: "Be brief."},
        {"prompt": "b"},
        {"prompt": "c", column: None},
        {"prompt": "d", column: ""},
    )
    assert [sample.system for sample in load_prompts(path).samples] == ["Be brief.", None, None, None]


def test_named_system_column_wins(tmp_path: Path) -> None:
    """A system column that is named is taken, whatever else there is."""
    path = written(tmp_path / "q.jsonl", {"prompt": "a", "system": "no", "persona": "yes"})
    assert load_prompts(path, Columns(system="persona")).samples == (Sample(0, "a", "yes"),)


def test_dataset_knows_its_file(tmp_path: Path) -> None:
    """The dataset carries the file's name and the checksum of its bytes as stored."""
    stored = gzip.compress(b'{"prompt": "a"}')
    path = tmp_path / "q.jsonl.gz"
    path.write_bytes(stored)
    dataset = load_prompts(path)
    assert (dataset.name, dataset.sha256) == ("q.jsonl.gz", sha256(stored).hexdigest())
    assert not dataset.synthetic


BAD_ROWS: dict[str, tuple[list[Any], dict[str, Any]]] = {
    "unusual": ([{"id": 1, "body": "a"}], {}),
    "columnless": ([{}], {}),
    "other-name-later": ([{"question": "a", "answer": "b"}, {"qestion": "a", "answer": "b"}], {}),
    "no-such-prompt-column": ([{"question": "a"}], {"prompt": "zzz"}),
    "no-such-system-column": ([{"question": "a"}], {"system": "sys"}),
    "string-with-prompt-column": (["a"], {"prompt": "question"}),
    "string-with-system-column": (["a"], {"system": "system"}),
    "string-after-object": ([{"question": "a"}, "b"], {}),
    "object-after-string": (["a", {"question": "b"}], {}),
    "object-as-prompt": ([{"prompt": {"role": "user", "content": "a"}}], {}),
    "null-prompt": ([{"prompt": "a"}, {"prompt": None}], {}),
    "blank-prompt": ([{"prompt": "a"}, {"prompt": " \n"}], {}),
    "blank-string": ([""], {}),
    "number-as-system-prompt": ([{"prompt": "a", "system": 3}], {}),
}
GOLDEN = Path(__file__).with_name("golden") / "bad_rows.txt"


def complaint(path: Path, rows: list[Any], columns: dict[str, Any]) -> str:
    """Load bad rows and return the error's kind and sentence."""
    written(path, *rows)
    with pytest.raises(WorkloadError) as caught:
        load_prompts(path, Columns(**columns), strict=True)
    return f"{type(caught.value).__name__}: {caught.value}".replace(f"{path.parent}/", "")


def test_complaints_about_columns(tmp_path: Path) -> None:
    """A row without a usable prompt gets a sentence with the file, the line, the column and the remedy."""
    text = [complaint(tmp_path / f"{name}.jsonl", *case) for name, case in BAD_ROWS.items()]
    assert text == GOLDEN.read_text(encoding="utf-8").splitlines()


def test_rows_without_a_question_are_left_out(tmp_path: Path) -> None:
    """The other rows are asked in their order, and each reason is counted with its first place."""
    path = tmp_path / "q.json"
    asked = [{"from": "human", "value": "a"}, {"from": "gpt", "value": "b"}]
    chats: list[list[dict[str, str]]] = [
        asked,
        [],
        [{"from": "gpt", "value": "only an answer"}],
        [{"from": "human", "value": " "}],
        [{"from": "narrator", "value": "c"}],
        asked,
    ]
    path.write_text(json.dumps([{"conversations": chat} for chat in chats]))
    dataset = load_prompts(path)
    assert [(sample.index, sample.prompt) for sample in dataset.samples] == [(0, "a"), (1, "a")]
    left_out = dataset.facts["left_out"]
    assert [(rows["rows"], rows["first"]) for rows in left_out.values()] == [
        (2, "q.json, row 2"),
        (1, "q.json, row 4"),
        (1, "q.json, row 5"),
    ]
    assert next(iter(left_out)) == "no user says anything in the conversation"
    with pytest.raises(WorkloadError, match=r"row 2.*no user says anything"):
        load_prompts(path, strict=True)
    path.write_text(json.dumps([{"conversations": []}]))
    with pytest.raises(WorkloadError, match=r"row 1.*no user says anything"):
        load_prompts(path)


def test_weights_stay_with_their_rows(tmp_path: Path) -> None:
    """A row that is left out takes its weight along."""
    path = tmp_path / "q.csv"
    path.write_text("prompt,w\na,1\n,2\nc,3\n")
    dataset = load_prompts(path, Columns(weight="w"))
    assert ([sample.prompt for sample in dataset.samples], dataset.weights) == (["a", "c"], (1.0, 3.0))
    assert sum(rows["rows"] for rows in dataset.facts["left_out"].values()) == 1


@pytest.mark.parametrize("name", ["q.jsonl", "q.json"])
def test_missing_values_of_pandas_are_null(tmp_path: Path, name: str) -> None:
    """`NaN` and `Infinity`, in JSON Lines and in JSON; a prompt that is NaN is left out."""
    path = tmp_path / name
    rows = '{"prompt": "a", "score": NaN}', '{"prompt": NaN}', '{"prompt": "NaN", "score": -Infinity}'
    path.write_text("\n".join(rows) if name == "q.jsonl" else f"[{', '.join(rows)}]")
    dataset = load_prompts(path)
    assert [sample.prompt for sample in dataset.samples] == ["a", "NaN"]
    assert len(dataset.facts["left_out"]) == 1


def test_complaints_about_the_file_pass_through(tmp_path: Path) -> None:
    """A file that cannot be read is complained of as by its source."""
    with pytest.raises(SourceError, match="the file does not exist"):
        load_prompts(tmp_path / "q.jsonl")
