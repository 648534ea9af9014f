"""Sessions on several nodes, here plain processes: one schedule, one start, and the end of a node."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing, contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.errors import UnreachableError
from loadgen.driver.system.clock import system_clock
from loadgen.mock_endpoint.process import MockProcess, start_mock
from loadgen.plugins.ray.node_handle import NodeHandle
from loadgen.plugins.ray.node_links import require_same, require_share
from loadgen.plugins.ray.ray_nodes import RayNodes
from loadgen.plugins.ray.run_on_nodes import measure_on_nodes
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings
from recorder.event import TERMINAL, EventType
from recorder.lifecycle import violations
from recorder.shards import FOLDER, SOURCE, ClockReading, shard_log
from reporter.log.storage_place import Place, place
from tests.driver.test_worker_pool import events, of
from tests.object_stores import BUCKET, SECRET
from tests.sessions.plain_nodes import PlainLink, PlainNodes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from loadgen.sessions.run.preparation import Prepared
    from tests.admission import Admission

OFF_S = 3600
"""How far the clock of a node is set off."""

AFRESH = dict.fromkeys(range(3), ("env",))
"""What the commands of nodes begin with that are not forked: a client of an object store has threads."""

IN_TIME_NAMESPACE = ("unshare", "--time", "--monotonic", str(OFF_S), "--fork", "--kill-child")


@pytest.fixture(scope="module")
def mock() -> Iterator[MockProcess]:
    """An endpoint."""
    with start_mock(ttft="60ms", itl="0ms", tokens="2") as started:
        yield started


def prepared_of(mock: MockProcess | Admission, **options: Any) -> Prepared:
    """A session on nodes."""
    settings = perf_settings(url=[mock.url], model="m", ray="auto", **{"workers": 1, **options})
    return prepare(settings)


def run(
    prepared: Prepared,
    folder: Path,
    prefixes: Mapping[int, Sequence[str]] | None = None,
    meanwhile: Callable[[PlainNodes], Any] | None = None,
) -> PlainNodes:
    """Run a session on three nodes, and do something to them once requests leave."""

    async def session() -> PlainNodes:
        with PlainNodes(3, prefixes) as nodes:
            measuring = asyncio.create_task(measure_on_nodes(prepared, nodes, folder))
            if meanwhile is not None:
                while not await asyncio.to_thread(_issues, folder):  # noqa: ASYNC110 (another process)
                    await asyncio.sleep(0.05)
                await asyncio.sleep(0.3)
                if (doing := meanwhile(nodes)) is not None:
                    await doing
            await measuring
        return nodes

    return asyncio.run(session())


def _issues(folder: Path) -> bool:
    """Whether the measured phase has begun."""
    with suppress(sqlite3.OperationalError):  # it is being made
        return (folder / "events.db").exists() and bool(
            of(EventType.PHASE_STARTED, events(folder / "events.db"))
        )
    return False


def shards_of(folder: Path) -> list[Path]:
    """The shards of a run."""
    return [shard_log(folder / FOLDER, f"node-{number}") for number in range(3)]


def asked(log: Path) -> list[int]:
    """The numbers of the samples that a log's requests asked."""
    return [data["prompt_id"] for data in of(EventType.LOADGEN_ISSUE_CALLED, events(log))]


def session_row(log: Path) -> tuple[str, Any]:
    """The session's id and environment."""
    with closing(sqlite3.connect(log)) as connection:
        session_id, environment = connection.execute("SELECT session_id, environment FROM session").fetchone()
    return session_id, orjson.loads(environment)


def findings(folder: Path) -> list[tuple[str, str]]:
    """The code and the message of each finding of the coordinator."""
    logged = of(EventType.FINDING, events(folder / "events.db"))
    return [(finding["code"], finding["message"]) for finding in logged]


def readings(folder: Path) -> list[ClockReading]:
    """The clock readings of a run."""
    return [
        ClockReading.of(event.at_ns, event.data)
        for event in events(folder / "events.db")
        if event.type is EventType.TELEMETRY and event.data["source"] == SOURCE
    ]


