"""Kill it at any moment: what was answered is on disk, and the report says that the run was cut off."""

from __future__ import annotations

import os
import random
import signal
import time
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import EventType

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

KILLS = 2
"""Once of everybody, once of the parent alone; `make kill` does it a hundred times, at a higher rate."""


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint that knows what it has answered."""
    with start_mock(ttft="10ms", itl="2ms", tokens="uniform:2..20", seed=7) as server:
        yield server


@pytest.mark.parametrize("seed", range(KILLS))
def test_nothing_that_was_answered_is_lost(
    loadgen: Callable[..., subprocess.CompletedProcess[str]],
    start_run: Callable[..., Any],
    mock: MockProcess,
    seed: int,
) -> None:
    """`kill -9` at a random moment: of the parent alone, whose workers then end, or of everybody.

    What had been answered by the moment until which the log is complete, as the report says, is in the log.
    On a machine that is idle otherwise that is at most 100 ms before the kill, which `make kill` demands.
    """
    draw = random.Random(seed)  # noqa: S311 (a moment, not a secret)
    before, started_ns = len(mock.truth()), time.monotonic_ns()
    run = start_run(mock.url, "-c", 24, "--duration", 3600, "--workers", 2, "-q")
    run.wait_until(
        lambda: any(record.received_ns > started_ns for record in mock.truth()[before:]), "the first answers"
    )
    time.sleep(draw.uniform(0.0, 0.7))
    workers = run.workers()
    killed_ns = time.monotonic_ns()
    if seed % 2:
        os.kill(run.process.pid, signal.SIGKILL)
    else:
        os.killpg(run.process.pid, signal.SIGKILL)
    run.end()
    run.await_end_of(workers)
    # Any other process that opens the log folds the write-ahead file into it: the report comes first.
    assert run.log.with_name("events.db-wal").exists()
    report = loadgen("report", "run", "--json")
    assert report.returncode == 4, report.stderr
    summary = orjson.loads(report.stdout)
    assert summary["run"]["ended"] == "cut_off"
    assert summary["validity"]["valid"] is False
    assert summary["counts"]["issued"] == sum(
        summary["counts"][part] for part in ("completed", "failed", "cancelled", "in_flight")
    )
    events = run.events()
    until_ns = summary["run"]["complete_until"]["at_ns"]
    assert started_ns < until_ns < killed_ns
    finished = {
        record.request_id
        for record in mock.truth()[before:]
        if record.outcome == "completed" and record.done_ns < until_ns and record.request_id
    }
    assert finished <= {event.sample_uuid for event in events if event.type is EventType.COMPLETE}
