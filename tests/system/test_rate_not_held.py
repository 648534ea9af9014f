"""A rate that the client cannot hold is found, and makes the run invalid, whatever kind of rate it is."""

from __future__ import annotations

import os
import signal
import time
from typing import TYPE_CHECKING

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from loadgen.mock_endpoint.process import MockProcess
    from tests.system.conftest import WatchedRun

FAR_TOO_MUCH = 200_000
"""Requests per second: no worker issues a tenth of that."""

DURATION = "700ms"
"""Longer than a busy machine holds a client up, which issues nothing of what was due before."""


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """A server that takes half a second, so that client overhead is small in comparison."""
    with start_mock(ttft="500ms", itl="1ms", tokens="2") as server:
        yield server


@pytest.mark.parametrize("rate", [f"{FAR_TOO_MUCH}", f"bursts:20,{FAR_TOO_MUCH},300ms,100ms"])
def test_more_than_the_client_can_issue(
    start_run: Callable[..., WatchedRun], mock: MockProcess, rate: str
) -> None:
    """What was due and never left is counted, and the run is invalid."""
    run = start_run(mock.url, "--rate", rate, "--duration", DURATION, "--workers", 1, "-q")
    code, out, _ = run.end()
    report = orjson.loads(out)
    assert code == 4
    assert report["counts"]["scheduled"] > 2 * report["counts"]["issued"] > 0
    errors = [item for item in report["findings"] if item["severity"] == "error"]
    assert any("rate_not_reached" in (item["code"], *item["effects"]) for item in errors)


@pytest.mark.slow
def test_a_stalled_client_does_not_hold_its_rate(
    start_run: Callable[..., WatchedRun], mock: MockProcess
) -> None:
    """A worker that is stopped for a while makes up for it: held on average, but reported."""
    rate = "steps:60..100x2,3s"
    run = start_run(mock.url, "--rate", rate, "--arrival", "constant", "--workers", 1, "-q")
    run.wait_for(EventType.LOADGEN_ISSUE_CALLED, 5)
    (worker,) = run.workers()
    os.kill(worker, signal.SIGSTOP)
    time.sleep(1.2)  # How long it stands still is what is tested.
    os.kill(worker, signal.SIGCONT)
    code, out, _ = run.end()
    report = orjson.loads(out)
    assert code == 4
    assert report["counts"]["scheduled"] == 240
    assert report["counts"]["issued"] > 0.95 * 240
    (finding,) = [
        item for item in report["findings"] if "rate_not_reached" in (item["code"], *item["effects"])
    ]
    assert "not held in" in finding["message"]
