"""Files of tool sets, descriptions and models by name, read as YAML; models have endpoints and prices."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from lazy_dataclasses import dataclass
from workloads.errors import MalformedError, SourceError, did_you_mean
from workloads.sources import read_stored

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

Kind = Literal["tool_sets", "descriptions", "models"]

MOST_BYTES: Final = 2**20

PACKAGED: Final = Path(__file__).with_name("data")
_NAME: Final = "tool_selection"
_SUFFIXES: Final = (".yaml", ".yml")


def read(kind: Kind, name: str, data: Path | None) -> tuple[Path, Mapping[str, Any]]:
    """Read the file of a name: that of the user's folder, else the one that comes with the package.

    Args:
        kind: The folder that it is in, or what its name begins with: `tool_sets/8-tool.yaml`, or
            `tool_sets__8-tool.yaml`.
        name: Without kind and suffix.
        data: The user's folder, or the one above it.

    Raises:
        SourceError: No file has this name, or it cannot be read.
        MalformedError: It is not YAML, has a key twice, or has no keys.
    """
    files = available(kind, data)
    if name not in files:
        raise SourceError(
            f"{_NAME}: {kind} has no file {name}.yaml{did_you_mean(name, files)}; there are "
            f"{', '.join(sorted(files))}, and --data DIR may have more in DIR/{kind}"
        )
    return files[name], _mapping(files[name])


def available(kind: Kind, data: Path | None) -> dict[str, Path]:
    """The files of a kind by name: those of the package, replaced by files of the user's folder."""
    files = _named(kind, PACKAGED)
    for folder in [] if data is None else [data, data / _NAME]:
        files |= _named(kind, folder)
    return files


def members(path: Path, key: str, value: object, allowed: Collection[str]) -> Mapping[str, Any]:
    """A part of a file as keys and values."""
    place = f"{path}: {key}" if key else str(path)
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise MalformedError(f"{place}: must hold keys and values")
    if unknown := [name for name in value if allowed and name not in allowed]:
        raise MalformedError(
            f"{place}: unknown key {unknown[0]!r} here{did_you_mean(unknown[0], allowed)}; "
            f"the keys are {', '.join(allowed)}"
        )
    return value


def _named(kind: Kind, folder: Path) -> dict[str, Path]:
    """The files of a kind in a folder, by name."""
    flat = {path.stem.removeprefix(f"{kind}__"): path for path in sorted(folder.glob(f"{kind}__*"))}
    inside = {path.stem: path for path in sorted((folder / kind).glob("*"))}
    return {name: path for name, path in (flat | inside).items() if path.suffix in _SUFFIXES}


def _mapping(path: Path) -> Mapping[str, Any]:
    from workloads.yaml_values import NotYAMLError, parse_yaml

    try:
        content = read_stored(path, MOST_BYTES).decode("utf-8-sig")
        return members(path, "", parse_yaml(content), ())
    except UnicodeDecodeError as error:
        raise MalformedError(f"{path}: is not text in UTF-8 (byte {error.start})") from error
    except NotYAMLError as error:
        raise MalformedError(f"{path}: is not YAML that can be read: {error}") from error


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
        provider: Who serves it, such as `openrouter`; empty if unknown.
        model_id: The provider's name for it; empty if unknown.
        temperature: Of its sampling; None leaves it to the task.
        api_key_env: The environment variable that has the key; empty where the file names none.
        requests_per_minute: The provider's limit; None where the file has none.
        tokens_per_minute: As above.
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


def load_model_config(name: str, data: Path | None = None) -> ModelConfig:
    """Load the description of a model: provider, limits, and prices in dollars per million tokens.

    Args:
        name: Of a packaged model, such as `gpt-5-mini`, or of a file in `data`.
        data: A folder with `models/NAME.yaml` or `models__NAME.yaml`.

    Raises:
        SourceError: The file does not exist.
        MalformedError: It does not describe a model; it must have both costs.
    """
    if name in _ALIASES and name not in available("models", data):
        name = _ALIASES[name]
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
