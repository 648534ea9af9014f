"""Tool selection from Python, asked of a real endpoint; and `loadgen list tool-sets`."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

import loadgen
from loadgen.plugins.tool_selection import tool_endpoint as tool_model
from loadgen.plugins.tool_selection.run_benchmark import run_benchmark
from loadgen.plugins.tool_selection.scenarios import list_tool_sets
from loadgen.plugins.tool_selection.tool_endpoint import rate_of, with_tool_model
from loadgen.plugins.tool_selection.tool_files import load_model_config
from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.accuracy import AccuracySettings
from loadgen.sessions.settings.from_python import settings_of
from workloads.task import parse

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


@pytest.mark.slow
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


@pytest.mark.slow
def test_a_model_s_file_says_where_it_is_asked(
    mock: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where --model is its name and there is no URL: provider, key, temperature, and rate."""
    monkeypatch.setenv("MINE_API_KEY", "sk-right-key")
    monkeypatch.setattr(tool_model, "_PROVIDERS", {"nowhere": mock.url})
    (tmp_path / "models__mine.yaml").write_text(MODEL + "tokens_per_minute: 600000\n")
    lines = [
        {"id": str(number), "level": "edge", "ask": f"Thanks, {number}!", "expect": []} for number in range(3)
    ]
    (tmp_path / "scenarios.jsonl").write_text("\n".join(map(json.dumps, lines)))
    task = "tool_selection:tools=4-tool,model=mine,levels=edge"
    asked = loadgen.accuracy(task, model="mine", data=str(tmp_path), out=tmp_path / "run")
    run = asked.report().run
    assert (run.model, run.load["kind"]) == ("small-model", "constant")
    assert 5 < run.load["rate"] < 60


def test_a_given_key_overrides_that_of_a_models_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file's variable overrides the variables of every endpoint, and `--api-key` overrides both."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-everyone")
    monkeypatch.setenv("OPENROUTER_API_KEY", "sk-of-the-file")
    session = {"task": ["tool_selection:model=gpt-5-mini"], "model": "gpt-5-mini"}
    for own, used in (("sk-of-everyone", "sk-of-the-file"), (None, "sk-of-the-file"), ("sk-mine", "sk-mine")):
        asked = with_tool_model(settings_of(AccuracySettings, {**session, "api_key": own}))
        assert asked.endpoint.api_key == used


@pytest.mark.slow
def test_limits_of_a_model_bound_the_rate() -> None:
    """The smaller of requests, and of tokens over those of a question; a load of the user's wins."""
    task = "tool_selection:tools=8-tool,model=gpt-5-mini"
    asked = with_tool_model(settings_of(AccuracySettings, {"task": [task], "model": "gpt-5-mini"}))
    assert (asked.endpoint.url, asked.endpoint.model) == (
        ["https://openrouter.ai/api/v1"],
        "openai/gpt-5-mini",
    )
    assert (asked.generation.temperature, asked.load.arrival) == (0.0, "constant")
    model = load_model_config("gpt-5-mini")
    by_tokens = rate_of(replace(model, requests_per_minute=None), parse(task), None)
    assert by_tokens is not None
    assert float(asked.load.rate or 0) == min(500 / 60, by_tokens)
    assert 200_000 / 60 / 3000 < by_tokens < 200_000 / 60 / 300
    assert (
        rate_of(replace(model, requests_per_minute=None, tokens_per_minute=None), parse(task), None) is None
    )
    own = settings_of(AccuracySettings, {"task": [task], "model": "gpt-5-mini", "concurrency": 2})
    assert (with_tool_model(own).load.rate, with_tool_model(own).load.concurrency) == (None, 2)
    for other in ({"model": "served"}, {"model": "gpt-5-mini", "url": ["http://x"]}):
        settings = settings_of(AccuracySettings, {"task": [task], **other})
        assert with_tool_model(settings) is settings


def test_a_model_has_the_name_that_people_use() -> None:
    """As document-mcp calls it."""
    assert load_model_config("claude-4.5-haiku") == load_model_config("claude-haiku-4.5")


def test_what_there_is_is_listed(tmp_path: Path) -> None:
    """Each file with what it has, those of a folder with their paths, and broken ones as such."""
    listed = list_tool_sets()
    assert listed["tool_sets/8-tool"].startswith("8 tools: new_above, new_below")
    assert "openai/gpt-5-mini: $ 0.15 in" in listed["models/gpt-5-mini"]
    assert "descriptions/verbose" in listed
    (tmp_path / "tool_sets__mine.yaml").write_text("tools: []")
    assert list_tool_sets(tmp_path)["tool_sets/mine"].startswith("cannot be used: ")
