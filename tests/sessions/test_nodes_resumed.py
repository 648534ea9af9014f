"""A run of several nodes that was interrupted, finished: what has a result is not asked again."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.plugins.ray import ray_nodes
from loadgen.plugins.ray.node import own_folder
from loadgen.sessions.errors import UsageError
from loadgen.sessions.resuming import finish_run
from loadgen.sessions.settings.resume import ResumeSettings
from recorder.event import EventType
from reporter.log.query import query
from tests.admission import Admission
from tests.driver.test_worker_pool import events, of
from tests.sessions.plain_nodes import PlainCluster
from tests.sessions.test_nodes import prepared_of, session_row
from tests.sessions.test_nodes import run as measure

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.sessions.plain_nodes import PlainNodes

REQUESTS = 150
LESS_THAN_A_SHARE = 45
"""With that many answers no node of three finishes its share."""

SETTLED = "SELECT node, prompt_id FROM requests WHERE measured AND settled ORDER BY prompt_id"

COORDINATOR = """
from loadgen.cli.start import main
from loadgen.plugins.ray import ray_nodes
from loadgen.plugins.ray.node import own_folder
from tests.forking import CHILDREN, fork_children
from tests.sessions.plain_nodes import PlainCluster

fork_children(*CHILDREN)
ray_nodes.RayNodes = PlainCluster
main()
"""
"""The command line, with two plain processes for nodes."""


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint."""
    with start_mock(ttft="40ms", itl="0ms", tokens="2") as started:
        yield started


@pytest.fixture(autouse=True)
def _two_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have two plain processes in place of a cluster."""
    monkeypatch.setattr(ray_nodes, "RayNodes", PlainCluster)


def logs_of_nodes(run: Path) -> list[Path]:
    """The logs of both nodes while they grow, wherever they are; none until both are there."""
    if not (run / "events.db").exists():  # else SQLite would make it
        return []
    try:
        session_id, environment = session_row(run / "events.db")
    except (sqlite3.OperationalError, TypeError):  # it is being made, and has no row yet
        return []
    if environment["shards_path"] is None:
        logs = [own_folder(session_id, name) / name / "events.db" for name in ("node-0", "node-1")]
    else:
        logs = [Path(environment["shards_path"]) / name / "events.db" for name in ("node-0", "node-1")]
    return logs if all(log.exists() for log in logs) else []


def answered(log: Path) -> int:
    """How many requests have an answer."""
    try:
        return len(of(EventType.COMPLETE, events(log)))
    except sqlite3.OperationalError:  # it is being made
        return 0


def interrupted(mock: MockProcess, run: Path, ending: signal.Signals, *options: str) -> None:
    """Begin a run, and end it by a signal once some requests have answers."""
    command = [
        sys.executable,
        "-c",
        COORDINATOR,
        "perf",
        "--url",
        mock.url,
        "--model",
        "m",
        "--out",
        str(run),
    ]
    load = ["-c", "4", "-n", str(REQUESTS), "--warmup", "5", "--workers", "1", "--ray", "auto"]
    process = subprocess.Popen(
        [*command, *load, *options], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    try:
        while min(map(answered, logs_of_nodes(run)), default=0) < 5:
            assert process.poll() is None
            time.sleep(0.05)
        process.send_signal(ending)
    finally:
        process.wait(60)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ending", "is_shared"),
    [
        (signal.SIGKILL, False),
        pytest.param(signal.SIGKILL, True, marks=pytest.mark.slow),
        pytest.param(signal.SIGINT, False, marks=pytest.mark.slow),
    ],
)
def test_every_sample_has_one_result(
    mock: MockProcess, tmp_path: Path, ending: signal.Signals, *, is_shared: bool
) -> None:
    """After the coordinator was killed, with the logs of its nodes still on them, and after Ctrl-C."""
    options = ["--shards", str(tmp_path / "shared")] if is_shared else []
    run = tmp_path / "run"
    interrupted(mock, run, ending, *options)
    report, _, _ = finish_run(ResumeSettings(run=run))

    settled = query(run, SETTLED).rows
    assert [prompt for _, prompt in settled] == list(range(5, REQUESTS + 5))
    by_node = Counter(node for node, _ in settled)
    assert sorted(by_node) == [f"node-{number}" for number in range(4)]
    assert report.run.ended == "completed"
    assert report.counts.completed == REQUESTS
    assert len(report.run.segments) == 2
    with pytest.raises(UsageError, match="is complete"):
        finish_run(ResumeSettings(run=run))


@pytest.mark.slow
def test_the_share_of_a_node_that_was_lost(mock: MockProcess, tmp_path: Path) -> None:
    """The others went on without it: what it had not answered is asked when the run is resumed."""
    with Admission(mock.url) as admission:

        def kill(nodes: PlainNodes) -> None:
            nodes.links[1].process.kill()
            admission.open()

        prepared = prepared_of(admission, concurrency=6, requests=REQUESTS, on_node_loss="continue")
        admission.admit(LESS_THAN_A_SHARE)
        measure(prepared, tmp_path, meanwhile=kill)
        before = len(query(tmp_path, SETTLED).rows)
        assert before < REQUESTS
        report, _, _ = finish_run(ResumeSettings(run=tmp_path))
    assert [prompt for _, prompt in query(tmp_path, SETTLED).rows] == list(range(REQUESTS))
    assert "node_lost" in {finding.code for finding in report.findings}