def test_the_schedule_of_nodes_is_that_of_one(mock: MockProcess, tmp_path: Path) -> None:
    """In an open loop every arrival once at its offset, in a closed loop every number once; one clock is off.

    Each log is an ordinary one, and says what it is.
    """
    off = {1: IN_TIME_NAMESPACE} if has_time_namespaces() else {}
    prepared = prepared_of(mock, rate="300", requests=150, workers=2)
    run(prepared, tmp_path / "open", off)
    plan = prepared.plan
    offsets = prepared.request_source().offsets(plan.load, plan.arrivals_seed, None)  # type: ignore[arg-type]
    whole = list(islice(offsets, 150))
    offsets = []
    for log in shards_of(tmp_path / "open"):
        logged = events(log)
        assert not list(violations(logged))
        assert len(of(EventType.COMPLETE, logged)) == len(asked(log)) == 50
        (start_ns,) = (
            event.at_ns
            for event in logged
            if event.type is EventType.PHASE_STARTED and event.data["phase"] == "performance"
        )
        offsets += [data["scheduled_ns"] - start_ns for data in of(EventType.LOADGEN_ISSUE_CALLED, logged)]
        (stopped,) = of(EventType.STOP_PERFORMANCE_TRACKING, logged)
        assert stopped["scheduled"] == 50
    assert sorted(offsets) == whole
    assert not findings(tmp_path / "open")

    run(prepared_of(mock, concurrency=7, requests=100, warmup="9"), tmp_path / "closed")
    numbers = [number for log in shards_of(tmp_path / "closed") for number in asked(log)]
    assert sorted(numbers) == list(range(109))
    session_id, environment = session_row(tmp_path / "closed" / "events.db")
    assert environment["kind"] == "coordinator"
    for number, log in enumerate(shards_of(tmp_path / "closed")):
        shard_session, shard = session_row(log)
        assert shard_session == session_id
        assert (shard["kind"], shard["shard"], shard["shards"]) == ("shard", f"node-{number}", 3)
        assert environment["shards"][number]["shard"] == shard["shard"]

    if off:
        own = [reading for reading in readings(tmp_path / "open") if reading.node == "node-1"]
        assert len(own) >= 2
        assert all(abs(reading.offset_ns + OFF_S * 10**9) <= reading.uncertainty_ns for reading in own)


def open_requests(node: int) -> int:
    """How many requests are open by the log that the process of a node writes."""
    (log,) = {path for path in map(Path.resolve, Path(f"/proc/{node}/fd").iterdir()) if path.suffix == ".db"}
    kinds = [event.type for event in events(log)]
    return kinds.count(EventType.LOADGEN_ISSUE_CALLED) - sum(kind in TERMINAL for kind in kinds)


@pytest.mark.parametrize("on_loss", ["stop", "continue"])
def test_a_node_that_is_killed(mock: MockProcess, tmp_path: Path, on_loss: str) -> None:
    """Its open requests are lost, its log comes home and ends; the others stop, or go on to their end."""

    async def kill(nodes: PlainNodes) -> None:
        process = nodes.links[1].process
        os.kill(mock.pid, signal.SIGSTOP)
        try:
            while open_requests(process.pid) < 2:  # noqa: ASYNC110 (another process)
                await asyncio.sleep(0.02)
            process.kill()
        finally:
            os.kill(mock.pid, signal.SIGCONT)

    prepared = prepared_of(mock, concurrency=6, requests=210, on_node_loss=on_loss)
    run(prepared, tmp_path / "run", meanwhile=kill)

    ((code, message),) = findings(tmp_path / "run")
    assert code == "node_lost"
    assert "node-1" in message
    logs = [events(log) for log in shards_of(tmp_path / "run")]
    assert not [fault for logged in logs for fault in violations(logged)]
    lost = of(EventType.ERROR, logs[1])
    assert [error["error"] for error in lost] == ["worker_lost"] * 2
    assert of(EventType.TEST_ENDED, logs[1]) == [{"reason": "node_lost"}]
    reason = "node_lost" if on_loss == "stop" else "completed"
    for logged in (logs[0], logs[2], events(tmp_path / "run" / "events.db")):
        assert of(EventType.TEST_ENDED, logged) == [{"reason": reason}]
    if on_loss == "continue":
        for logged in (logs[0], logs[2]):
            assert len([event for event in logged if event.type in TERMINAL]) == 70


@pytest.mark.slow
def test_a_node_that_is_stopped_and_continued(mock: MockProcess, tmp_path: Path) -> None:
    """It is named, nothing is lost, and its clock is read again."""

    def freeze(nodes: PlainNodes) -> None:
        pid = nodes.links[2].process.pid
        os.kill(pid, signal.SIGSTOP)
        asyncio.get_running_loop().call_later(3.0, os.kill, pid, signal.SIGCONT)

    run(prepared_of(mock, rate="60", requests=240), tmp_path / "run", meanwhile=freeze)

    ((code, message),) = findings(tmp_path / "run")
    assert code == "node_silent"
    assert "node-2" in message
    assert sorted(number for log in shards_of(tmp_path / "run") for number in asked(log)) == list(range(240))


