"""`loadgen list prompts`: what a benchmark asks, as JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.cli.prompt_listing import write_prompts
from loadgen.sessions.errors import UsageError
from workloads.errors import TaskError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_line_for_each_question(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With what is sent, and by what a replies file finds it."""
    rows = [
        {"user_prompt": "1+1?", "ground_truth": "2", "system_prompt": "Count.", "id": "a"},
        {"user_prompt": "6*7?", "ground_truth": "42", "system_prompt": None, "id": "b"},
    ]
    path = tmp_path / "sums.jsonl"
    path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
    write_prompts(str(path), None)
    first, second = map(orjson.loads, capsys.readouterr().out.splitlines())
    assert (first["id"], first["prompt"]) == ("a", "1+1?")
    assert first["messages"] == [
        {"role": "system", "content": "Count."},
        {"role": "user", "content": "1+1?"},
    ]
    assert (second["id"], second["messages"]) == ("b", [{"role": "user", "content": "6*7?"}])


def test_a_benchmark_has_to_be_named() -> None:
    """And to be one."""
    with pytest.raises(UsageError, match="name a benchmark"):
        write_prompts(None, None)
    with pytest.raises(TaskError, match="did you mean 'gsm8k'"):
        write_prompts("gsm9k", None)
