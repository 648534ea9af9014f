"""Rows come back from every format as they were written; faults of a file are reported in a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from workloads.errors import WorkloadError
from workloads.sources import FileRow, read_rows, read_stored

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = st.text(st.characters(codec="utf-8"))
NAMES = st.lists(TEXTS.filter(bool), min_size=1, max_size=4, unique=True)


@st.composite
def tables(draw: st.DrawFn) -> list[dict[str, str]]:
    """Draw rows of text that all have the same columns: what every format can hold."""
    names = draw(NAMES)
    return draw(st.lists(st.fixed_dictionaries(dict.fromkeys(names, TEXTS)), min_size=1, max_size=5))


def json_lines(rows: list[Any]) -> bytes:
    """Write JSON Lines with text as it is rather than escaped."""
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def json_list(rows: list[Any]) -> bytes:
    """Write a JSON list over several lines."""
    return json.dumps(rows, indent=1).encode()


def json_member(rows: list[Any]) -> bytes:
    """Write a JSON object whose only list is the rows."""
    return json.dumps({"version": 1, "data": rows, "source": {"year": 2024}}).encode()


def csv_table(rows: list[dict[str, str]]) -> bytes:
    """Write CSV with a header row."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def parquet_table(rows: list[dict[str, Any]]) -> bytes:
    """Write Parquet."""
    sink = pa.BufferOutputStream()
    parquet.write_table(pa.Table.from_pylist(rows), sink)
    return bytes(sink.getvalue())


FORMATS = [
    ("rows.jsonl", json_lines),
    ("rows.ndjson", json_lines),
    ("rows.json", json_list),
    ("wrapped.json", json_member),
    ("rows.csv", csv_table),
    ("rows.parquet", parquet_table),
]


def values(name: str, stored: bytes) -> list[Any]:
    """Decode a file that is not on disk and keep what its rows hold."""
    return [row.value for row in read_rows(Path(name), stored)]


@pytest.mark.parametrize(("name", "write"), FORMATS)
@given(rows=tables())
def test_rows_read_back_as_written(
    name: str, write: Callable[[list[dict[str, str]]], bytes], rows: list[dict[str, str]]
) -> None:
    """Any table of text that is written in a format reads back the same, gzipped or not."""
    stored = write(rows)
    assert values(name, stored) == rows
    assert values(f"{name}.gz", gzip.compress(stored)) == rows
    assert values(name, gzip.compress(stored)) == rows
    assert values(f"{name}.gz", stored) == rows


@pytest.mark.parametrize(("name", "write"), FORMATS[:4])
@given(rows=st.lists(TEXTS, min_size=1, max_size=5))
def test_plain_strings_are_rows(name: str, write: Callable[[list[str]], bytes], rows: list[str]) -> None:
    """JSON and JSON Lines of plain strings read back as strings."""
    assert values(name, write(rows)) == rows


def test_nested_values_survive() -> None:
    """What is not text stays what it is, so that a benchmark can read its own columns."""
    rows = [{"id": 1, "choices": ["a", "b"], "meta": {"level": None, "share": 0.5}}]
    for name, write in (FORMATS[0], FORMATS[2], FORMATS[5]):
        assert values(name, write(rows)) == rows


def test_places_are_lines_of_the_file() -> None:
    """A row is named by the line that it starts on, also after blank lines and cells of several lines."""
    lines = b'\n{"a": 1}\n\n{"a": 2}\n'
    cells = b'\na,b\n"one\ntwo",2\n\n3,4\n'
    assert [row.place for row in read_rows(Path("f.jsonl"), lines)] == ["f.jsonl, line 2", "f.jsonl, line 4"]
    assert list(read_rows(Path("f.csv"), cells)) == [
        FileRow("f.csv, line 3", {"a": "one\ntwo", "b": "2"}),
        FileRow("f.csv, line 6", {"a": "3", "b": "4"}),
    ]


def test_byte_order_mark_and_windows_lines_are_passed_over() -> None:
    """Files from Windows editors read like any other."""
    assert values("f.jsonl", b'\xef\xbb\xbf{"a": 1}\r\n{"a": 2}\r\n') == [{"a": 1}, {"a": 2}]
    assert values("f.csv", b"\xef\xbb\xbfa,b\r\n1,2\r\n") == [{"a": "1", "b": "2"}]


def test_json_lines_called_json_are_read() -> None:
    """A `.json` file that holds one object a line is read as JSON Lines."""
    assert values("f.json", b'{"a": 1}\n{"a": 2}\n') == [{"a": 1}, {"a": 2}]


def test_long_cells_are_read() -> None:
    """A CSV cell may be longer than the 128 KiB that Python's reader takes by default."""
    assert values("f.csv", b"prompt\n" + b"x" * 1_000_000) == [{"prompt": "x" * 1_000_000}]


GZIPPED = gzip.compress(b'{"a": 1}\n' * 100)