def test_a_shared_folder(mock: MockProcess, tmp_path: Path) -> None:
    """The shards stay in it, also that of a node that was lost."""

    def kill(nodes: PlainNodes) -> None:
        nodes.links[0].process.kill()

    prepared = prepared_of(mock, concurrency=6, requests=210, shards=tmp_path / "shared")
    run(prepared, tmp_path / "run", meanwhile=kill)

    session_id, environment = session_row(tmp_path / "run" / "events.db")
    assert environment["shards_path"] == str(tmp_path / "shared" / session_id)
    for number in range(3):
        logged = events(shard_log(tmp_path / "shared" / session_id, f"node-{number}"))
        assert of(EventType.TEST_ENDED, logged) == [{"reason": "node_lost"}]
    assert not (tmp_path / "run" / FOLDER).exists()


@pytest.mark.slow
def test_an_object_store(mock: MockProcess, bucket: str, tmp_path: Path) -> None:
    """Each node uploads its log, also one that was lost; a log that the store does not take comes home."""

    def kill(nodes: PlainNodes) -> None:
        nodes.links[0].process.kill()

    ends: list[Any] = []
    prepared = prepared_of(mock, concurrency=6, requests=210, shards=bucket)
    with pytest.MonkeyPatch.context() as patch:
        # Nodes upload by themselves, in separate processes.
        patch.setattr(Place, "upload", lambda *_: pytest.fail("uploaded by the coordinator"))
        run(prepared, tmp_path / "run", AFRESH, kill)
    session_id, environment = session_row(tmp_path / "run" / "events.db")
    assert environment["shards_path"] == f"{bucket}/{session_id}"
    there = place(f"{bucket}/{session_id}")
    assert sorted(there.sizes()) == sorted(
        f"node-{number}/{file}" for number in range(3) for file in ("events.db", "node.json")
    )
    for number in range(3):
        note = orjson.loads(there.read(f"node-{number}/node.json"))
        assert not Path(note["log"]).exists()
        there.download(f"node-{number}/events.db", tmp_path / "shard.db")
        ends += of(EventType.TEST_ENDED, events(tmp_path / "shard.db"))
    assert ends == [{"reason": "node_lost"}] * 3
    assert not (tmp_path / "run" / FOLDER).exists()
    assert SECRET not in (tmp_path / "run" / "events.db").read_bytes().decode(errors="replace")


@pytest.mark.slow
def test_an_object_store_that_refuses(mock: MockProcess, bucket: str, tmp_path: Path) -> None:
    """Before the session that is an error which names the node; at its end the logs come home."""
    nowhere = bucket.replace(BUCKET, "no-such-bucket", 1)
    with pytest.raises(UnreachableError, match=rf"node-\d \(.*could not be left there: {nowhere}/"):
        run(prepared_of(mock, concurrency=3, requests=3, shards=nowhere), tmp_path / "none", AFRESH)
    assert not (tmp_path / "none").exists()

    def refuse(nodes: PlainNodes) -> None:
        for link in nodes.links:
            call = link.call
            link.call = lambda method, *values, call=call: call(  # type: ignore[method-assign]
                method, *(nowhere if value == store else value for value in values)
            )

    def name_another(nodes: PlainNodes) -> None:
        nonlocal store
        session_id, _ = session_row(tmp_path / "run" / "events.db")
        store = f"{bucket}/{session_id}"
        refuse(nodes)

    store = ""
    run(
        prepared_of(mock, concurrency=3, requests=90, shards=bucket),
        tmp_path / "run",
        AFRESH,
        name_another,
    )
    assert [code for code, _ in findings(tmp_path / "run")] == ["shard_not_uploaded"] * 3
    assert sum(len(asked(log)) for log in shards_of(tmp_path / "run")) == 90


