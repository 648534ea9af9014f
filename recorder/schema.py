"""The file format: tables, version, and how one event becomes one row.

Times are integer nanoseconds of CLOCK_MONOTONIC; the `session` row anchors them to wall time. Big values
stand last in `events`, where SQLite does not have to touch them to read the columns before. In a payload, a
member whose name ends in `_ns` is such a time, and nothing else is.

A run that was interrupted and resumed has several segments, each with a row in `sittings`, as all versions
name the table: its events are those from `first_seq` on. The monotonic clock starts again with the machine:
`shift_ns`, added to the times of a segment, puts them on the clock of the first one.

`chunk_gaps_us` is the arrival of every chunk that carried a token: little-endian uint32, in microseconds;
the first is counted from REQUEST_SENT, each other from the chunk before. Gaps are differences of rounded
offsets, so their running sum is within 0.5 us of the truth everywhere, and only a single gap of more than
71 minutes would not fit (it is stored as the greatest value).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import orjson

from recorder.event import EventType

APPLICATION_ID: Final = 0x4C4F4447
"""`LODG` in SQLite's application_id marks a file as a log of this program."""

VERSION: Final = 2
"""The schema's version, in SQLite's user_version. A reader accepts its own version and older ones.

1 has no table `sittings`: there was one.
"""

DDL: Final = """
CREATE TABLE session (
    session_id      TEXT PRIMARY KEY,
    started_at_ns   INTEGER NOT NULL,
    started_wall_ns INTEGER NOT NULL,
    settings        TEXT NOT NULL,
    environment     TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE sittings (
    sitting         INTEGER PRIMARY KEY,
    first_seq       INTEGER NOT NULL,
    started_at_ns   INTEGER NOT NULL,
    started_wall_ns INTEGER NOT NULL,
    shift_ns        INTEGER NOT NULL,
    boot_id         TEXT NOT NULL,
    environment     TEXT NOT NULL
);

CREATE TABLE event_types (
    code INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE
);

CREATE TABLE events (
    seq           INTEGER PRIMARY KEY,
    code          INTEGER NOT NULL REFERENCES event_types (code),
    at_ns         INTEGER NOT NULL,
    sample_uuid   TEXT,
    data          TEXT,
    texts         TEXT,
    chunk_gaps_us BLOB
);
"""

COLUMNS: Final = ("code", "at_ns", "sample_uuid", "data", "texts", "chunk_gaps_us")
"""What the writer fills in; `seq` is the order of writing, by SQLite."""

type_rows: Final = [(kind.value, kind.name) for kind in EventType]

Row = tuple[int, int, str | None, str | None, str | None, bytes | None]


def encode(value: Any) -> str:
    """Encode a payload as JSON text, or raise TypeError."""
    try:
        return orjson.dumps(value).decode()
    except TypeError:
        # Keys that are not texts take longer, and almost no payload has them.
        return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


def row(event: tuple[EventType, int, str | None, Any]) -> Row:
    """Turn an event, or the fields of an event, into the values of `COLUMNS`.

    A payload that cannot be encoded is an error in this program, not a reason to lose the event: the row
    then carries `encode_error` instead.
    """
    kind, at_ns, sample_uuid, data = event
    texts = gaps = None
    try:
        # Most payloads are a plain dict, which is known sooner than any mapping.
        if type(data) is dict or isinstance(data, Mapping):
            if "texts" in data or "chunk_gaps_us" in data:
                data = dict(data)
                # What is not an arrival of chunks stays with the other members.
                gaps = data.pop("chunk_gaps_us") if isinstance(data.get("chunk_gaps_us"), bytes) else None
                texts = encode(data.pop("texts")) if "texts" in data else None
            encoded = encode(data) if data else None
        else:
            encoded = None if data is None else encode(data)
    except TypeError as error:
        encoded = encode({"encode_error": str(error)})
    return int(kind), at_ns, sample_uuid, encoded, texts, gaps


HEARTBEAT_S: Final = 0.05
"""A log that is being written is written to this often, also when nothing happens."""

HEARTBEATS_DDL: Final = """
CREATE TABLE IF NOT EXISTS heartbeats (
    sitting           INTEGER PRIMARY KEY,
    complete_until_ns INTEGER NOT NULL,
    written_ns        INTEGER NOT NULL
);
"""
"""The writer's heartbeat: the moment up to which a log is complete, and the time of the last write.

Each batch is committed together with it, and where nothing comes, it is committed alone: so a log that was
cut off says by itself what may be missing. It is one row a segment, overwritten each time. A log that an
earlier version made has no such table until it is resumed.
"""

BEGIN_HEARTBEAT: Final = "INSERT INTO heartbeats SELECT max(sitting), ?, ? FROM sittings"
BEAT: Final = """
    UPDATE heartbeats SET complete_until_ns = ?, written_ns = ?
    WHERE sitting = (SELECT max(sitting) FROM sittings)"""


class Heartbeat(NamedTuple):
    """The statement committed with a batch. Both times are ns of CLOCK_MONOTONIC."""

    #: Everything that was recorded before this moment is in the log, in this batch or in those before. With
    #: worker processes: each request that had ended by then has its end in it.
    complete_until_ns: int
    written_ns: int  #: when the batch was written
