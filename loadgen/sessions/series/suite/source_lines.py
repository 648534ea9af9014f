"""A suite's file as it is written: plain values, and the line of each."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass, field
from loadgen.sessions.errors import UsageError
from workloads.documents import parse_toml
from workloads.errors import MalformedError
from workloads.yaml_values import NotYAMLError, parse_with_lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Place = tuple[str | int, ...]
"""The place of a value: keys, with `_` for `-`, and numbers of list items from 0."""

MOST_BYTES: Final = 256 * 1024
"""The most bytes of a suite: parsing a file that is made to be long would be slow."""

_YAML: Final = {".yaml", ".yml"}
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([\w.\"'-]+)\s*\]")
_KEY: Final = re.compile(r"\s*[\"']?([\w-]+)[\"']?\s*[=.]")
_NAMED: Final = ("models", "benchmarks", "loads")


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """The content of a file before validation.

    Attributes:
        path: The file.
        sha256: Of its bytes.
        tables: Its content as plain values.
        lines: The lines of values, counted from 1, as far as they are known.
    """

    path: Path
    sha256: str
    tables: Mapping[str, Any]
    lines: Mapping[Place, int] = field(default_factory=dict)

    def error(self, place: Place, message: str) -> UsageError:
        """Make an error that names the file, the line, the table and the key."""
        places = (place[:length] for length in range(len(place), 0, -1))
        line = next((self.lines[each] for each in places if each in self.lines), None)
        where = f"{self.path}:{line}" if line else str(self.path)
        return UsageError(": ".join(filter(None, (where, self._described(place), message))))

    def table(self, kind: str, number: int | None = None) -> str:
        """The name of a table: `[defaults]`, or `[[models]] 2 (big)`."""
        if kind not in _NAMED:
            return f"[{kind}]"
        listed = self.tables.get(kind)
        if number is None or not isinstance(listed, list) or number >= len(listed):
            return f"[[{kind}]]"
        name = listed[number].get("name") if isinstance(listed[number], dict) else None
        return f"[[{kind}]] {number + 1}" + (f" ({name})" if isinstance(name, str) else "")

    def _described(self, place: Place) -> str:
        if not place:
            return ""
        kind, *rest = place
        number = rest.pop(0) if rest and isinstance(rest[0], int) else None
        key = ".".join(map(str, rest))
        return " ".join(
            filter(None, (self.table(str(kind), number if isinstance(number, int) else None), key))
        )


def read(path: Path) -> SuiteSource:
    """Read a file by its suffix: TOML, or YAML (`.yaml`, `.yml`)."""
    from hashlib import sha256

    if path.suffix.lower() not in {".toml", *_YAML}:
        raise UsageError(
            f"{path}: a suite is a .toml or a .yaml file; `loadgen init` writes one to begin with"
        )
    content = _content(path)
    try:
        text = content.decode()
        tables, lines = _toml(path, text) if path.suffix.lower() == ".toml" else _yaml(path, text)
    except UnicodeDecodeError as error:
        raise UsageError(f"{path} is not UTF-8 text (byte {error.start})") from error
    return SuiteSource(path, sha256(content).hexdigest(), tables, lines)


def _content(path: Path) -> bytes:
    if not path.exists():
        raise UsageError(f"{path} does not exist; `loadgen init {path}` writes a suite to begin with")
    if not path.is_file():
        raise UsageError(f"{path} is not a file")
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from error
    if len(content) > MOST_BYTES:
        raise UsageError(f"{path} has more than {MOST_BYTES} bytes, as no suite does")
    return content


def _toml(path: Path, text: str) -> tuple[dict[str, Any], dict[Place, int]]:
    try:
        return parse_toml(text), dict(_lines(text))
    except MalformedError as error:
        raise UsageError(f"{path} is not TOML: {error}") from error


def _lines(text: str) -> Iterator[tuple[Place, int]]:
    """Find the lines of tables and keys, which `tomllib` does not give."""
    table: Place = ()
    counts: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            name, *inner = (
                str(_normal(part)) for part in header[2].replace('"', "").replace("'", "").split(".")
            )
            table = (name, *inner)
            if header[1] == "[[":
                table = (name, counts.setdefault(name, 0))
                counts[name] += 1
            yield table, number
        elif key := _KEY.match(line):
            yield (*table, _normal(key[1])), number


def _yaml(path: Path, text: str) -> tuple[dict[str, Any], dict[Place, int]]:
    try:
        tables, lines = parse_with_lines(text)
    except NotYAMLError as error:
        line = f":{error.line}" if error.line else ""
        raise UsageError(f"{path}{line}: not YAML: {error.problem}") from error
    if not isinstance(tables, dict | None):
        raise UsageError(
            f"{path}: a suite has keys at the top: meta, defaults, run, models, benchmarks, loads"
        )
    return tables or {}, {tuple(map(_normal, place)): line for place, line in lines.items()}


def _normal(key: str | int) -> str | int:
    return key.replace("-", "_") if isinstance(key, str) else key
