"""The writer's heartbeat: the moment up to which a log is complete, and the time of the last write.

Each batch is committed together with a statement, and where nothing comes, the statement is committed alone:
so a log that was cut off says by itself what may be missing. It is one row a segment, overwritten each time.
"""

from __future__ import annotations

from typing import Final, NamedTuple

INTERVAL_S: Final = 0.05
"""A log that is being written is written to this often, also when nothing happens."""

DDL: Final = """
CREATE TABLE IF NOT EXISTS heartbeats (
    sitting           INTEGER PRIMARY KEY,
    complete_until_ns INTEGER NOT NULL,
    written_ns        INTEGER NOT NULL
);
"""
"""The table. A log that an earlier version made has none until it is resumed."""

BEGIN: Final = "INSERT INTO heartbeats SELECT max(sitting), ?, ? FROM sittings"
BEAT: Final = """
    UPDATE heartbeats SET complete_until_ns = ?, written_ns = ?
    WHERE sitting = (SELECT max(sitting) FROM sittings)"""


class Heartbeat(NamedTuple):
    """The statement committed with a batch. Both times are ns of CLOCK_MONOTONIC.

    Attributes:
        complete_until_ns: Everything that was recorded before this moment is in the log, in this batch or in
            those before. With worker processes: each request that had ended by then has its end in it.
        written_ns: When the batch was written.
    """

    complete_until_ns: int
    written_ns: int
