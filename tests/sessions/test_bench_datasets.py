"""Rows for an agent's bench from files, and eval functions by name."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from loadgen.agents import (
    DatasetParseError,
    DatasetReader,
    DatasetValidationError,
    EvalFnError,
    load_eval_fns,
)

if TYPE_CHECKING:
    from pathlib import Path

ROWS = [{"user_prompt": f"{n} + 1?", "ground_truth": str(n + 1), "level": n} for n in range(5)]
MODULE = """\
def exact(solution_str, ground_truth, extra_info=None):
    return float(solution_str.strip() == ground_truth)

def odd(question):
    return 0.0
"""


def test_rows_of_a_file(tmp_path: Path) -> None:
    """All columns; a limit, from an offset on; JSON and CSV as well as lines."""
    lines = tmp_path / "rows.jsonl"
    lines.write_text("\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    reader = DatasetReader(lines)
    assert reader.read() == ROWS
    assert reader.read(limit=2) == ROWS[:2]
    assert reader.read(limit=2, offset=3) == ROWS[3:]
    (tmp_path / "rows.json").write_text(json.dumps(ROWS), encoding="utf-8")
    assert DatasetReader(str(tmp_path / "rows.json")).read() == ROWS
    (tmp_path / "rows.csv").write_text("user_prompt,ground_truth\nHi?,yes\n", encoding="utf-8")
    assert DatasetReader(tmp_path / "rows.csv").read() == [{"user_prompt": "Hi?", "ground_truth": "yes"}]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("a.jsonl", '{"user_prompt": "x"}', DatasetValidationError, "line 1: ground_truth is missing"),
        (
            "a.jsonl",
            '{"user_prompt": "", "ground_truth": "y"}',
            DatasetValidationError,
            "line 1: user_prompt is empty",
        ),
        ("a.json", '["x"]', DatasetValidationError, "a plain string, where an object should be"),
        ("a.jsonl", "{", DatasetParseError, "line 1"),
        ("a.doc", "x", DatasetParseError, "unknown format"),
    ],
)
def test_what_is_wrong_is_named(
    tmp_path: Path, name: str, content: str, error: type[Exception], message: str
) -> None:
    """With the file and the row."""
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(error, match=message):
        DatasetReader(tmp_path / name).read()


def test_a_missing_file(tmp_path: Path) -> None:
    """Named, as one that cannot be parsed."""
    with pytest.raises(DatasetParseError, match=r"nowhere\.jsonl"):
        DatasetReader(tmp_path / "nowhere.jsonl").read()


def test_eval_functions_by_name(tmp_path: Path) -> None:
    """Each under its function's name; one that is missing, or takes something else, is an EvalFnError."""
    (tmp_path / "bench_graders_of_test.py").write_text(MODULE, encoding="utf-8")
    (exact,) = load_eval_fns(["bench_graders_of_test:exact"], tmp_path)
    assert exact.name == "exact"
    answer = [{"role": "assistant", "content": " 3 "}]
    assert asyncio.run(exact(answer, "3", {})) == 1.0
    with pytest.raises(EvalFnError, match="has no function 'exakt'"):
        load_eval_fns(["bench_graders_of_test:exakt"], tmp_path)
    with pytest.raises(EvalFnError, match="first parameter must be"):
        load_eval_fns(["bench_graders_of_test:odd"], tmp_path)
    with pytest.raises(EvalFnError, match="write MODULE:FUNCTION"):
        load_eval_fns(["nothing"], tmp_path)
