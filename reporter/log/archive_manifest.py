"""The manifest of an archive: for each log the rows of the small tables, and the files."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import asdict, dataclass
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


TEXT_COLUMNS: Final = frozenset({"session_id", "settings", "environment", "boot_id", "name"})
"""Their columns of texts; the others have numbers."""

_NAME: Final = re.compile(r"events/[^\x00-\x1f\\]+")


@dataclass(frozen=True, slots=True)
class _Versioned:
    """The member of a manifest that every format has."""

    version: int


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
    from pydantic import ValidationError

    stored = place.read(MANIFEST)
    try:
        # A later format may have other members.
        version = _validator(_Versioned).validate_json(stored, strict=True).version
        if version > VERSION:
            raise LogError(
                f"{place.address}: an archive of format {version}, this version reads up to {VERSION}; "
                "upgrade llm-loadgen"
            )
        read: Manifest = _validator(Manifest).validate_json(stored, strict=True)
        _check(read)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise LogError(
            f"{place.address}: the archive is damaged: its {MANIFEST} ({where}: {first['msg']})"
        ) from error
    except ValueError as error:
        raise LogError(f"{place.address}: the archive is damaged: its {MANIFEST} ({error})") from error
    return read


@cache
def _validator(kind: type) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _check(read: Manifest) -> None:
    """Check the rows of the small tables, and that files are inside the archive.

    Raises:
        ValueError: Something is wrong.
    """
    if not read.logs or "session" not in read.logs[0].tables:
        raise ValueError("the list of logs is empty")
    for log in read.logs:
        if not all(
            0 <= size < 2**63 for size in (log.events, log.log_bytes, *(file.size for file in log.files))
        ):
            raise ValueError("a size is out of range")
        for table, rows in log.tables.items():
            if table not in SMALL_TABLES:
                raise ValueError(f"unknown table {table!r}")
            for row in rows:
                if list(map(_is_text, row)) != [column in TEXT_COLUMNS for column in SMALL_TABLES[table]]:
                    raise ValueError(f"a row of the table {table} has wrong types")
        if outside := [
            file.name for file in log.files if ".." in file.name or not _NAME.fullmatch(file.name)
        ]:
            raise ValueError(f"{outside[0]!r} is not the name of a file of an archive")


def _is_text(value: object) -> bool | None:
    """Whether a value is a text, or a number of 64 bits; None for anything else."""
    if isinstance(value, str):
        return True
    is_number = isinstance(value, int) and not isinstance(value, bool) and -(2**63) <= value < 2**63
    return False if is_number else None


def archived_opening(place: Place) -> Mapping[str, Any] | None:
    """The row of the table `session` of the run folder's log, by column; None if absent.

    Raises:
        LogError: The archive is damaged.
    """
    rows = manifest(place).logs[0].tables["session"]
    return dict(zip(SMALL_TABLES["session"], rows[0], strict=True)) if rows else None
