"""`--ray` on a cluster of three nodes, here all on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

import orjson
import psutil
import pytest

from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import EventType
from reporter.log.query import query
from tests.driver.test_worker_pool import of
from tests.sessions.scoring.conftest import stored_run
from tests.sessions.test_nodes import (
    IN_TIME_NAMESPACE,
    OFF_S,
    asked,
    findings,
    has_time_namespaces,
    readings,
    shards_of,
)
from tests.system.conftest import events_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("ray") is None, reason="the extra ray is not installed"),
]

GIVE_UP_S = 300.0
MEMORY = 100_000_000
TTFT_MS = 40

SLOW = """
import os
import time
from pathlib import Path


def grade(solution_str, ground_truth, **more):
    Path(str(os.getpid())).touch()
    if not Path("quick").exists():
        time.sleep(0.05)
    return float(solution_str == f"#### {ground_truth}")
"""
"""A module with an eval function, and the processes that it has run in."""


TURNS = """
    SELECT count(*), count(*) - count(DISTINCT (later.conversation_id, later.turn)), (
        SELECT count(*) FROM session_turns AS later, unnest(later.after) AS before (turn)
        LEFT JOIN session_turns AS earlier
            ON earlier.conversation_id = later.conversation_id AND earlier.turn = before.turn
        WHERE earlier.ended_ns IS NULL OR earlier.ended_ns > later.issued_ns
    ) FROM session_turns AS later"""
"""The turns of a run, the repeated turns, and the turns before the end of an awaited turn."""
FORM = "sessions=9 turns=4 fanout=0.4 agent_turns=2 tool=0.1s think=0.1s"
SESSIONS = "SELECT DISTINCT conversation_id FROM session_turns"


class Nodes:
    """Three nodes of Ray; the third has another clock, where the system allows that.

    Attributes:
        address: The cluster's.
    """

    def __init__(self) -> None:
        os.environ["RAY_AUTH_MODE"] = "disabled"  # before Ray is imported: else it puts a token into HOME
        # Else each session has a process started for every CPU of the cluster, at 1 s of CPU time each.
        os.environ["RAY_prestart_worker_first_driver"] = "0"  # noqa: SIM112 (Ray's name)
        import ray
        from ray.cluster_utils import Cluster

        options = {"num_cpus": 2, "object_store_memory": MEMORY, "include_log_monitor": False}
        self._cluster = Cluster(initialize_head=True, head_node_args={**options, "include_dashboard": False})
        self.address = self._cluster.address
        self.second = self._cluster.add_node(**options)
        prefix = IN_TIME_NAMESPACE if has_time_namespaces() else ()
        self._third = subprocess.Popen(
            [
                *(*prefix, sys.executable, "-m", "ray.scripts.scripts", "start"),
                *(f"--address={self.address}", "--num-cpus=2", "--block", "--include-log-monitor=false"),
                f"--object-store-memory={MEMORY}",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._cluster.connect()
        give_up_s = time.monotonic() + GIVE_UP_S
        while sum(node["Alive"] for node in ray.nodes()) < 3:
            assert time.monotonic() < give_up_s
            time.sleep(0.1)
        ray.shutdown()

    def actor_of_second(self, service: str = "Node") -> psutil.Process:
        """The process of the second node that runs a session, or grades, once there is one."""
        raylet = psutil.Process(self.second.all_processes["raylet"][0].process.pid)
        give_up_s = time.monotonic() + GIVE_UP_S
        while time.monotonic() < give_up_s:
            for child in raylet.children():
                # Those that have answered end at any moment.
                with suppress(psutil.NoSuchProcess):
                    if "".join(child.cmdline()).startswith(f"ray::{service}"):
                        return child
            time.sleep(0.05)
        raise TimeoutError("the second node runs no session")

    def kill_second(self) -> None:
        """End all processes of the second node, as by a machine that is switched off."""
        self._cluster.remove_node(self.second, allow_graceful=False)

    def close(self) -> None:
        """End the cluster."""
        third = psutil.Process(self._third.pid)
        for process in [*third.children(recursive=True), third]:
            with suppress(psutil.NoSuchProcess):
                process.kill()
        self._third.wait()
        self._cluster.shutdown()


@pytest.fixture(scope="module")
def nodes() -> Iterator[Nodes]:
    """The cluster. The last test takes a node away."""
    cluster = Nodes()
    yield cluster
    cluster.close()


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint."""
    with start_mock(ttft=f"{TTFT_MS}ms", itl="0ms", tokens="2") as started:
        yield started


