"""Recorded sessions against a mock endpoint: order, delays and joins, kill and resume, figures by SQL."""

from __future__ import annotations

import os
import signal
from collections import Counter
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from reporter.log.database import open_log
from tests.admission import Admission
from tests.plugins.agentic.weka_files import conversation, request, subagent, written
from tests.system.conftest import WatchedRun

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

_LATE = """
    SELECT max(abs((later.scheduled_ns - before.ended_ns) / 1e6 - later.delay_ms))
    FROM session_turns AS later JOIN session_turns AS before
        ON before.conversation_id = later.conversation_id AND before.turn = later.waited_for"""

SESSIONS = 8
SPEED = 100
TURNS = 7


def session(number: int) -> dict[str, object]:
    """A main agent of three requests, the second of which waits for two subagents of two each."""
    return conversation(
        request(0, [1, 2, 3], took=1),
        subagent(2, "left", [request(0, [1, 2, 11], took=1), request(2, [1, 2, 11, 12], took=1)]),
        subagent(2, "right", [request(0.5, [1, 2, 21], took=1), request(3, [1, 2, 21, 22], took=1)]),
        request(8, [1, 2, 3, 4], took=1),
        request(10, [1, 2, 3, 4, 5], took=1),
        name=f"session {number}",
    )


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """A file of sessions."""
    return written(tmp_path / "sessions.jsonl", *map(session, range(SESSIONS)))


@pytest.mark.slow
def test_sessions_are_finished_after_a_kill(
    start_run: Callable[..., WatchedRun],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    trace: Path,
) -> None:
    """A session that was open is asked again from the start; each turn has one result, and waited."""
    with start_mock(ttft="1ms", itl="0", tokens="4") as mock, Admission(mock.url) as admission:
        load = ("-c", 3, "--workers", 2, "--no-probe", "-q", "--on-invalid", "warn", "--trace-speed", SPEED)
        run = start_run(admission.url, "--trace", trace.name, *load)
        admission.admit(3 * TURNS)
        run.wait_for(EventType.COMPLETE, times=3 * TURNS)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.communicate()
        ended = [event.data["session"] for event in run.events() if event.type is EventType.TREE_ENDED]
        admission.open()
        code, out, err = WatchedRun(start_loadgen("resume", "run", "--json"), run.log).end()
    assert code == 0, err
    assert f"resuming: {SESSIONS - len(ended)} " in err
    report = orjson.loads(out)
    assert report["counts"]["completed"] == SESSIONS * TURNS
    assert report["sessions"]["endings"] == {"completed": SESSIONS}
    assert report["sessions"]["theoretical_hit_rate"] == pytest.approx(17 / 26)
    with open_log(run.log, ["sessions"]) as log:
        turns = log.execute(
            "SELECT session_id, turn FROM session_turns WHERE status = 'completed'"
        ).fetchall()
        late = log.execute(_LATE).fetchall()
        early = log.execute(
            "SELECT count(*) FROM session_turns WHERE waited_ms < delay_ms - 0.001"
        ).fetchall()
        joins = log.execute(
            "SELECT turn, bool_and(join_wait_ms > 0) FROM session_turns WHERE stream = 0 AND turn > 0 "
            "GROUP BY turn ORDER BY turn"
        ).fetchall()
    assert set(Counter(turns).values()) == {1}
    assert len(turns) == SESSIONS * TURNS
    assert late[0][0] < 0.001
    assert early == [(0,)]
    assert joins == [(5, True), (6, False)]
