"""The manifest of an archive: for each log the rows of the small tables, and the files."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

import orjson

from recorder.errors import LogError
from reporter.log.storage_place import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reporter.log.storage_place import Place

VERSION: Final = 1
"""Of the format; a reader accepts its own and older ones."""

SMALL_TABLES: Final[Mapping[str, Sequence[str]]] = {
    "session": ("session_id", "started_at_ns", "started_wall_ns", "settings", "environment"),
    "sittings": (
        *("sitting", "first_seq", "started_at_ns", "started_wall_ns", "shift_ns", "boot_id", "environment"),
    ),
    "heartbeats": ("sitting", "complete_until_ns", "written_ns"),
    "event_types": ("code", "name"),
}
"""The tables of a log but `events`, with their columns."""


@dataclass(frozen=True, slots=True)
class File:
    """A file of an archive: path, number of events, and length in bytes."""

    name: str
    events: int
    size: int


@dataclass(frozen=True, slots=True)
class ArchivedTables:
    """A log in an archive.

    Attributes:
        node: Of a shard its node; None for the log in the run's folder.
        tables: The rows of each of `SMALL_TABLES` that the log has.
        files: Those with its events.
        events: How many events it has.
        log_bytes: How long the log was.
    """

    node: str | None
    tables: dict[str, list[list[Any]]]
    files: list[File]
    events: int
    log_bytes: int


@dataclass(frozen=True, slots=True)
class Manifest:
    """The contents of an archive.

    Attributes:
        logs: The logs: that in the run's folder first.
        archive_bytes: How long all files are together.
        made_by: The version of llm-loadgen.
        version: Of the format.
    """

    logs: list[ArchivedTables]
    archive_bytes: int
    made_by: str
    version: int = VERSION

    def write(self, place: Place) -> None:
        """Write the manifest, which makes the archive exist."""
        place.write(MANIFEST, orjson.dumps(asdict(self), option=orjson.OPT_INDENT_2))


def manifest(place: Place) -> Manifest:
    """Read the manifest of an archive.

    Raises:
        LogError: It is damaged, or of a later version.
    """
    try:
        read = orjson.loads(place.read(MANIFEST))
        if read["version"] > VERSION:
            raise LogError(
                f"{place.address}: an archive of format {read['version']}, this version reads up to "
                f"{VERSION}; upgrade llm-loadgen"
            )
        logs = [
            ArchivedTables(**{**log, "files": [File(**file) for file in log["files"]]})
            for log in read["logs"]
        ]
        return Manifest(**{**read, "logs": logs})
    except (ValueError, TypeError, KeyError) as error:
        raise LogError(f"{place.address}: the archive is damaged: its {MANIFEST} ({error})") from error


def archived_opening(place: Place) -> Mapping[str, Any] | None:
    """The row of the table `session` of the run folder's log, by column; None if absent.

    Raises:
        LogError: The archive is damaged.
    """
    rows = manifest(place).logs[0].tables["session"]
    return dict(zip(SMALL_TABLES["session"], rows[0], strict=True)) if rows else None
