"""`loadgen list prompts`: what a benchmark asks, as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.listed_files import prompt_lines
from workloads.errors import TaskError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_for_each_question(tmp_path: Path) -> None:
    """With what is sent, and by what a replies file finds it."""
    rows = [
        {"user_prompt": "1+1?", "ground_truth": "2", "system_prompt": "Count.", "id": "a"},
        {"user_prompt": "6*7?", "ground_truth": "42", "system_prompt": None, "id": "b"},
    ]
    path = tmp_path / "sums.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    first, second = map(orjson.loads, prompt_lines(str(path), None))
    assert (first["id"], first["prompt"]) == ("a", "1+1?")
    assert first["messages"] == [
        {"role": "system", "content": "Count."},
        {"role": "user", "content": "1+1?"},
    ]
    assert (second["id"], second["messages"]) == ("b", [{"role": "user", "content": "6*7?"}])


def test_a_benchmark_has_to_be_named() -> None:
    """And to be one."""
    with pytest.raises(UsageError, match="name a benchmark"):
        list(prompt_lines(None, None))
    with pytest.raises(TaskError, match="Did you mean 'gsm8k'"):
        list(prompt_lines("gsm9k", None))
