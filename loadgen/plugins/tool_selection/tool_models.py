"""Models for tool selection: endpoints, sampling settings, and token prices."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.tool_selection.tool_files import available, members, read
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_TEXTS: Final = ("name", "provider", "model_id", "api_key_env")
_NUMBERS: Final = ("temperature", "requests_per_minute", "tokens_per_minute")
_ALIASES: Final = {"claude-4.5-haiku": "claude-haiku-4.5"}
_COSTS: Final = ("input_cost", "output_cost")


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """A model, from a file in `models`.

    Attributes:
        input_cost: Dollars per million input tokens.
        output_cost: Dollars per million output tokens.
        name: For people; empty where the file has none.
        provider: Who serves it, such as `openrouter`; empty likewise.
        model_id: The provider's name for it; empty likewise.
        temperature: Of its sampling; None leaves it to the task.
        api_key_env: The environment variable that has the key; empty where the file names none.
        requests_per_minute: The provider's limit; None where the file has none.
        tokens_per_minute: Likewise.
    """

    input_cost: float
    output_cost: float
    name: str = ""
    provider: str = ""
    model_id: str = ""
    temperature: float | None = None
    api_key_env: str = ""
    requests_per_minute: float | None = None
    tokens_per_minute: float | None = None


def model_config(model: str, data: Path | None) -> ModelConfig:
    """Read the file of a model.

    Args:
        model: The file's name in `models`, without its suffix, or another name of a packaged one.
        data: The user's folder.

    Raises:
        SourceError: The file does not exist.
        MalformedError: It is not what it should be; it must have both costs.
    """
    alias = _ALIASES.get(model)
    name = alias if alias is not None and model not in available("models", data) else model
    path, content = read("models", name, data)
    members(path, "", content, (*_TEXTS, *_NUMBERS, *_COSTS))
    costs = {key: _number(path, content, key, "dollars per million tokens, 0 or more") for key in _COSTS}
    numbers = {key: _number(path, content, key, "0 or more") for key in _NUMBERS if key in content}
    texts = {key: _text(path, content, key) for key in _TEXTS if key in content}
    return ModelConfig(**costs, **numbers, **texts)  # type: ignore[arg-type]


def _number(path: Path, content: Mapping[str, Any], key: str, wanted: str) -> float:
    value = content.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise MalformedError(f"{path}: {key}: must be {wanted}, not {value!r}")
    return float(value)


def _text(path: Path, content: Mapping[str, Any], key: str) -> str:
    value = content[key]
    if not isinstance(value, str) or not value.strip():
        raise MalformedError(f"{path}: {key}: must be text, not {value!r}")
    return value
