"""A killed run of conversations is finished: each unfinished conversation is issued again whole."""

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
PROMPTS = 30
PASSES = 2


@pytest.mark.slow
def test_conversations_are_finished_after_a_kill(
    start_run: Callable[..., WatchedRun],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    """Each is in the figures as often as it was to be asked, with all its turns; the rest is abandoned."""
    rows = [
        [
            {"role": role, "content": f"{prompt} {turn}"}
            for turn in range(TURNS)
            for role in ("user", "assistant")
        ]
        for prompt in range(PROMPTS)
    ]
    file = tmp_path / "talks.jsonl"
    file.write_bytes(b"\n".join(orjson.dumps({"messages": row}) for row in rows))
    with start_mock(ttft="10ms", itl="1ms", tokens="4") as mock, Admission(mock.url) as admission:
        what = ("--prompts", file, "--conversations", "all", "--order", "shuffle", "--passes", PASSES)
        how = ("-c", 6, "--think", "5ms", "--warmup", 3, "--workers", 2, "-q", "--on-invalid", "warn")
        run = start_run(admission.url, *what, *how)
        admission.admit(100)
        run.wait_for(EventType.COMPLETE, times=60)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.communicate()
        admission.open()

        code, out, err = WatchedRun(start_loadgen("resume", "run", "--json"), run.log).end()
    assert code == 0, err
    assert "conversations remaining for" in err
    counts = orjson.loads(out)["counts"]
    assert counts["completed"] == PROMPTS * PASSES * TURNS
    assert counts["issued"] == counts["completed"] + counts["abandoned"] > counts["completed"]

    with open_log(run.log) as connection:
        samples = connection.execute(
            "SELECT status, prompt_id, turn, segment, conversation_id FROM samples WHERE measured"
        ).fetchall()
    whole = Counter((prompt, turn) for status, prompt, turn, _, _ in samples if status == "completed")
    assert whole == {(prompt, turn): PASSES for prompt in range(PROMPTS) for turn in range(TURNS)}
    by_conversation = {
        name: {status for status, *_, other in samples if other == name} for *_, name in samples
    }
    assert all(len(statuses) == 1 for statuses in by_conversation.values())
    assert {segment for status, _, _, segment, _ in samples if status == "abandoned"} == {1}
