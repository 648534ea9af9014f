"""Session trees on several nodes: each session is played once, on one node, and each turn waits."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from recorder.event import EventType
from reporter.log.database import open_log
from tests.driver.test_worker_pool import events, of
from tests.plugins.agentic.weka_files import conversation, request, subagent, written
from tests.sessions.test_nodes import mock, prepared_of, run, shards_of

if TYPE_CHECKING:
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

__all__ = ["mock"]

SESSIONS = 9
_EARLY = """
    SELECT count(*) FROM session_turns AS later, unnest(later.after) AS waits (turn)
    JOIN session_turns AS before
        ON before.conversation_id = later.conversation_id AND before.turn = waits.turn
    WHERE before.ended_ns > later.issued_ns"""


def test_sessions_of_several_nodes(mock: MockProcess, tmp_path: Path) -> None:
    """Three nodes share the sessions; subagents run where their main agent runs."""
    trees = (
        conversation(
            request(0, [1, 2], took=1),
            subagent(1, "left", [request(0, [1, 2, 8]), request(2, [1, 2, 8, 9])]),
            subagent(1, "right", [request(0, [1, 2, 7])]),
            request(9, [1, 2, 3]),
            name=f"session {number}",
        )
        for number in range(SESSIONS)
    )
    trace = written(tmp_path / "trees.jsonl", *trees)
    load = {"trace": str(trace), "trace_speed": 100.0, "concurrency": 3, "on_invalid": "warn"}
    run(prepared_of(mock, **load), tmp_path / "run")
    shares = [of(EventType.TREE_ENDED, events(shard)) for shard in shards_of(tmp_path / "run")]
    assert all(shares)
    ended = [data for share in shares for data in share]
    assert sorted(data["session"] for data in ended) == [f"session {number}" for number in range(SESSIONS)]
    assert {data["ending"] for data in ended} == {"completed"}
    with open_log(tmp_path / "run", ["sessions"]) as log:
        turns = log.execute("SELECT session_id, turn FROM session_turns").fetchall()
        early = log.execute(_EARLY).fetchall()
        sessions = log.execute("SELECT count(*), count(DISTINCT session_id) FROM sessions").fetchall()
    assert set(Counter(turns).values()) == {1}
    assert len(turns) == 5 * SESSIONS
    assert (early, sessions) == ([(0,)], [(SESSIONS, SESSIONS)])
