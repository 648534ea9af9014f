"""The view `open_episodes`: what is under way where a log ends."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recorder import EventType
from reporter.log.query import query
from tests.reporter.conftest import ns

if TYPE_CHECKING:
    from collections.abc import Callable

SQL = """
    SELECT conversation_id, turns, user_turns, tool_calls, output_tokens,
        age_ms, waits_for, waited_ms, sample_uuid
    FROM open_episodes
    ORDER BY ALL"""


def test_an_open_episode_says_what_it_waits_for(a_run: Callable[..., Any]) -> None:
    """For the model, for the user, or for its own tool; one that ended is not there."""
    run = a_run().begins(0)

    def about(name: str, **more: Any) -> dict[str, Any]:
        return {"about": {"conversation": name, "prompt_id": 1, "episode": True, "turn": 0, **more}}

    for number, name in enumerate(("ended", "model", "user", "tool")):
        run.answers(10, 20, at_ms=1 + number, usage=(5, 2), issue=about(name))
    of_episode = {"prompt_id": 1, "phase": "performance"}
    timing = {"started_ns": ns(1), "duration_ns": 30_000_000}
    run.session(EventType.EPISODE_ENDED, 31, conversation="ended", ending="completed", **of_episode, **timing)
    run.issues(40, uuid="m", about=about("model", turn=1)["about"])
    run.issues(50, uuid="u", about=about("user", turn=1, role="user_sim")["about"])
    tool = {"turn": 0, "name": "look", "started_ns": ns(30), "duration_ns": 25_000_000}
    run.session(EventType.TOOL_CALLED, 55, conversation="tool", **of_episode, **tool)
    answer = query(run.session(EventType.FINDING, 100).write(), SQL)
    assert answer.rows == [
        ("model", 2, 0, 0, 2, 98.0, "model", 60.0, "m"),
        ("tool", 1, 0, 1, 2, 96.0, "agent", 45.0, None),
        ("user", 1, 1, 0, 2, 97.0, "user", 50.0, "u"),
    ]