def perf(mock: MockProcess, out: Path, *options: str) -> subprocess.Popen[str]:
    """A session that is under way."""
    command = [sys.executable, "-m", "loadgen", "perf", "--url", mock.url, "--model", "m"]
    return subprocess.Popen(
        [*command, "--out", str(out), "--workers", "1", "--json", *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def await_requests(run: Path) -> None:
    """Return when the measured phase has begun."""
    give_up_s = time.monotonic() + GIVE_UP_S
    while not of(EventType.PHASE_STARTED, events_of(run / "events.db")):
        assert time.monotonic() < give_up_s
        time.sleep(0.05)


def report_of(session: subprocess.Popen[str]) -> Any:
    """The report of a session, at its end."""
    output, errors = session.communicate(timeout=GIVE_UP_S)
    assert output, errors
    return orjson.loads(output)


def p50(report: Any, figure: str, end: str) -> float:
    """An end of the median, or the median itself where no stamp is in doubt."""
    value: float = report["bounds"].get(figure, {end: report[figure]})[end]["p50"]
    return value


def test_three_nodes_are_as_one(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """The same requests at the same offsets with the same answers; times within the bounds of both."""
    options = ("--rate", "120", "-n", "120", "--seed", "7", "--on-invalid", "warn")
    single = report_of(perf(mock, tmp_path / "one", *options))
    three = report_of(perf(mock, tmp_path / "three", *options, "--ray", nodes.address, "--nodes", "3"))

    assert sorted(number for log in shards_of(tmp_path / "three") for number in asked(log)) == sorted(
        asked(tmp_path / "one" / "events.db")
    )
    for part in ("scheduled", "issued", "completed", "failed"):
        assert three["counts"][part] == single["counts"][part]
    assert three["tokens"] == single["tokens"]
    # Both are the mock's 40 ms, and what the machine adds: neither is of another clock.
    for figure in ("ttft_ms", "ttft_from_schedule_ms", "latency_ms"):
        assert min(single[figure]["min"], three[figure]["min"]) >= TTFT_MS - 1
        assert p50(three, figure, "low") < 3 * p50(single, figure, "high")
        assert p50(single, figure, "low") < 3 * p50(three, figure, "high")
    if has_time_namespaces():
        offsets = [abs(reading.offset_ns) > OFF_S * 10**9 / 2 for reading in readings(tmp_path / "three")]
        assert any(offsets)
        assert not all(offsets)


def test_trees_on_three_nodes(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """A session is whole on one node; a turn is asked once, after all that the turn waits for."""
    options = ("--agentic", FORM, "--sessions", "9", "-c", "3", "--seed", "7", "--on-invalid", "warn")
    run = tmp_path / "run"
    report = report_of(perf(mock, run, *options, "--ray", nodes.address, "--nodes", "3"))

    assert report["counts"]["failed"] == 0
    turns, twice, early = query(run, TURNS).rows[0]
    assert turns == report["counts"]["completed"] > 9
    assert (twice, early) == (0, 0)
    sessions = [{session for (session,) in query(log, SESSIONS).rows} for log in shards_of(run)]
    assert all(sessions)
    assert sum(map(len, sessions)) == len(set().union(*sessions)) == 9


def test_a_node_that_is_frozen(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """For five seconds: it is named, and nothing is lost."""
    run = tmp_path / "run"
    session = perf(mock, run, "--rate", "30", "-n", "180", "--ray", nodes.address)
    await_requests(run)
    actor = nodes.actor_of_second()
    os.kill(actor.pid, signal.SIGSTOP)
    time.sleep(5)
    os.kill(actor.pid, signal.SIGCONT)
    report = report_of(session)

    assert "node_silent" in {finding["code"] for finding in report["findings"]}
    assert sorted(number for log in shards_of(run) for number in asked(log)) == list(range(180))


def test_ctrl_c_drains(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """Every node stops issuing, what is in flight is awaited, and the logs come home."""
    run = tmp_path / "run"
    session = perf(mock, run, "-c", "6", "--duration", "60s", "--ray", nodes.address)
    await_requests(run)
    session.send_signal(signal.SIGINT)
    report = report_of(session)

    assert session.returncode == 130
    assert report["run"]["ended"] == "interrupted"
    for log in [run / "events.db", *shards_of(run)]:
        assert of(EventType.TEST_ENDED, events_of(log)) == [{"reason": "interrupted"}]
        assert not of(EventType.CANCELLED, events_of(log))


def test_scoring(nodes: Nodes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One node is killed in the middle: every answer is scored once, as on this machine."""
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    answers = [f"#### {number % 3}" for number in range(200)]
    run = stored_run(tmp_path / "run", answers, ["1"] * len(answers))

    command = [sys.executable, "-m", "loadgen", "score", str(run), "--eval", "slow:grade", "--json"]
    scoring = subprocess.Popen([*command, "--ray", nodes.address], stdout=subprocess.PIPE, text=True)
    actor = nodes.actor_of_second("GradingNode")
    while not [child for child in actor.children() if (tmp_path / str(child.pid)).exists()]:
        assert scoring.poll() is None
        time.sleep(0.05)
    actor.kill()
    three = report_of(scoring)
    assert scoring.returncode == 0
    rows = of(EventType.SCORED, events_of(run / "events.db"))
    assert len(rows) == 2 * len(answers)

    (tmp_path / "quick").touch()
    alone = orjson.loads(subprocess.run(command, check=True, capture_output=True).stdout)
    for score in (*three["accuracy"], *alone["accuracy"]):
        score["pass"] = 0
    assert three["accuracy"] == alone["accuracy"]


def test_too_few_nodes(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """The message says how many there are; nothing is written."""
    session = perf(mock, tmp_path / "run", "-c", "4", "-n", "8", "--ray", nodes.address, "--nodes", "4")
    _, errors = session.communicate(timeout=GIVE_UP_S)
    assert session.returncode == 3
    assert "--nodes 4: the cluster has 3" in errors
    assert not (tmp_path / "run").exists()


def test_a_node_that_is_killed(nodes: Nodes, mock: MockProcess, tmp_path: Path) -> None:
    """Its open requests are lost, the others finish their share, and the run is invalid.

    What was lost is asked again when the run is resumed.
    """
    run = tmp_path / "run"
    options = ("-c", "6", "-n", "600", "--on-node-loss", "continue")
    session = perf(mock, run, *options, "--ray", nodes.address)
    await_requests(run)
    time.sleep(1)
    nodes.kill_second()
    report = report_of(session)

    assert session.returncode == 4
    assert "node_lost" in {code for code, _ in findings(run)}
    assert not report["validity"]["valid"]
    assert report["counts"]["by_error"]["worker_lost"] > 0
    assert sum(len(asked(log)) == 200 for log in shards_of(run)) == 2

    command = [sys.executable, "-m", "loadgen", "resume", str(run), "--nodes", "2", "--json"]
    subprocess.run(command, check=False, stdout=subprocess.PIPE)
    settled = "SELECT prompt_id FROM requests WHERE measured AND settled ORDER BY prompt_id"
    assert [number for (number,) in query(run, settled).rows] == list(range(600))
