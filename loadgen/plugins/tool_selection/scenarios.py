"""Tool selection from Python: tool sets, models, and scenarios."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.selection_task import LEVELS
from loadgen.plugins.tool_selection.tool_files import Kind, available, load_model_config
from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from workloads.errors import TaskError, WorkloadError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class ToolScenario:
    """One request, and the right tools.

    Attributes:
        id: Its name, unique among the scenarios.
        level: One of `loadgen.plugins.tool_selection.selection_task.LEVELS`.
        ask: The request, as a model reads it.
        expected: For each step, in order, the names of the tools that are right; empty where no tool is.
    """

    id: str
    level: str
    ask: str
    expected: tuple[tuple[str, ...], ...]


def tool_files(data: Path | None = None) -> Mapping[Kind, Mapping[str, Path]]:
    """The files that there are, by kind and name: those of the package, and those of a folder of yours."""
    kinds: tuple[Kind, ...] = ("tool_sets", "descriptions", "models")
    return {kind: available(kind, data) for kind in kinds}


def get_benchmark_scenarios(
    *,
    include_edge_cases: bool = True,
    include_adversarial: bool = True,
    tool_set_name: str = "4-tool",
    levels: Sequence[str] | None = None,
    data: Path | None = None,
) -> list[ToolScenario]:
    """The scenarios that are asked of a tool set.

    Args:
        include_edge_cases: Whether those of level `edge` are among them.
        include_adversarial: Whether those of level `adversarial` are.
        tool_set_name: Whose tools are expected; scenarios that it has no tool for are left out.
        levels: The only levels; by default all.
        data: A folder with tool sets or your own `scenarios.jsonl`.

    Raises:
        TaskError: The level does not exist, or none is left.
        SourceError, MalformedError, ColumnError: See `load_tool_set`; a scenario is not as it should be.
    """
    left_out = {
        *([] if include_edge_cases else ["edge"]),
        *([] if include_adversarial else ["adversarial"]),
    }
    wanted = [level for level in levels or LEVELS if level not in left_out]
    if not wanted:
        raise TaskError("tool_selection: no level is left; include edge cases or adversarial scenarios")
    loaded = load(parse(f"tool_selection:tools={tool_set_name},levels={'+'.join(wanted)}"), data)
    return [
        ToolScenario(
            id=question.id,
            level=question.sample.tags["level"],
            ask=question.sample.prompt or "",
            expected=tuple(map(tuple, question.reference["steps"])),
        )
        for question in loaded.questions
    ]


def list_tool_sets(data: Path | None = None) -> Mapping[str, str]:
    """Tool sets, descriptions and models of tool selection, by kind and name, with what each has."""
    listed: dict[str, str] = {}
    for kind, files in tool_files(data).items():
        for name, path in files.items():
            try:
                if kind == "tool_sets":
                    tools = load_tool_set(name, data).tools
                    about = f"{len(tools)} tools: {', '.join(tool.name for tool in tools)}"
                elif kind == "models":
                    model = load_model_config(name, data)
                    prices = f"$ {model.input_cost:g} in, $ {model.output_cost:g} out per million tokens"
                    about = f"{model.model_id}: {prices}"
                else:
                    about = f"descriptions={name}"
            except WorkloadError as error:
                about = f"cannot be used: {error}"
            listed[f"{kind}/{name}"] = (
                about if data is None or data not in path.parents else f"{about} ({path})"
            )
    return listed
