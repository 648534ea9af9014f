"""Tool selection from Python, asked of a real endpoint; and `loadgen list tool-sets`."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from loadgen.sessions.errors import UsageError
from loadgen.sessions.run.tool_benchmark import run_benchmark
from loadgen.sessions.vocabulary import tool_sets

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

MODEL = """
model_id: small-model
provider: nowhere
temperature: 0
api_key_env: MINE_API_KEY
requests_per_minute: 6000
input_cost: 1
output_cost: 4
"""


def test_a_tool_set_is_asked_of_a_model(
    mock: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within a running event loop, with the key of the model's file and the figures of the report."""
    monkeypatch.setenv("MINE_API_KEY", "sk-right-key")
    (tmp_path / "models__mine.yaml").write_text(MODEL)
    (tmp_path / "scenarios.jsonl").write_text(
        "\n".join(
            json.dumps({"id": str(number), "level": "edge", "ask": f"Thanks, {number}!", "expect": []})
            for number in range(4)
        )
    )
    out = tmp_path / "run"
    result = asyncio.run(run_benchmark("4-tool", "mine", url=mock.url, data=tmp_path, out=out, levels="edge"))
    assert (result.accuracy, result.scenarios, result.by_level) == (1, 4, {"edge": 1})
    assert (
        result.headlines["cost_of_1000"] == result.report["accuracy"][0]["headlines"]["cost_of_1000"]["value"]
    )
    assert result.report["run"]["model"] == "small-model"


def test_what_cannot_be_asked(tmp_path: Path) -> None:
    """A provider that is not known, and a model without an id, are refused before anything is asked."""
    (tmp_path / "models__mine.yaml").write_text(MODEL)
    with pytest.raises(UsageError, match="provider 'nowhere' is not known; give the endpoint's url"):
        asyncio.run(run_benchmark("4-tool", "mine", data=tmp_path, out=tmp_path / "run"))
    (tmp_path / "models__bare.yaml").write_text("{input_cost: 1, output_cost: 2}")
    with pytest.raises(UsageError, match="has no model_id"):
        asyncio.run(run_benchmark("4-tool", "bare", data=tmp_path, out=tmp_path / "run"))
    with pytest.raises(UsageError, match="error: "):
        asyncio.run(
            run_benchmark("4-tool", "mine", data=tmp_path, out=tmp_path / "run", url="x", form="none")
        )


def test_what_there_is_is_listed(tmp_path: Path) -> None:
    """Each file with what it has, those of a folder with their paths, and broken ones as such."""
    listed = tool_sets()
    assert listed["tool_sets/8-tool"].startswith("8 tools: new_above, new_below")
    assert "openai/gpt-5-mini: $ 0.15 in" in listed["models/gpt-5-mini"]
    assert "descriptions/verbose" in listed
    (tmp_path / "tool_sets__mine.yaml").write_text("tools: []")
    assert tool_sets(tmp_path)["tool_sets/mine"].startswith("cannot be used: ")
