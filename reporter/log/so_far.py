"""The progress of a run, for resuming."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from lazy_dataclasses import dataclass
from recorder.errors import LogError
from reporter.json_values import document, members
from reporter.log.database import open_log

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


_SCORED: Final = """
    SELECT coalesce(bool_or(started_ns > (SELECT coalesce(max(issued_ns), 0) FROM requests)), false)
    FROM passes WHERE ended = 'completed'"""
"""Requests that are sent after a pass have answers that the pass lacks."""


@dataclass(frozen=True, slots=True)
class RunSoFar:
    """A run up to now.

    Attributes:
        ended: How it ended; see `Report.run`.
        settled: For each prompt, how many measured requests, or conversations, of it have their
            result: an answer, or a failure that the client did not cause.
        measured_s: For how long measured requests were issued, in all segments together.
        last_seq: The last event that this is based on; 0 where there is none.
        questions: The numbers of the prompts that are questions of benchmarks, as far as the log has them.
        scored: Whether a scoring pass came to its end since the last answer.
    """

    ended: str
    session_id: str
    settings: Mapping[str, Any]
    settled: Mapping[int, int]
    measured_s: float
    last_seq: int
    questions: frozenset[int]
    scored: bool


def so_far(run: Path) -> RunSoFar:
    """Read the log of a run, or the existing part.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
    """
    with open_log(run, also=("questions", "passes")) as connection:
        opened = connection.execute("SELECT ended, settings, session_id FROM session").fetchone()
        settled = connection.execute(
            "SELECT prompt_id, count(*) FILTER (conversation_id IS NULL) + count(DISTINCT conversation_id) "
            "FROM requests WHERE measured AND settled AND prompt_id IS NOT NULL GROUP BY prompt_id",
        ).fetchall()
        (last_seq,) = connection.execute("SELECT last_seq FROM extent").fetchone() or (0,)
        issuing = [timeline.issuing for timeline in connection.timelines if timeline.issuing]
        questions = connection.execute("SELECT prompt_id FROM questions").fetchall()
        (scored,) = connection.execute(_SCORED).fetchone() or (False,)
    if opened is None:
        raise LogError(f"{run}: the log is damaged: no settings")
    run_settings = members(document(opened[1]))
    measured_s = sum(until_ns - since_ns for since_ns, until_ns in issuing) / 1e9
    return RunSoFar(
        ended=opened[0],
        session_id=opened[2],
        settings=run_settings,
        settled=dict(settled),
        measured_s=measured_s,
        last_seq=last_seq,
        questions=frozenset(number for (number,) in questions),
        scored=scored,
    )