BAD_FILES = {
    "plain.txt": b"why?",
    "suffixless": b"why?",
    "blank.jsonl": b"\n \n",
    "rowless.json": b"[]",
    "header-only.csv": b"question,answer\n",
    "trailing-comma.jsonl": b'{"a": 1}\n{"a": 2,}\n',
    "cut-off.jsonl": b'{"a": 1}\n{"a": ',
    "list-as-row.jsonl": b'{"a": 1}\n\n[1, 2]\n',
    "number-as-row.jsonl": b"42",
    "valueless.json": b'[\n {"a": 1},\n {"a": }\n]',
    "trailing-comma.json": b'{"a": 1}\n{"a": 2,}\n',
    "null-as-row.json": b'[{"a": 1}, null]',
    "no-list.json": b"true",
    "two-lists.json": b'{"train": [{}], "test": [{}]}',
    "listless-object.json": b'{"a": 1}',
    "unquoted-comma.csv": b"a,b\n1,2\n1,2,3\n",
    "same-name-twice.csv": b"a,b,a\n1,2,3\n",
    "open-quote.csv": b'a,b\n1,2\n"never closed,2\n3,4\n',
    "latin-1.jsonl": b'{"a": 1}\n{"a": "caf\xe9"}\n',
    "utf-16.csv": "a,b\n".encode("utf-16"),
    "cut-off.jsonl.gz": GZIPPED[:-10],
    "wrong-checksum.jsonl.gz": GZIPPED[:-8] + bytes(8),
    "damaged.jsonl.gz": GZIPPED[:10] + b"\xff" * 9,
    "cut-off.parquet": b"PAR1 but no more",
}
GOLDEN = Path(__file__).with_name("golden") / "bad_files.txt"


def complaint(name: str, stored: bytes) -> str:
    """Read a bad file and return the error's sentence."""
    with pytest.raises(WorkloadError) as caught:
        values(name, stored)
    return str(caught.value)


def test_complaints() -> None:
    """Bad content gets a sentence with the file and the place; `…` stands for a library's own words."""
    expected = GOLDEN.read_text(encoding="utf-8").splitlines()
    for line, (name, stored) in zip(expected, BAD_FILES.items(), strict=True):
        assert re.fullmatch(re.escape(line).replace("…", ".+"), complaint(name, stored)), line


@given(name=st.sampled_from([name for name, _ in FORMATS]), content=st.binary(), gzipped=st.booleans())
def test_nothing_foreign_escapes(name: str, content: bytes, gzipped: bool) -> None:  # noqa: FBT001 (drawn)
    """Whatever bytes a file holds, reading it gives rows or our own error."""
    try:
        rows = values(name, gzip.compress(content) if gzipped else content)
    except WorkloadError:
        return
    assert rows


@given(cut=st.integers(min_value=0, max_value=10_000), flipped=st.integers(min_value=0, max_value=10_000))
def test_no_damage_to_parquet_escapes(cut: int, flipped: int) -> None:
    """A Parquet file that is cut off or has a flipped byte gives rows or our own error."""
    stored = bytearray(parquet_table([{"prompt": f"question {n}"} for n in range(50)]))
    stored[flipped % len(stored)] ^= 0xFF
    try:
        rows = values("q.parquet", bytes(stored[cut % len(stored) :]) or bytes(stored))
    except WorkloadError:
        return
    assert rows


def test_file_on_disk(tmp_path: Path) -> None:
    """The stored bytes are those of the file."""
    (tmp_path / "q.jsonl").write_bytes(b'{"a": 1}')
    assert read_stored(tmp_path / "q.jsonl") == b'{"a": 1}'


def test_a_device_is_not_a_file(tmp_path: Path) -> None:
    """What has no end is not read, through a link neither."""
    (tmp_path / "endless.jsonl").symlink_to("/dev/zero")
    with pytest.raises(WorkloadError, match="not a file with an end"):
        read_stored(tmp_path / "endless.jsonl")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    """A missing file, a missing folder, a folder, an empty file and an impossible name are distinguished."""
    (tmp_path / "questions.jsonl").touch()
    (tmp_path / "folder.json").mkdir()
    complaints = {
        tmp_path / "question.jsonl": "the file does not exist; did you mean 'questions.jsonl'?",
        tmp_path / "zzz": "the file does not exist",
        tmp_path / "no" / "q.json": f"the file does not exist, nor is there a folder {tmp_path / 'no'}",
        tmp_path / "folder.json": "a folder; name one of the files in it",
        tmp_path / "questions.jsonl": "the file is empty",
        tmp_path / ("long" * 100): "cannot be read (File name too long)",
    }
    for path, message in complaints.items():
        with pytest.raises(WorkloadError) as complaint:
            read_stored(path)
        assert str(complaint.value) == f"{path}: {message}"


def test_an_object_with_all_columns_is_a_row() -> None:
    """JSON Lines of one line that are called .json, whatever lists are in the object."""
    content = b'{"id": "a", "question": [[{"role": "user"}]], "function": [{"name": "f"}]}\n'
    rows = list(read_rows(Path("q.json"), content, columns=("id", "question")))
    assert [row["id"] for row in rows] == ["a"]
    wrapped = b'{"id": "a", "rows": [{"id": "b", "question": 1}]}'
    assert [row["id"] for row in read_rows(Path("q.json"), wrapped, columns=("id", "question"))] == ["b"]
