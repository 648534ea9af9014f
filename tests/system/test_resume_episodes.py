"""A killed run of episodes is finished: those that had not ended are played again from the first turn."""

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
from tests.system.conftest import WatchedRun

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

TURNS = 3
EPISODES = 30
ADMITTED = 40
"""Turns before the kill: not a multiple of `TURNS`, so that an episode is between two of them."""

AGENT = f"""
async def agent(sample, ask, sandbox):
    messages = sample.messages()
    for turn in range({TURNS}):
        messages = [*messages, (await ask(messages)).message]
        with ask.tool("clock") as call:
            call.result = "12:00"
        messages = [*messages, {{"role": "user", "content": call.result}}]
    return messages
"""


def ended_episodes(run: WatchedRun) -> list[str]:
    """The episodes whose end is in the log, as often as it is there."""
    return [event.data["conversation"] for event in run.events() if event.type is EventType.EPISODE_ENDED]


@pytest.mark.slow
def test_episodes_are_finished_after_a_kill(
    start_run: Callable[..., WatchedRun],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    """Those that had ended are not played again; each has one end, and each of its turns once."""
    (tmp_path / "own_agent.py").write_text(AGENT)
    lines = [{"prompt": f"Question {number}?"} for number in range(EPISODES)]
    (tmp_path / "prompts.jsonl").write_bytes(b"\n".join(map(orjson.dumps, lines)))
    with start_mock(ttft="1ms", itl="0", tokens="4") as mock, Admission(mock.url) as admission:
        load = ("-c", 6, "--workers", 2, "--no-probe", "-q", "--on-invalid", "warn")
        run = start_run(admission.url, "--prompts", "prompts.jsonl", "--agent", "own_agent:agent", *load)
        admission.admit(ADMITTED)
        run.wait_for(EventType.TOOL_CALLED, times=ADMITTED)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.communicate()
        ended = ended_episodes(run)
        with open_log(run.log, ["open_episodes"]) as connection:
            open_ones = connection.execute("SELECT conversation_id FROM open_episodes").fetchall()
            begun = connection.execute("SELECT DISTINCT conversation_id FROM samples").fetchall()
        admission.open()
        code, out, err = WatchedRun(start_loadgen("resume", "run", "--json"), run.log).end()
    assert code == 0, err
    assert f"resuming: {EPISODES - len(ended)} " in err

    counts = orjson.loads(out)["counts"]
    assert counts["completed"] == EPISODES * TURNS
    assert counts["issued"] == counts["completed"] + counts["abandoned"] > counts["completed"]
    later = ended_episodes(run)
    assert {name for (name,) in open_ones} == {name for (name,) in begun} - set(ended) != set()
    assert set(ended) < set(later)
    assert set(Counter(later).values()) == {1}
    with open_log(run.log, ["episodes", "open_episodes"]) as connection:
        episodes = connection.execute(
            "SELECT conversation_id, prompt_id, ending, turns, tool_calls FROM episodes WHERE measured"
        ).fetchall()
        samples = connection.execute(
            "SELECT conversation_id, turn, status, segment FROM samples WHERE measured"
        ).fetchall()
        assert connection.execute("SELECT * FROM open_episodes").fetchall() == []
    assert sorted(prompt for _, prompt, *_ in episodes) == list(range(EPISODES))
    assert {tuple(rest) for _, _, *rest in episodes} == {("completed", TURNS, TURNS)}
    assert {name for name, *_ in episodes} == set(later)
    turns = Counter((name, turn) for name, turn, status, _ in samples if status == "completed")
    assert turns == {(name, turn): 1 for name, *_ in episodes for turn in range(TURNS)}
    unfinished = {(name, segment) for name, _, status, segment in samples if status == "abandoned"}
    assert {segment for _, segment in unfinished} == {1}
    assert not {name for name, _ in unfinished} & set(later)
