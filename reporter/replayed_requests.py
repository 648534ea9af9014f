"""The requests of an earlier run with their times, for a replay."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass
from recorder.errors import LogError
from recorder.store import log_path
from reporter.errors import blaming
from reporter.log.database import open_log
from reporter.log.database_in_memory import empty_database
from reporter.log.opened import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from reporter.log.database import OpenLog


MOST_REQUESTS: Final = 2_000_000

_BATCH_ROWS: Final = 10_000


@dataclass(frozen=True, slots=True)
class MeasuredRequest:
    """A measured request.

    Attributes:
        turn: The turn of its conversation, from 0.
        conversation: The conversation; None for a single question.
        at_ns: When it was due, on a clock that stops between the segments of a run.
        output_tokens: The length of its answer, from any token source; None where that is unknown.
        answer: The answer's text and tool calls, of a conversation.
    """

    prompt_id: int
    turn: int
    conversation: str | None
    at_ns: int
    output_tokens: int | None
    tags: Mapping[str, str]
    answer: Mapping[str, Any]


def asked(run: Path) -> Iterator[MeasuredRequest]:
    """The measured requests of a run, in the order in which they were due, whatever their outcome.

    Of a request that was interrupted and sent again in a later segment, the later one counts.

    Raises:
        LogError: The log is missing, damaged, of a version that cannot be read, or has more than
            `MOST_REQUESTS`.
    """
    with open_log(run, ("outputs",)) as log, blaming(log_path(run)):
        count_row = log.execute(_COUNT).fetchone() or (0,)
        if count_row[0] > MOST_REQUESTS:
            raise LogError(
                f"{run}: {count_row[0]} requests; runs of more than {MOST_REQUESTS} cannot be replayed"
            )
        began_ns = _beginnings(log)
        rows = log.execute(_ASKED)
        while batch := rows.fetchmany(_BATCH_ROWS):
            for prompt_id, turn, conversation, segment, scheduled_ns, tokens, tags, output, calls in batch:
                yield MeasuredRequest(
                    *(prompt_id, turn or 0, conversation, scheduled_ns - began_ns[segment], tokens),
                    tags=orjson.loads(tags) if tags else {},
                    answer=_answer(output, calls) if conversation is not None else {},
                )


def texts_asked(run: Path) -> dict[tuple[int, int], Any]:
    """Each prompt of a run as in the log, by its number and the turn.

    Raises:
        LogError: The log is missing, damaged, or of a version that cannot be read.
    """
    texts: dict[tuple[int, int], Any] = {}
    with opened(run) as log, empty_database() as connection:
        with log.stream(connection, _TEXTS):
            rows = connection.execute("SELECT data::VARCHAR, texts::VARCHAR FROM stream").fetchall()
        try:
            for data, messages_json in rows:
                issue = orjson.loads(data)
                if issue.get("phase") != "judge":
                    texts[issue["prompt_id"], issue.get("turn") or 0] = orjson.loads(messages_json)
        except (orjson.JSONDecodeError, KeyError, TypeError) as error:
            raise LogError(f"{log_path(run)}: the log is damaged ({error})") from error
    return texts


_COUNT: Final = "SELECT count(*) FROM counted WHERE measured"

_ASKED: Final = """
    SELECT
        prompt_id, turn, conversation_id, segment, scheduled_ns, counted_output, tags::VARCHAR, output,
        tool_calls::VARCHAR
    FROM counted LEFT JOIN outputs USING (sample_uuid)
    WHERE measured AND status <> 'abandoned' AND prompt_id IS NOT NULL AND scheduled_ns IS NOT NULL
    ORDER BY segment, scheduled_ns, prompt_id"""

_TEXTS: Final = """
    SELECT data, texts FROM events
    WHERE code = EventType.LOADGEN_ISSUE_CALLED AND texts IS NOT NULL AND data IS NOT NULL"""


def _beginnings(log: OpenLog) -> dict[int, int]:
    """The time to subtract in each segment, so that it begins at the end of the one before."""
    spans = log.execute(
        "SELECT segment, min(scheduled_ns), max(greatest(scheduled_ns, coalesce(ended_ns, scheduled_ns))) "
        "FROM requests WHERE measured AND scheduled_ns IS NOT NULL GROUP BY segment ORDER BY segment"
    ).fetchall()
    beginnings: dict[int, int] = defaultdict(int)
    total_ns = 0
    for segment, first_ns, last_ns in spans:
        beginnings[segment] = first_ns - total_ns
        total_ns += last_ns - first_ns
    return beginnings


def _answer(output: str | None, calls: str | None) -> dict[str, Any]:
    message: dict[str, Any] = {"content": output or ""}
    return {**message, "tool_calls": orjson.loads(calls)} if calls else message
