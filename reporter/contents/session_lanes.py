"""The sessions and the requests that a page draws over time."""

from __future__ import annotations

from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from lazy_dataclasses import dataclass
from reporter.log.database import all_figures

if TYPE_CHECKING:
    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneRequest:
    """A request; times are ms from the start of the measured window.

    Attributes:
        tags: JSON.
        scheduled_ms: When it was due; None if unknown.
    """

    sample_uuid: str
    is_failed: bool
    endpoint: str | None
    tags: str
    scheduled_ms: float | None
    sent_ms: float
    first_token_ms: float | None
    ended_ms: float
    input_tokens: int | None
    cached_tokens: int | None
    output_tokens: int | None

    @property
    def due_ms(self) -> float:
        """The due time of the request, at the latest the time of sending."""
        return self.sent_ms if self.scheduled_ms is None else min(self.scheduled_ms, self.sent_ms)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneTurn(LaneRequest):
    """A request of a session; times are ms from the first issue of the session.

    Attributes:
        place: The place of its session by duration, from 1, the slowest.
        stream: The agent: 0 is the main one.
        parent: The stream of the agent that started this one; None for the main agent.
        own_ready_ms: When the turn before in its stream ended; None for the first turn.
        ready_ms: When all that it waited for had ended; None where it waited for nothing.
        tool_ms: The part of the delay after that which tools took.
        waited_for: The turn that ended at `ready_ms`.
    """

    place: int
    turn: int
    session_id: str
    ending: str
    duration_ms: float
    stream: int
    parent: int | None
    agent: str | None
    own_ready_ms: float | None
    ready_ms: float | None
    tool_ms: float | None
    waited_for: int | None

    @property
    def agent_name(self) -> str:
        """The name of the agent; `main` or `subagent` where the log has no name."""
        return self.agent or ("subagent" if self.stream else "main")


def sessions(log: OpenLog) -> tuple[tuple[LaneTurn, ...], ...]:
    """The requests of sessions: the slowest sessions, and a session of median duration."""
    return _by_place(log, "session_lanes")


def episodes(log: OpenLog) -> tuple[tuple[LaneTurn, ...], ...]:
    """The requests of episodes: the slowest episodes, and an episode of median duration."""
    return _by_place(log, "episode_lanes")


def _by_place(log: OpenLog, name: str) -> tuple[tuple[LaneTurn, ...], ...]:
    rows = (LaneTurn(**row) for row in all_figures(log, name))
    return tuple(tuple(turns) for _, turns in groupby(rows, attrgetter("place")))


def requests(log: OpenLog) -> tuple[LaneRequest, ...]:
    """The requests of a run in the order of due times; of many, the slowest and a random part."""
    return tuple(LaneRequest(**row) for row in all_figures(log, "request_lanes"))
