"""The submitter's declarations, from a file: the system, power, and further members of points.

system: 8xH200                      # the name of its folder
system_desc: {system_name: …}       # system_desc.json of each point
system_power: {…}                   # system_power.json
point: {division: Standardized, …}  # more members of each point.yaml
points: {r8: {nodes_used: […]}}     # more members of the point.yaml of single points
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.sessions.errors import UsageError
from loadgen.sessions.files.plain_files import as_json
from workloads.documents import read_text
from workloads.errors import MalformedError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

MOST_BYTES: Final = 1024 * 1024
"""Of the file."""

_MAPPINGS: Final = ("system_desc", "system_power", "point", "points")
_KEYS: Final = ("system", *_MAPPINGS)
_REWORDED: Final = frozenset({"model_name", "dataset_name", "dataset", "data_source", "initialization_steps"})
"""Members whose value in the log is a guess at the submitter's name for something."""
_OF_ONE_POINT: Final = ("offline", "region")
"""Members that cannot be the same at every point."""


@dataclass(frozen=True, slots=True)
class SubmitterFile:
    """The submitter's file.

    Attributes:
        point: More members of each point.
        points: More members of single points, by the names of their folders.
    """

    path: Path | None = None
    system: str | None = None
    system_desc: Mapping[str, Any] = field(default_factory=dict)
    system_power: Mapping[str, Any] = field(default_factory=dict)
    point: Mapping[str, Any] = field(default_factory=dict)
    points: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def with_common(self, measured: Mapping[str, Any]) -> dict[str, Any]:
        """A point with the submitter's members of every point; raise `UsageError` if the log contradicts."""
        return _merged(measured, self.point, f"--about {self.path}: point")

    def with_own(self, folder: str, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with the submitter's members of this point; raise `UsageError` if the log contradicts."""
        return _merged(point, self.points.get(folder, {}), f"--about {self.path}: points.{folder}")

    @property
    def c_max(self) -> int | None:
        """The greatest concurrency that is declared for the curve."""
        values = (source.get("max_supported_concurrency") for source in (self.point, self.system_desc))
        return next((value for value in values if isinstance(value, int)), None)


def read_submitter_file(path: Path | None) -> SubmitterFile:
    """Read the file, or raise `UsageError`; nothing without a file."""
    if path is None:
        return SubmitterFile()
    from workloads.yaml_values import parse_yaml

    try:
        content = parse_yaml(read_text(path, MOST_BYTES))
    except (OSError, MalformedError) as error:
        raise UsageError(f"--about {path}: cannot be read as YAML or JSON ({error})") from error
    _require_keys(path, content)
    try:
        as_json(content)
    except TypeError as error:
        raise UsageError(f"--about {path}: has something that JSON has no place for ({error})") from error
    system = content.get("system")
    if system is not None and not _is_name(system):
        raise UsageError(f"--about {path}: system must be the name of a folder")
    return SubmitterFile(path, **content)


def _require_keys(path: Path, content: Any) -> None:
    """Check that a file has only known keys, with members in the right places."""
    from rulesets.errors import suggestion

    if not isinstance(content, dict):
        raise UsageError(f"--about {path}: must have members: {', '.join(_KEYS)}")
    for key, value in content.items():
        if key not in _KEYS:
            raise UsageError(f"--about {path}: unknown key {key!r}; {suggestion(str(key), list(_KEYS))}")
        if key in _MAPPINGS and not isinstance(value, dict):
            raise UsageError(f"--about {path}: {key} must have members")
    if shared := [name for name in _OF_ONE_POINT if name in content.get("point", {})]:
        raise UsageError(
            f"--about {path}: point.{shared[0]}: differs from point to point; a run with --offline is "
            f"declared as one, and members of one point belong under points: "
            f"{{rN: {{{shared[0]}: …}}}}"
        )
    for name, members in content.get("points", {}).items():
        if not isinstance(members, dict):
            raise UsageError(f"--about {path}: points.{name} must have members")


def _is_name(text: object) -> bool:
    return isinstance(text, str) and text.isprintable() and bool(text.strip(" .")) and "/" not in text


def _merged(measured: Mapping[str, Any], submitted: Mapping[str, Any], where: str) -> dict[str, Any]:
    merged = dict(measured)
    for key, value in submitted.items():
        logged = measured.get(key)
        if isinstance(logged, dict) and isinstance(value, dict):
            merged[key] = _merged(logged, value, f"{where}.{key}")
        elif logged is None or key in _REWORDED or logged == value:
            merged[key] = value
        else:
            raise UsageError(f"{where}.{key}: the log says {logged!r}, not {value!r}: leave it out")
    return merged
