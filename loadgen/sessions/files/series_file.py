"""A series: the points, in a folder with `series.json` and one sub-folder per run."""

from __future__ import annotations

import re
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import asdict, dataclass, replace
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.files.run_folder import claim, require_empty, write_whole
from recorder.store import LOG_NAME
from reporter.log.storage_place import has_log

if TYPE_CHECKING:
    from collections.abc import Mapping

SERIES: Final = "series.json"
SCHEMA_VERSION: Final = 1
_LONGEST_NAME: Final = 80
_MOST_NAMED: Final = 20


class SeriesKind(StrEnum):
    """The command that made a series and can resume the series."""

    SWEEP = "sweep"
    SEARCH = "search"
    SUITE = "suite"
    AUDIT = "audit"
    OPTIMIZATION = "optimization"


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """One run of a series.

    Attributes:
        name: Unique in its series; a part of its folder's name.
        axes: The values that distinguish it, by name: the first columns of every table.
        options: `loadgen perf` options, as JSON without secrets; see `loadgen.sessions.series.point_options`.
        headers: The names of the headers that its requests carry, in lower case.
    """

    name: str
    axes: Mapping[str, Any]
    options: Mapping[str, Any]
    headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Series:
    """Runs that belong together.

    Attributes:
        kind: The kind of series.
        definition: What that kind needs to resume and to sum up, as JSON.
        points: The runs in their order; of a search, those that have been chosen so far.
        cooldown_s: The pause between two of them.
    """

    kind: SeriesKind
    definition: Mapping[str, Any]
    points: tuple[SeriesPoint, ...]
    cooldown_s: float = 0.0

    def with_point(self, point: SeriesPoint) -> Series:
        """The series with one more point."""
        return replace(self, points=(*self.points, point))


def new_series_folder(out: Path | None, name: str) -> Path:
    """Choose the folder of a new series; `runs/<time>-<name>`, which is created, where none is named.

    Raises:
        UsageError: The folder exists, and is not empty.
        OSError: It cannot be created.
    """
    if out is None:
        return claim(Path("runs") / f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{_slug(name)}")
    folder = out
    if is_series(folder):
        raise UsageError(
            f"{folder} holds a series already, and nothing is overwritten: choose another --out, "
            f"or resume it: loadgen resume {folder}"
        )
    require_empty(folder, f"{datetime.now().astimezone():%Y%m%d-%H%M%S}-{_slug(name)}")
    return folder


def is_series(path: Path) -> bool:
    """Whether a path is the folder of a series, or a `series.json`."""
    return (path / SERIES).is_file() or (path.name == SERIES and path.is_file())


def require_run(path: Path) -> None:
    """Make sure that a path is a run, and not a series."""
    if not is_series(path):
        return
    folder = path if path.is_dir() else path.parent
    runs = [log.parent.name for log in sorted(folder.glob(f"*/{LOG_NAME}"))]
    more = f" and {len(runs) - _MOST_NAMED} more" if len(runs) > _MOST_NAMED else ""
    named = f"its runs are {', '.join(runs[:_MOST_NAMED])}{more}" if runs else "no run yet"
    raise UsageError(
        f"{folder} is the folder of a {read(folder).kind}, a series: name a run in the series; {named}"
    )


def runs_in(path: Path) -> dict[str, Path]:
    """The started runs of a series, by folder name."""
    folder = path if path.is_dir() else path.parent
    series = read(folder)
    places = (folder_of(folder, series, number) for number in range(len(series.points)))
    runs = {place.name: place for place in places if has_log(place)}
    if not runs:
        raise UsageError(f"{folder} is the folder of a {series.kind} without runs yet")
    return runs


def read(folder: Path) -> Series:
    """Read the definition of a series."""
    import orjson

    path = folder / SERIES
    try:
        definition = orjson.loads(path.read_bytes())
        if definition["schema_version"] != SCHEMA_VERSION:
            raise UsageError(
                f"{path} is of another version of this program: resume it with the version that began it"
            )
        points = tuple(
            SeriesPoint(point["name"], point["axes"], point["options"], tuple(point["headers"]))
            for point in definition["points"]
        )
        return Series(
            SeriesKind(definition["kind"]), definition["definition"], points, float(definition["cooldown_s"])
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{path} cannot be read as a series: {error}") from error


def write(folder: Path, series: Series) -> None:
    """Write the definition of a series atomically, creating the folder."""
    write_json(folder / SERIES, {"schema_version": SCHEMA_VERSION, **asdict(series)})


def write_json(path: Path, content: object) -> None:
    """Write a JSON file atomically, creating the folder."""
    import orjson

    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))
    except OSError as error:
        raise SetupError(f"{path} cannot be written ({error.strerror})") from error


def folder_of(folder: Path, series: Series, number: int) -> Path:
    """The folder of a point, of which the first has number 0: `01-concurrency-1`."""
    return folder / f"{number + 1:02}-{_slug(series.points[number].name)}"


def _slug(name: str) -> str:
    """A name as a part of a file name, without special characters of shells."""
    return re.sub(r"[^A-Za-z0-9._=+-]+", "-", name).strip("-.")[:_LONGEST_NAME] or "point"
