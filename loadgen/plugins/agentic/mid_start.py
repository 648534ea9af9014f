"""The start of a session in mid-trajectory: the moment, and what came before it.

As in AgentX (agentx-harness 1.0.12): a moment drawn from a part of the time between the first and the last
recorded start. Each agent with requests on both sides of the moment is under way; its last request before
the moment warms the server's cache.
"""

from __future__ import annotations

from hashlib import sha256
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from lazy_dataclasses import dataclass
from loadgen.plugins.agentic.session_tree import History
from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from loadgen.plugins.agentic.session_tree import SessionTree


class StartWindow(NamedTuple):
    """The part of the recorded time that sessions begin in, as shares from 0 to 1."""

    low: float
    high: float


def read_window(text: str) -> StartWindow:
    """Read `LOW..HIGH`.

    Raises:
        UsageError: It is not a part of the recorded time.
    """
    low, _, high = text.partition("..")
    try:
        window = StartWindow(float(low), float(high))
    except ValueError:
        window = StartWindow(1.0, 0.0)
    if not 0 <= window.low <= window.high <= 1:
        raise UsageError(f"--start-window {text!r}: write LOW..HIGH, shares from 0 to 1, e.g. 0.25..0.75")
    return window


def start_ns(tree: SessionTree, window: StartWindow, seed: int, user: int) -> int:
    """The moment at which a user's first session begins, in ns of the recorded session.

    Args:
        tree: The session, which has recorded starts.
        window: The part of the time between the first and the last recorded start.
        seed: The seed of the run.
        user: The number of the user: two users of one session begin at different moments.
    """
    starts = [turn.start_ns or 0 for turn in tree.turns]
    digest = sha256(f"{seed}:{tree.session_id}:{user}".encode()).digest()
    share = Random(digest).uniform(*window)  # noqa: S311 (no secret)
    return min(starts) + round(share * (max(starts) - min(starts)))


@dataclass(slots=True)
class SessionPosition:
    """How far a session has come.

    Attributes:
        at_ns: The moment of the recorded session.
        past: The turns that are not asked any more.
    """

    at_ns: int
    past: set[int]

    def under_way(self, tree: SessionTree) -> list[int]:
        """The last turn before the moment of each agent that has a later turn."""
        last: dict[int, int] = {}
        for number in sorted(self.past):
            last[tree.turns[number].stream] = number
        going_on = {turn.stream for number, turn in enumerate(tree.turns) if number not in self.past}
        return [number for stream, number in last.items() if stream in going_on]

    def lead_ns(self, tree: SessionTree, turn: int) -> int:
        """How long before the moment a turn began."""
        return self.at_ns - (tree.turns[turn].start_ns or 0)

    def first_due_ns(self, tree: SessionTree) -> int:
        """How long after the moment the first of the later turns begins that wait for none of them."""
        return min(
            self.wait_ns(tree, number)
            for number, turn in enumerate(tree.turns)
            if number not in self.past and self.past.issuperset(turn.after)
        )

    def wait_ns(self, tree: SessionTree, turn: int) -> int:
        """How long after the moment a turn begins."""
        return max(0, (tree.turns[turn].start_ns or 0) - self.at_ns)

    def passed(self, tree: SessionTree, turn: int) -> None:
        """Take a turn that was asked ahead of its time as past, and its end as the moment."""
        self.past.add(turn)
        recorded = tree.turns[turn]
        self.at_ns = max(self.at_ns, recorded.end_ns or recorded.start_ns or 0)


def position_at(tree: SessionTree, at_ns: int) -> SessionPosition:
    """The position of a session at a moment."""
    past = {number for number, turn in enumerate(tree.turns) if (turn.start_ns or 0) < at_ns}
    return SessionPosition(at_ns, past)


def require_moments(tree: SessionTree) -> None:
    """Refuse sessions that cannot begin in the middle.

    Raises:
        UsageError: Their turns have no recorded starts, or contain the endpoint's answers.
    """
    if tree.history is History.LIVE:
        raise UsageError(
            "--start-window: the prompts contain the endpoint's earlier answers (--history live), which a "
            "start in the middle lacks; give --history recorded, or leave --start-window out"
        )
    if any(turn.start_ns is None for turn in tree.turns):
        raise UsageError("--start-window: the sessions have no recorded starts of requests; leave it out")
