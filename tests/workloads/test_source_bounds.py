"""Files that are made to fill the memory, or never to end: each is refused in a sentence."""

from __future__ import annotations

import gzip
import io
import os
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from workloads import sources
from workloads.errors import WorkloadError
from workloads.prompts import load_prompts
from workloads.sources import read_rows


def test_a_gzip_bomb() -> None:
    """Of two hundred megabytes, no more is unpacked than is allowed for what it weighs."""
    bomb = gzip.compress(bytes(2**20), 1) * 200
    tracemalloc.start()
    with pytest.raises(WorkloadError, match="the gzip data becomes more than") as raised:
        next(read_rows(Path("bomb.jsonl.gz"), bomb))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert str(raised.value).startswith("bomb.jsonl.gz: ")
    limit = max(sources.ALWAYS_BYTES, sources.MOST_TIMES * len(bomb))
    assert limit < 200 * 2**20
    assert peak < limit + 8 * 2**20


def test_well_compressed_text_is_not_refused() -> None:
    """The same question ten thousand times."""
    stored = gzip.compress(b'{"prompt": "What is the answer to everything?"}\n' * 10_000)
    assert sum(1 for _ in read_rows(Path("q.jsonl.gz"), stored)) == 10_000


@pytest.mark.parametrize("name", ["s.jsonl", "s.json", "s.csv", "s.parquet", "s.jsonl.gz"])
def test_a_file_that_only_claims_to_be_large(tmp_path: Path, name: str) -> None:
    """A sparse file takes no room on the disk, and would take all of the memory."""
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(10 * 2**40)
    with pytest.raises(WorkloadError, match="too large; name a part of it"):
        load_prompts(path)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    """It may never be written to."""
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(WorkloadError, match="not a file with an end"):
        load_prompts(tmp_path / "pipe.jsonl")


@pytest.mark.parametrize("name", ["deep.jsonl", "deep.json"])
@pytest.mark.parametrize("opening", [b"[", b'{"a":'])
def test_json_that_is_nested_too_deeply(name: str, opening: bytes) -> None:
    """It is not JSON that anybody reads."""
    with pytest.raises(WorkloadError, match="not JSON"):
        list(read_rows(Path(name), opening * 1_000_000))


def test_a_long_line_is_a_row(tmp_path: Path) -> None:
    """Within the bounds a prompt may be as long as it likes."""
    (tmp_path / "long.jsonl").write_bytes(b'"' + b"x" * 20_000_000 + b'"')
    (sample,) = load_prompts(tmp_path / "long.jsonl").samples
    assert len(sample.prompt) == 20_000_000


def test_a_parquet_bomb() -> None:
    """By what its pages hold when they are unpacked, and by what a dictionary makes of one text."""
    buffer = io.BytesIO()
    parquet.write_table(pa.table({"prompt": ["x" * 100_000] * 1000}), buffer, compression="zstd")
    repeated = buffer.getvalue()
    assert len(repeated) < 10_000
    with pytest.raises(WorkloadError, match="bytes when decompressed"):
        list(read_rows(Path("bomb.parquet"), repeated, 1_000_000))
    buffer = io.BytesIO()
    table = pa.table({"prompt": ["x" * 5_000_000]})
    parquet.write_table(table, buffer, compression="zstd", use_dictionary=False)
    with pytest.raises(WorkloadError, match="bytes when decompressed"):
        list(read_rows(Path("bomb.parquet"), buffer.getvalue(), 1_000_000))


@pytest.mark.parametrize("name", ["../../../x.jsonl", "a\x1b[2Jb.jsonl"])
def test_a_name_leads_nowhere(tmp_path: Path, name: str) -> None:
    """The log keeps the last part of a file's name, and nothing is ever written under it."""
    path = tmp_path / "a" / "b" / "c" / "d" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / "a" / "b" / "c" / "d").mkdir(exist_ok=True)
    path.write_text('"a"')
    assert "/" not in load_prompts(path).name
