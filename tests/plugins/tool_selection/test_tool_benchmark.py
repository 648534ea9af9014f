"""Tool selection from Python: loading, and choosing scenarios."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.tool_selection.scenarios import get_benchmark_scenarios, tool_files
from loadgen.plugins.tool_selection.tool_files import load_model_config
from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from workloads.errors import SourceError, TaskError

if TYPE_CHECKING:
    from pathlib import Path


def test_scenarios_are_chosen_by_level() -> None:
    """All 185, or those without the levels that are left out."""
    assert len(get_benchmark_scenarios()) == 185
    some = get_benchmark_scenarios(
        include_edge_cases=False, include_adversarial=False, tool_set_name="8-tool"
    )
    assert Counter(item.level for item in some) == {
        "simple": 45,
        "sequential": 25,
        "complex": 20,
        "ambiguous": 25,
    }
    first = get_benchmark_scenarios(levels=["simple"])[0]
    assert (first.ask, first.expected) == ("Delete paragraph 4.", (("drop_paragraph",),))
    with pytest.raises(TaskError, match="no level is left"):
        get_benchmark_scenarios(levels=["edge"], include_edge_cases=False)


def test_tool_sets_and_models_are_loaded(tmp_path: Path) -> None:
    """By their names, of the package or of a folder."""
    assert len(load_tool_set("8-tool", descriptions="minimal").tools) == 8
    assert load_model_config("gpt-5-mini").api_key_env == "OPENROUTER_API_KEY"
    (tmp_path / "models__mine.yaml").write_text("{input_cost: 1, output_cost: 2, temperature: 0.5}")
    assert load_model_config("mine", tmp_path).temperature == 0.5
    assert "mine" in tool_files(tmp_path)["models"]
    with pytest.raises(SourceError, match="no file mine"):
        load_model_config("mine")
