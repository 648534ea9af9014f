"""Reads stages from a file: a list in YAML, JSON, TOML or CSV, by file suffix.

    - {name: morning, duration: 60s, rate: 5}
    - {name: noon, duration: 30s, rate: "ramp:5..50,30s"}
    - {name: afternoon, start: 2m, duration: 60s, rate: 20}

`duration` and `rate` (a number, or what `rate_text.py` reads) are needed; a stage begins where
the one ahead of it ended, unless it has a `start`. Times have a unit; without one they are seconds. In TOML
stages are tables `[[stages]]`, as they may be in YAML and JSON; in CSV the first line has the keys.
"""

from __future__ import annotations

import csv
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from loadgen.driver.arrivals.rate_limits import require_seconds, shown
from loadgen.driver.arrivals.rate_text import profile, seconds
from loadgen.driver.arrivals.stages import Stage, Stages
from loadgen.driver.errors import ProfileError, StagesError
from workloads.documents import parse_json, parse_toml, read_text
from workloads.errors import MalformedError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from loadgen.driver.arrivals.rate_profile import Profile

MOST_BYTES: Final = 10_000_000
"""Of a file of JSON or CSV."""

MOST_BYTES_TO_PARSE: Final = 256 * 1024
"""Of a file of YAML or TOML: their parsers take hundreds of times the memory of the text."""

MOST_STAGES: Final = 100_000
"""A stage each second for a day has room."""

_KEYS: Final = ("name", "start", "duration", "rate")
_CLOSE_S: Final = 1e-9
"""Sums of decimal fractions are off by less."""


def read_stages(path: Path) -> Stages:
    """Read a file of stages; raise `StagesError`, with the fault and the place."""
    entries = _listed(path)
    if not entries:
        raise StagesError(f"{path} has no stages: give at least one, with a duration and a rate")
    if len(entries) > MOST_STAGES:
        raise StagesError(f"{path}: has more than {MOST_STAGES:,} stages")
    stages: list[Stage] = []
    for number, members in enumerate(entries, 1):
        where = f"{path}: stage {number}{_called(members)}"
        try:
            stages.append(_stage(members, stages[-1].end_s if stages else 0.0))
        except ProfileError as error:
            raise StagesError(f"{where}: {error}") from error
    whole = Stages(tuple(stages))
    if not whole.peak:
        raise StagesError(f"{path}: no stage has a rate above 0, so that no request would ever be sent")
    return whole


def _listed(path: Path) -> list[Any]:
    """The stages of a file in any format."""
    if (read := _READERS.get(path.suffix.lower())) is None:
        raise StagesError(f"{path}: stages are in a file named *{', *'.join(_READERS)}")
    content = read(_content(path), path)
    if isinstance(content, dict):
        if unknown := sorted(str(key) for key in content if key != "stages"):
            hint = did_you_mean(unknown[0], ("stages",))
            raise StagesError(f"{path}: unknown key {unknown[0]!r} next to a list of stages{hint}")
        content = content.get("stages")
    if content is None:
        return []
    if not isinstance(content, list):
        raise StagesError(f"{path} is not a list of stages, nor has it a key 'stages' with one")
    return content


def _content(path: Path) -> str:
    bounded = path.suffix.lower() in {".yaml", ".yml", ".toml"}
    most_bytes = MOST_BYTES_TO_PARSE if bounded else MOST_BYTES
    otherwise = "write this many stages as .csv or .json" if bounded else ""
    try:
        return read_text(path, most_bytes, otherwise)
    except MalformedError as error:
        raise StagesError(f"{path}: {error}") from error
    except OSError as error:
        raise StagesError(f"{path}: cannot be read ({error.strerror})") from error


def _yaml(content: str, path: Path) -> Any:
    from workloads.yaml_values import parse_yaml

    return _parsed(parse_yaml, "YAML", content, path)


