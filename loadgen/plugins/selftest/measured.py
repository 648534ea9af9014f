"""The client's log, through the reporter's views."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final

import orjson

from lazy_dataclasses import dataclass, field
from recorder.event import TERMINAL, Event, EventType
from recorder.lifecycle import violations

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path


_SAMPLES: Final = """
    SELECT prompt_id, sample_uuid, status, error, error_message, ttft_ms, ttfo_ms, ttfv_ms, tpot_ms,
        last_token_ms, (complete_ns - sent_ns) / 1e6 AS answer_ms, output_tokens, token_source, chunks,
        silent_chunks, streamed
    FROM samples ORDER BY issued_ns
"""
_OUTPUTS: Final = "SELECT sample_uuid, output, reasoning, tool_calls FROM outputs"
_UNLAWFUL: Final = "SELECT sample_uuid, violation FROM violations"
_EVENTS: Final = "SELECT type, at_ns, sample_uuid, data FROM events WHERE sample_uuid <> '' ORDER BY seq"
_ENDS: Final = frozenset(kind.name for kind in TERMINAL)
_TIMED: Final = re.compile("_ns$|^reads$|^coalesced$|^late_chunks$").search
"""Members of a payload that depend on when its chunks arrived."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoggedRequest:
    """One request in the client's log; times in ms from `sent`, None for absent times.

    Attributes:
        answer_ms: To the end of the response.
        unlawful: Laws of the log that it breaks.
        payload: What the log has of the end, without times.
        is_plain: Whether compiled code followed it to the end.
    """

    prompt_id: int
    sample_uuid: str
    status: str
    error: str | None
    error_message: str | None
    ttft_ms: float | None
    ttfo_ms: float | None
    ttfv_ms: float | None
    tpot_ms: float | None
    last_token_ms: float | None
    answer_ms: float | None
    output_tokens: int | None
    token_source: str | None
    chunks: int | None
    silent_chunks: int | None
    streamed: bool | None
    output: str
    reasoning: str | None
    arguments: str | None
    retry_after_s: float | None
    unlawful: tuple[str, ...]
    payload: Mapping[str, Any] = field(default_factory=dict)
    is_plain: bool = False

    @property
    def seen(self) -> str:
        """The outcome that the client saw: `completed`, or a failure's name."""
        return self.error or self.status


def read(folder: Path, plain: Collection[str]) -> Mapping[int, Sequence[LoggedRequest]]:
    """The requests of each row, in order of issue; `plain`: those that compiled code followed to the end."""
    from reporter.log.database import open_log, rows_of

    with open_log(folder, also=("events", "outputs")) as log:
        texts = {row["sample_uuid"]: row for row in rows_of(log.execute(_OUTPUTS))}
        unlawful = defaultdict(set)
        for row in rows_of(log.execute(_UNLAWFUL)):
            unlawful[row["sample_uuid"]].add(row["violation"])
        events = rows_of(log.execute(_EVENTS))
        for sentence, uuid in _out_of_order(events):
            unlawful[uuid].add(sentence)
        ends = {row["sample_uuid"]: orjson.loads(row["data"]) for row in events if row["type"] in _ENDS}
        requests: dict[int, list[LoggedRequest]] = defaultdict(list)
        for row in rows_of(log.execute(_SAMPLES)):
            uuid = row["sample_uuid"]
            text = texts.get(uuid, {})
            request = LoggedRequest(
                **row,
                output=text.get("output") or "",
                reasoning=text.get("reasoning"),
                arguments=_arguments(text.get("tool_calls")),
                retry_after_s=ends.get(uuid, {}).get("retry_after_s"),
                unlawful=tuple(sorted(unlawful[uuid])),
                payload={name: value for name, value in ends.get(uuid, {}).items() if not _TIMED(name)},
                is_plain=uuid in plain,
            )
            requests[request.prompt_id].append(request)
    return requests


def _out_of_order(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Each illegal step of a request, with the request."""
    by_request: dict[str, list[Event]] = defaultdict(list)
    for row in rows:
        event = Event(EventType[row["type"]], row["at_ns"], row["sample_uuid"])
        by_request[row["sample_uuid"]].append(event)
    return [(sentence, uuid) for uuid, events in by_request.items() for sentence in violations(events)]


def _arguments(tool_calls: str | None) -> str | None:
    """The arguments of all calls, one after the other."""
    if not tool_calls or not (calls := orjson.loads(tool_calls)):
        return None
    return "".join((call.get("function") or {}).get("arguments") or "" for call in calls) or None
