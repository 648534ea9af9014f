"""A run that is killed and interrupted is finished, and no request with an answer is issued again."""

from __future__ import annotations

import os
import signal
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING

import orjson

from loadgen.mock_endpoint.process import start_mock
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from reporter.log.all_events import rows
from tests.admission import Admission
from tests.system.conftest import WatchedRun
from tests.truths import truth_of

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

REQUESTS = 200
ALL = set(range(REQUESTS))


def settled(log: Path) -> dict[str, int]:
    """The prompts that the log has a result of, by request."""
    with closing(sqlite3.connect(log)) as connection:
        return dict(
            connection.execute(
                "SELECT sample_uuid, json_extract(issued.data, '$.prompt_id') FROM events AS issued "
                "JOIN events AS ended USING (sample_uuid) WHERE issued.code = 20 AND ended.code IN (23, 24)",
            ),
        )


def prompts(log: Path) -> dict[str, int]:
    """What each request that the log knows of asked."""
    with closing(sqlite3.connect(log)) as connection:
        issued = "SELECT sample_uuid, json_extract(data, '$.prompt_id') FROM events WHERE code = 20"
        return dict(connection.execute(issued))


def test_a_run_is_finished_after_a_kill_and_an_interrupt(
    start_run: Callable[..., WatchedRun],
    start_loadgen: Callable[..., subprocess.Popen[str]],
    tmp_path: Path,
) -> None:
    """`kill -9`, then Ctrl-C, then to the end: in each segment the endpoint is asked what was left."""
    log = tmp_path / "run" / "events.db"
    with start_mock(ttft="10ms", itl="0", tokens="4") as mock, Admission(mock.url) as admission:
        # On a busy machine the client is late, which is not what this is about.
        load = ("-c", 8, "-n", REQUESTS, "--workers", 2, "--on-invalid", "warn")
        run = start_run(admission.url, *load, "--require", "error<1%", "-q")
        admission.admit(40)
        run.wait_for(EventType.COMPLETE, times=20)
        os.killpg(run.process.pid, signal.SIGKILL)
        run.process.communicate()
        first, before = settled(log), prompts(log)
        assert len(first) >= 20

        run = WatchedRun(start_loadgen("resume", "run", "-q"), log)
        admission.admit(40)
        run.wait_for(EventType.COMPLETE, times=len(first) + 10)
        run.signal(signal.SIGINT)
        run.wait_for(EventType.STOP_PERFORMANCE_TRACKING)
        admission.open()
        code, _, err = run.end()
        assert code == 130, err
        second = settled(log)

        code, out, err = WatchedRun(start_loadgen("resume", "run", "--json"), log).end()
        assert code == 0, err
        assert f"resuming: {REQUESTS - len(second)} requests remaining for" in err
        prompt_of = prompts(log)
        assert truth_of(mock, prompt_of.keys() - before.keys())

    later = [prompt for request, prompt in prompt_of.items() if request not in before]
    assert not set(later) & set(first.values())
    assert max(Counter(later).values()) == 1
    assert set(settled(log).values()) == set(first.values()) | set(later) == ALL

    report = orjson.loads(out)
    counts = report["counts"]
    assert counts["completed"] == REQUESTS
    assert counts["issued"] == REQUESTS + counts["abandoned"]
    assert [segment["ended"] for segment in report["run"]["segments"]] == [
        "cut_off",
        "interrupted",
        "completed",
    ]
    assert sum(segment["completed"] for segment in report["run"]["sittings"]) == REQUESTS
    assert {finding["code"] for finding in report["findings"]} >= {"resumed"}
    assert report["verdict"]["status"] == "PASS"
    events = (
        Event(EventType[row["type"]], row["at_ns"], row["sample_uuid"] or None)
        for row in rows(tmp_path / "run")
    )
    with closing(sqlite3.connect(log)) as connection:
        first_seqs = {seq for (seq,) in connection.execute("SELECT first_seq FROM sittings")}
    assert len(first_seqs) == 3
    assert violations(events, first_seqs) == []
