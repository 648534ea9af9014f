"""Files of tool sets, descriptions and models: found by name, and read as YAML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

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

    Returns:
        Where it is, and its keys and values.

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
    """The files of a kind by name: those of the package, replaced by files of the user's folder.

    Args:
        kind: Which.
        data: The user's folder, or the one above it.
    """
    files = _named(kind, PACKAGED)
    for folder in [] if data is None else [data, data / _NAME]:
        files |= _named(kind, folder)
    return files


def members(path: Path, key: str, value: object, allowed: Collection[str]) -> Mapping[str, Any]:
    """A part of a file as keys and values.

    Args:
        path: The file.
        key: The place of the part.
        value: The part.
        allowed: What keys there may be; none allows any.

    Raises:
        MalformedError: It is something else, or has a key that is not known.
    """
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
