"""What only the submitter knows, from a file: the system, its power, and what a point discloses.

system: 8xH200                      # the name of its folder
system_desc: {system_name: …}       # system_desc.json of each point
system_power: {…}                   # system_power.json
point: {division: Standardized, …}  # more members of each point.yaml
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from cli.errors import UsageError
from cli.exporting.writing import as_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_MAPPINGS: Final = ("system_desc", "system_power", "point")
_KEYS: Final = ("system", *_MAPPINGS)
_SAID_OTHERWISE: Final = frozenset(
    {"model_name", "dataset_name", "dataset", "data_source", "initialization_steps"}
)
"""Members whose value in the log is a guess at how the submitter calls something."""


@dataclass(frozen=True, slots=True)
class Disclosed:
    """What the submitter says.

    Attributes:
        path: The file; None without one.
        system: What the system is called.
        system_desc: What it is.
        system_power: What it draws.
        point: More members of each point.
    """

    path: Path | None = None
    system: str | None = None
    system_desc: Mapping[str, Any] = field(default_factory=dict)
    system_power: Mapping[str, Any] = field(default_factory=dict)
    point: Mapping[str, Any] = field(default_factory=dict)

    def beside(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """A point with what the submitter says of it.

        Raises:
            UsageError: The log says otherwise.
        """
        return _merged(measured, self.point, f"--about {self.path}: point")


def disclosed(path: Path | None) -> Disclosed:
    """Read the file; nothing without one.

    Raises:
        UsageError: It cannot be read, or has a key that means nothing.
    """
    if path is None:
        return Disclosed()
    import yaml

    from rulesets.nearest import suggestion

    try:
        told = yaml.safe_load(path.read_bytes())
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise UsageError(f"--about {path}: cannot be read as YAML or JSON ({error})") from error
    if not isinstance(told, dict):
        raise UsageError(f"--about {path}: must have members: {', '.join(_KEYS)}")
    for key, value in told.items():
        if key not in _KEYS:
            raise UsageError(f"--about {path}: there is no key {key!r}; {suggestion(str(key), list(_KEYS))}")
        if key in _MAPPINGS and not isinstance(value, dict):
            raise UsageError(f"--about {path}: {key} must have members")
    try:
        as_json(told)
    except TypeError as error:
        raise UsageError(f"--about {path}: has something that JSON has no place for ({error})") from error
    system = told.get("system")
    if system is not None and not _is_name(system):
        raise UsageError(f"--about {path}: system must be the name of a folder")
    return Disclosed(path, **told)


def _is_name(told: object) -> bool:
    return isinstance(told, str) and told.isprintable() and bool(told.strip(" .")) and "/" not in told


def _merged(measured: Mapping[str, Any], told: Mapping[str, Any], where: str) -> dict[str, Any]:
    merged = dict(measured)
    for key, value in told.items():
        known = measured.get(key)
        if isinstance(known, dict) and isinstance(value, dict):
            merged[key] = _merged(known, value, f"{where}.{key}")
        elif known is None or key in _SAID_OTHERWISE or known == value:
            merged[key] = value
        else:
            raise UsageError(f"{where}.{key}: the log says {known!r}, not {value!r}: leave it out")
    return merged
