"""What a run has come to, for whoever is to go on with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson

from recorder.errors import LogError
from reporter.log import open_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class SoFar:
    """A run up to now.

    Attributes:
        ended: How it ended; see `Report.run`.
        settings: What it was to do, as the log keeps it.
        settled: For each prompt, how many measured requests that asked it have their result: an answer, or a
            failure that is not the client's own doing.
        measured_s: How long the performance phases of all sittings took together.
        last_seq: The last event that all this is known from; 0 where there is none.
    """

    ended: str
    settings: Mapping[str, Any]
    settled: Mapping[int, int]
    measured_s: float
    last_seq: int


def so_far(run: Path) -> SoFar:
    """Read the log of a run, or of what there is of it.

    Raises:
        LogError: There is no log that this version reads, or it is damaged.
    """
    with open_log(run) as connection:
        opened = connection.execute("SELECT ended, settings FROM session").fetchone()
        settled = connection.execute(
            "SELECT prompt_id, count(*) FROM requests WHERE measured AND settled AND prompt_id IS NOT NULL "
            "GROUP BY prompt_id",
        ).fetchall()
        (last_seq,) = connection.execute("SELECT last_seq FROM extent").fetchone() or (0,)
        (measured_ns,) = connection.execute(
            "SELECT coalesce(sum(coalesce(ended_ns, last_ns) - started_ns), 0) FROM phases JOIN "
            "(SELECT sitting, max(at_ns) AS last_ns FROM session_events GROUP BY sitting) USING (sitting) "
            "WHERE phase = 'performance'",
        ).fetchone() or (0,)
    if opened is None:
        raise LogError(f"{run}: the log is damaged: it does not say what was run")
    settings = orjson.loads(opened[1])
    known = settings if isinstance(settings, dict) else {}
    return SoFar(opened[0], known, dict(settled), measured_ns / 1e9, last_seq)
