"""Where and how often a model of tool selection may be asked, as the model's file says."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import UsageError
from loadgen.sessions.settings.accuracy import has_load
from loadgen.sessions.settings.concerns import changed
from loadgen.sessions.settings.endpoint_options import API_KEYS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from loadgen.plugins.tool_selection.tool_files import ModelConfig
    from loadgen.sessions.settings.accuracy import AccuracySettings
    from workloads.task import Task

NAME: Final = "tool_selection"

_PROVIDERS: Final = {
    "openai": "https://api.openai.com/v1",
    "openrouter": "https://openrouter.ai/api/v1",
}
"""Where providers serve their models."""

_CHARACTERS_PER_TOKEN: Final = 3
"""Fewer than texts have, so that a limit of tokens is not exceeded."""

_ANSWER_TOKENS: Final = 200


def with_tool_model(settings: AccuracySettings) -> AccuracySettings:
    """The session at the provider of a model's file, where `--model` names the file and there is no URL.

    Raises:
        UsageError: The file names no known provider, or no model.
        SourceError, MalformedError, TaskError: The file, or the tool set, is not what it should be.
    """
    if settings.endpoint.url:
        return settings
    tasks = [task for task in _tasks(settings.tasks.task) if task.options["model"] == settings.endpoint.model]
    if not tasks:
        return settings
    from loadgen.plugins.tool_selection.tool_files import load_model_config

    name = settings.endpoint.model
    model = load_model_config(name, settings.tasks.data)
    changes: dict[str, Any] = {"url": [url_of(name, model)], "model": model_id_of(name, model)}
    is_explicit = settings.endpoint.api_key not in (None, *map(os.environ.get, API_KEYS))
    if (key := os.environ.get(model.api_key_env or "")) and not is_explicit:
        changes["api_key"] = key
    if settings.generation.temperature is None and model.temperature is not None:
        changes["temperature"] = model.temperature
    rates = [rate for task in tasks if (rate := rate_of(model, task, settings.tasks.data)) is not None]
    if rates and not has_load(settings.load):
        changes |= {"rate": str(min(rates)), "arrival": "constant"}
    return changed(settings, **changes)


def url_of(name: str, model: ModelConfig) -> str:
    """The URL of a model's provider."""
    if model.provider not in _PROVIDERS:
        raise UsageError(
            f"{name}: the provider {model.provider!r} is not known; give the endpoint's url, or one of "
            f"{', '.join(_PROVIDERS)}"
        )
    return _PROVIDERS[model.provider]


def model_id_of(name: str, model: ModelConfig) -> str:
    """The provider's name of a model."""
    if not model.model_id:
        raise UsageError(f"{name}: the model's file has no model_id; add it")
    return model.model_id


def rate_of(model: ModelConfig, task: Task, data: Path | None) -> float | None:
    """The most requests per second that the limits of a model allow for a task; None without limits.

    A request counts with the tokens of the task's longest question, a token taken for 3 characters, and 200
    of its answer.
    """
    limits = [] if not model.requests_per_minute else [model.requests_per_minute / 60]
    if model.tokens_per_minute:
        limits.append(model.tokens_per_minute / 60 / _tokens(task, data))
    return min(limits, default=None)


def _tokens(task: Task, data: Path | None) -> float:
    from workloads.question_loading import load

    samples = [question.sample for question in load(task, data).questions]
    longest = max(len(json.dumps([sample.messages(), list(sample.tools)])) for sample in samples)
    return longest / _CHARACTERS_PER_TOKEN + _ANSWER_TOKENS


def _tasks(texts: Sequence[str]) -> list[Task]:
    from workloads.task import parse

    return [parse(text) for text in texts if text.partition(":")[0] == NAME]
