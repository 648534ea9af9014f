"""The sessions that a page draws: the slowest ones, and one of median duration, with all their requests."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import TYPE_CHECKING

from reporter.log.database import all_figures

if TYPE_CHECKING:
    from reporter.log.database import OpenLog


@dataclass(frozen=True, slots=True)
class LaneTurn:
    """A request of a session; times are ms from the first issue of the session.

    Attributes:
        place: The place of its session by duration, from 1, the slowest.
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
    agent: str | None
    is_failed: bool
    own_ready_ms: float | None
    ready_ms: float | None
    tool_ms: float | None
    scheduled_ms: float | None
    sent_ms: float
    first_token_ms: float | None
    ended_ms: float
    waited_for: int | None
    input_tokens: int | None
    output_tokens: int | None
    cached_tokens: int | None


def sessions(log: OpenLog) -> tuple[tuple[LaneTurn, ...], ...]:
    """The requests of each session, the slowest session first."""
    rows = (LaneTurn(**row) for row in all_figures(log, "session_lanes"))
    return tuple(tuple(turns) for _, turns in groupby(rows, attrgetter("place")))
