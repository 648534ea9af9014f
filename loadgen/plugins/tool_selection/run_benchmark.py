"""Tool selection from Python: one tool set asked of one model, as `loadgen accuracy tool_selection` does."""

from __future__ import annotations

import asyncio
import os
import sys
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from loadgen.plugins.tool_selection.tool_endpoint import model_id_of, rate_of, url_of
from loadgen.sessions.errors import SetupError, UsageError
from rulesets.exit_codes import ExitCode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from loadgen.plugins.tool_selection.tool_files import ModelConfig

_REPORTED: Final = frozenset({ExitCode.PASS, ExitCode.INVALID})
"""The exit codes of a session that has a report."""

_MOST_OF_A_MESSAGE: Final = 2000


@dataclass(frozen=True, slots=True)
class ToolSelectionResult:
    """A model's rate of right tool choices in a tool set, and the cost.

    Attributes:
        accuracy: The share of scenarios with all steps right, over those issued.
        scenarios: How many were issued.
        input_tokens: The mean of a request; None where tokens were not counted.
        output_tokens: As above.
        headlines: Every figure of docs/tool-selection.md by its name; None where one is not defined.
        by_level: The accuracy of each level.
        report: The whole report, as report.json has it.
    """

    accuracy: float
    scenarios: int
    input_tokens: float | None
    output_tokens: float | None
    headlines: Mapping[str, float | None]
    by_level: Mapping[str, float]
    report: Mapping[str, Any]


async def run_benchmark(
    tool_set_name: str,
    model_name: str,
    *,
    out: Path | None = None,
    url: str | None = None,
    data: Path | None = None,
    levels: str = "all",
    descriptions: str = "own",
    form: str = "compact",
) -> ToolSelectionResult:
    """Ask a model the scenarios of a tool set, and score the answers.

    The session runs in a separate process, so this works in a running event loop. The key is taken from
    the environment variable that the model's file names. Requests are spread over time where the file
    has limits per minute.

    Args:
        tool_set_name: As for `load_tool_set`.
        model_name: As for `load_model_config`.
        out: The folder of the run, which must not exist; runs/<time>-<model> without one.
        url: The endpoint; by default that of the model's provider.
        data: A folder with your own files.
        levels: `all`, or levels with `+` between.
        descriptions: Whose words describe the tools.
        form: `minimal`, `compact` or `full`.

    Raises:
        UsageError: The model's file names no provider that is known, or no model, and what else the command
            line refuses.
        SetupError: The session came to no report; the message is that of the command line.
        SourceError, MalformedError: The tool set or the model does not exist, or its file is not one.
    """
    from loadgen.plugins.tool_selection.tool_files import load_model_config
    from loadgen.plugins.tool_selection.tool_sets import load_tool_set

    model = load_model_config(model_name, data)
    load_tool_set(tool_set_name, data, descriptions)
    task = (
        f"tool_selection:tools={tool_set_name},model={model_name},levels={levels},"
        f"descriptions={descriptions},format={form}"
    )
    model_id = model_id_of(model_name, model)
    arguments = ["accuracy", task, "--url", url or url_of(model_name, model), "--model", model_id]
    arguments += [*([] if out is None else ["--out", str(out)]), "--json", *_options(model, task, data)]
    return _result(await _run(arguments, _environment(model)))


def _options(model: ModelConfig, task: str, data: Path | None) -> list[str]:
    from workloads.task import parse

    options = [] if data is None else ["--data", str(data)]
    if model.temperature is not None:
        options += ["--temperature", str(model.temperature)]
    if (rate := rate_of(model, parse(task), data)) is not None:
        options += ["--rate", str(rate), "--arrival", "constant"]
    return options


def _environment(model: ModelConfig) -> dict[str, str]:
    environment = dict(os.environ)
    if key := environment.get(model.api_key_env or ""):
        environment["LOADGEN_API_KEY"] = key
    return environment


async def _run(arguments: list[str], environment: Mapping[str, str]) -> Mapping[str, Any]:
    import orjson

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "loadgen", *arguments),
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        output, errors = await process.communicate()
    except asyncio.CancelledError:
        process.terminate()
        await process.wait()
        raise
    if process.returncode not in _REPORTED:
        kind = UsageError if process.returncode == ExitCode.USAGE else SetupError
        raise kind(errors.decode(errors="replace").strip()[-_MOST_OF_A_MESSAGE:])
    report: Mapping[str, Any] = orjson.loads(output)
    return report


def _result(report: Mapping[str, Any]) -> ToolSelectionResult:
    (score,) = report["accuracy"]
    headlines = {name: figure["value"] for name, figure in score["headlines"].items()}
    return ToolSelectionResult(
        accuracy=headlines["accuracy"],
        scenarios=score["issued"],
        input_tokens=headlines["input_tokens"],
        output_tokens=headlines["output_tokens"],
        headlines=headlines,
        by_level={level: group["value"] for level, group in score["groups"].get("level", {}).items()},
        report=report,
    )