def _json(content: str, path: Path) -> Any:
    def once(members: list[tuple[str, Any]]) -> dict[str, Any]:
        _require_once([key for key, _ in members], path)
        return dict(members)

    return _parsed(partial(parse_json, members=once), "JSON", content, path) if content.strip() else None


def _toml(content: str, path: Path) -> Any:
    return _parsed(parse_toml, "TOML", content, path)


def _parsed(parse: Callable[[str], Any], language: str, content: str, path: Path) -> Any:
    try:
        return parse(content)
    except MalformedError as error:
        raise StagesError(f"{path}: is not {language} that can be read: {error}") from error


def _csv(content: str, path: Path) -> Any:
    reader = csv.DictReader(content.splitlines(), strict=True, skipinitialspace=True)
    try:
        keys = [key.strip() for key in reader.fieldnames or ()]
        _require_once(keys, path)
        if unknown := [key for key in keys if key not in _KEYS]:
            raise StagesError(f"{path}: unknown key {unknown[0]!r}{did_you_mean(unknown[0], _KEYS)}")
        rows = list(islice(reader, MOST_STAGES + 1))
    except csv.Error as error:
        raise StagesError(f"{path}: is not CSV ({error})") from error
    for number, row in enumerate(rows, 1):
        if None in row:
            raise StagesError(f"{path}: stage {number}: has more cells than the first line has keys")
    # An empty cell says nothing.
    return [{key.strip(): cell for key, cell in row.items() if cell and cell.strip()} for row in rows]


def _require_once(keys: Iterable[Any], path: Path) -> None:
    seen: set[str] = set()
    for key in map(str, keys):
        if key in seen:
            raise StagesError(f"{path}: the key {key!r} stands twice")
        seen.add(key)


_READERS: Final[Mapping[str, Callable[[str, Path], Any]]] = {
    ".yaml": _yaml,
    ".yml": _yaml,
    ".json": _json,
    ".toml": _toml,
    ".csv": _csv,
}


def _called(members: Any) -> str:
    name = members.get("name") if isinstance(members, dict) else None
    return f" ({name!r})" if isinstance(name, str) else ""


def _stage(members: Any, end_s: float) -> Stage:
    """One stage."""
    if not isinstance(members, dict):
        raise ProfileError("is not a table of keys and values: give it a duration and a rate")
    for key in members:
        if key not in _KEYS:
            raise ProfileError(f"unknown key {key!r}{did_you_mean(str(key), _KEYS)}")
    if missing := [key for key in ("duration", "rate") if members.get(key) is None]:
        raise ProfileError(f"has no {' and no '.join(missing)}")
    duration_s = _time("duration", members["duration"])
    require_seconds(duration_s)
    start_s = end_s if members.get("start") is None else _time("start", members["start"])
    if start_s < 0:
        raise ProfileError(f"start {shown(start_s)} s: is before the beginning of the run")
    if start_s < end_s - _CLOSE_S:
        raise ProfileError(
            f"start {shown(start_s)} s: overlaps the stage ahead of it, which ends at {shown(end_s)} s"
        )
    rate = _rate(members["rate"], duration_s)
    return Stage(max(start_s, end_s), duration_s, rate, _name(members.get("name")))


def _time(key: str, value: Any) -> float:
    try:
        return seconds(_text(value))
    except ProfileError as error:
        raise ProfileError(f"{key}: {error}") from error


def _rate(value: Any, duration_s: float) -> Profile:
    try:
        rates = profile(_text(value))
    except ProfileError as error:
        raise ProfileError(f"rate: {error}") from error
    if duration_s < rates.end_s < float("inf"):
        raise ProfileError(
            f"rate: {rates.text} takes longer than the stage, which lasts {shown(duration_s)} s"
        )
    return rates


def _text(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ProfileError(f"{value!r} is neither a number nor a text")
    return value if isinstance(value, str) else repr(value)


def _name(value: Any) -> str | None:
    if value is not None and not isinstance(value, int | float | str):
        raise ProfileError(f"name: {value!r} is not a text")
    return None if value is None else str(value)