def test_an_endpoint_that_a_node_cannot_reach(tmp_path: Path) -> None:
    """The message names the node, and there is no log anywhere."""
    settings = perf_settings(url=["http://127.0.0.1:9"], model="m", ray="auto", requests=3, concurrency=3)
    with pytest.raises(Exception, match=r"node-\d \(.*127\.0\.0\.1:9"):
        run(prepare(settings), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def read_clock(start: Callable[[], PlainLink]) -> ClockReading:
    """Compare the clock of a node that is started for it."""

    async def read() -> ClockReading | None:
        link = start()
        try:
            return await NodeHandle(link, system_clock(), lambda _: None).read_clock()
        finally:
            link.close()

    reading = asyncio.run(read())
    assert reading is not None
    return reading


def test_a_clock_behind_a_slow_network() -> None:
    """The offset is within its uncertainty, however unequal the two ways are."""
    draw = random.Random(1)  # noqa: S311 (no secret)

    async def delay(*, is_sent: bool) -> None:
        await asyncio.sleep(draw.uniform(0, 0.004) + 0.006 * is_sent)

    reading = read_clock(lambda: PlainLink("node-0", delay=delay))
    assert abs(reading.offset_ns) <= reading.uncertainty_ns
    assert 3_000_000 < reading.uncertainty_ns <= reading.round_trip_ns


def test_a_clock_in_another_network() -> None:
    """With 8 ms on the way there and 1 ms on the way back; the clock is set off.

    The kernel adds the delay (netem), or the test where this kernel cannot.
    """

    async def delay(*, is_sent: bool) -> None:
        await asyncio.sleep(0.008 if is_sent else 0.001)

    with network_namespace() as (prefix, host, has_netem):
        namespaces = (*prefix, *IN_TIME_NAMESPACE)
        reading = read_clock(lambda: PlainLink("node-0", namespaces, host, None if has_netem else delay))
    assert abs(reading.offset_ns + OFF_S * 10**9) <= reading.uncertainty_ns
    assert reading.round_trip_ns > 8_000_000


@contextmanager
def network_namespace() -> Iterator[tuple[Sequence[str], str, bool]]:
    """A separate network behind a pair of devices with 8 ms there and 1 ms back.

    Returns:
        What a command in it begins with, its address, and whether the kernel delays.
    """
    name, here, there = f"lg{os.getpid()}", f"lgh{os.getpid()}"[:15], f"lgt{os.getpid()}"[:15]
    made = (
        f"ip netns add {name}",
        f"ip link add {here} type veth peer name {there}",
        f"ip link set {there} netns {name}",
        f"ip addr add 10.231.77.1/30 dev {here}",
        f"ip link set {here} up",
        f"ip netns exec {name} ip addr add 10.231.77.2/30 dev {there}",
        f"ip netns exec {name} ip link set {there} up",
    )
    delayed = (
        f"tc qdisc add dev {here} root netem delay 8ms 1ms",
        f"ip netns exec {name} tc qdisc add dev {there} root netem delay 1ms",
    )

    def run(line: str) -> str | None:
        """Run a command; return why it failed, if it did."""
        try:
            done = subprocess.run(line.split(), check=False, capture_output=True, text=True)
        except OSError as error:
            return str(error)
        return done.stderr if done.returncode else None

    try:
        for line in made:
            if (why := run(line)) is not None:
                pytest.skip(f"needs root and iproute2: {line}: {why.strip()}")
        yield ("ip", "netns", "exec", name), "10.231.77.2", all(run(line) is None for line in delayed)
    finally:
        for line in (f"ip link del {here}", f"ip netns del {name}"):
            run(line)


def test_without_ray(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what to install."""
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SetupError, match=r"pip install 'llm-loadgen\[ray\]'"), RayNodes("auto", 2, object):
        pass


def test_nodes_that_cannot_take_part() -> None:
    """Each gets an error that says which node, and what to do."""
    own = {"version": "1.2", "sources": "a1"}
    node = {**own, "shard": "node-1", "host": "far"}
    require_same(own, [node])
    for other, pattern in (
        ({"version": None}, "node-1 .far. has no llm-loadgen: install .*==1.2"),
        ({"version": "1.1"}, "has llm-loadgen 1.1, and this machine 1.2"),
        ({"sources": "b2"}, "other sources"),
    ):
        with pytest.raises(SetupError, match=pattern):
            require_same(own, [node, node | other])
    with pytest.raises(UsageError, match=r"fewer users than nodes"):
        require_share(perf_load(concurrency=2), nodes=3, workers=1)
    with pytest.raises(UsageError, match=r"max-concurrency 5"):
        require_share(perf_load(rate="9", max_concurrency=5), nodes=3, workers=2)
    for refused in ({"nodes": 2}, {"ray": "ray://x:1"}, {"ray": "auto", "abort_on_fail": True}):
        with pytest.raises(UsageError):
            perf_settings(model="m", **refused)


def perf_load(**options: Any) -> Any:
    """A load."""
    from loadgen.sessions.run.loads import load_of

    return load_of(perf_settings(model="m", **options).load)


def has_time_namespaces() -> bool:
    """Whether a process can have another CLOCK_MONOTONIC here."""
    if shutil.which("unshare") is None:
        return False
    return not subprocess.run([*IN_TIME_NAMESPACE, "true"], check=False, capture_output=True).returncode
