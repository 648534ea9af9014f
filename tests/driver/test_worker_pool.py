"""A pool of real processes: it issues its share, reports everything, and its end is noticed."""

from __future__ import annotations

import asyncio
import os
import signal
import sqlite3
import sys
import time
from contextlib import asynccontextmanager, closing
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.errors import StoppedEarlyError, WorkerLostError
from loadgen.driver.load import Closed, Load, Offline
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import ErrorBudget, Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.workers import launcher
from loadgen.driver.workers.framing import QueueBounds
from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.driver.workers.pool import WorkerPool
from loadgen.mock_endpoint.process import MockProcess, start_mock
from recorder.event import Event, EventType
from recorder.lifecycle import violations
from recorder.writer import EventRecorder
from tests.driver.manual_clock import open_loop
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator

PROC = Path("/proc")
CLOSED = Closed(5)
SECRET = "sk-not-to-be-told"  # noqa: S105 (not a real one)


@pytest.fixture(scope="module")
def quick_mock() -> Iterator[MockProcess]:
    """An endpoint that answers at once."""
    with start_mock(ttft="0ms", itl="0ms", tokens="2") as mock:
        yield mock


def plan_of(load: Load, requests: int | None = None, duration_s: float | None = None, **more: Any) -> Plan:
    """A plan with these limits."""
    warmup = more.pop("warmup", 0)
    budget = more.pop("budget", ErrorBudget())
    return Plan(
        load,
        requests,
        duration_s,
        warmup,
        Generation("m", **more),
        "chat",
        3,
        Timeouts(60),
        budget=budget,
    )


class Running:
    """A session with a pool of processes, in the running event loop."""

    def __init__(self, launcher: WorkerLauncher, plan: Plan, log: Path, bounds: QueueBounds) -> None:
        self.launcher = launcher
        self.stop = Stop()
        self.clock = system_clock()
        self.recorder = EventRecorder(path=log)
        self.pool = WorkerPool(launcher, plan, self.recorder, self.clock, self.stop, bounds)
        self.session = LoadSession(plan, self.pool, self.recorder.put, self.clock, self.stop)

    async def run(self) -> None:
        """Run the session to its end."""
        await self.session.run()
        await self.pool.end()


@asynccontextmanager
async def session(
    mock: MockProcess,
    log: Path,
    plan: Plan,
    samples: list[Sample],
    workers: int = 2,
    bounds: QueueBounds = QueueBounds(),  # noqa: B008 (a frozen value)
) -> AsyncIterator[Running]:
    """A session whose workers are ready."""
    with WorkerLauncher() as launcher:
        launcher.spawn(workers)
        running = Running(launcher, plan, log, bounds)
        running.pool.begin(
            [endpoint(mock.url, {"Authorization": f"Bearer {SECRET}"})], RequestSource(samples)
        )
        await running.pool.ready()
        with running.recorder:
            yield running
        running.clock.close()


def events(log: Path) -> list[Event]:
    """The events of a log, in the order of writing."""
    query = "SELECT code, at_ns, sample_uuid, data FROM events ORDER BY seq"
    with closing(sqlite3.connect(log)) as connection:
        result = connection.execute(query).fetchall()
    return [
        Event(EventType(c), index, uuid, orjson.loads(data) if data else {})
        for c, index, uuid, data in result
    ]


def of(kind: EventType, expected: list[Event]) -> list[dict[str, Any]]:
    """What the events of a kind tell."""
    return [dict(event.data or {}) for event in expected if event.type is kind]


def asked(expected: list[Event]) -> list[int]:
    """The samples that the measured requests asked, in order."""
    issues = of(EventType.LOADGEN_ISSUE_CALLED, expected)
    return sorted(issue["prompt_id"] for issue in issues if issue["phase"] == "performance")


@pytest.mark.parametrize("load", [CLOSED, open_loop("poisson", 2000), Offline()])
def test_each_prompt_is_asked_once(quick_mock: MockProcess, tmp_path: Path, load: Load) -> None:
    """One pass over the prompts, by three workers, after a warm-up that took the first ones."""
    log, samples = tmp_path / "events.db", [Sample(index, f"question {index}") for index in range(110)]

    async def scenario() -> None:
        plan = plan_of(load, 100, warmup=10)
        async with session(quick_mock, log, plan, samples, workers=3) as running:
            await running.run()
            assert running.pool.progress.completed == running.pool.progress.issued == 100
            assert running.pool.progress.in_flight == 0

    asyncio.run(scenario())
    result = events(log)
    assert asked(result) == list(range(10, 110))
    assert violations(result) == []
    (stopped,) = of(EventType.STOP_PERFORMANCE_TRACKING, result)
    assert stopped == {"reason": "requests", "scheduled": 100}
    assert len(of(EventType.COMPLETE, result)) == 110
    (ended,) = of(EventType.TEST_ENDED, result)
    assert ended == {"reason": "completed"}
    start_ns = next(event.at_ns for event in result if (event.data or {}).get("phase") == "performance")
    dues = [issue["scheduled_ns"] for issue in of(EventType.LOADGEN_ISSUE_CALLED, result)]
    assert sum(due >= start_ns for due in dues) == 100


@pytest.mark.slow
def test_every_worker_sends_telemetry(quick_mock: MockProcess, tmp_path: Path) -> None:
    """Each has its own telemetry, the last of which comes before it ends."""
    log = tmp_path / "events.db"

    async def scenario() -> None:
        async with session(quick_mock, log, plan_of(CLOSED, duration_s=1.0), [Sample(0, "a")]) as running:
            await running.run()

    asyncio.run(scenario())
    payload = [data for data in of(EventType.TELEMETRY, events(log)) if data["source"] == "client"]
    assert {data["worker"] for data in payload} == {0, 1}
    # A last part of a second has too few ticks for a median.
    keys = {"loop_lag_max_ms", "cpu_share", "cpu_wait_share", "gc_pause_max_ms"}
    assert all(data.keys() >= keys | {"in_flight", "backlog_events", "held_up_ms"} for data in payload)
    assert any("loop_lag_p50_ms" in data for data in payload)


@pytest.mark.slow
def test_a_slow_writer_is_recorded_and_nothing_is_lost(quick_mock: MockProcess, tmp_path: Path) -> None:
    """While the log is locked, the workers halt; afterwards they go on, and all is written."""
    log, samples = tmp_path / "events.db", [Sample(index, "long " * 3000) for index in range(400)]
    bounds = QueueBounds(recorder_events=20, backlog_events=20)

    async def scenario() -> None:
        async with session(quick_mock, log, plan_of(CLOSED, 400), samples, bounds=bounds) as running:
            blocker = sqlite3.connect(log, isolation_level=None)
            blocker.execute("BEGIN IMMEDIATE")
            task = asyncio.create_task(running.run())
            await until_it_halts(lambda: len(quick_mock.truth()))
            assert not task.done()
            blocker.execute("ROLLBACK")
            blocker.close()
            await task

    before = len(quick_mock.truth())
    asyncio.run(scenario())
    result = events(log)
    assert asked(result) == list(range(400))
    assert len(of(EventType.COMPLETE, result)) == 400
    assert len(quick_mock.truth(before + 400)) == before + 400
    assert violations(result) == []
    payload = of(EventType.TELEMETRY, result)
    assert sum(data["held_up_ms"] for data in payload if data["source"] == "client") > 0
    assert max(data["backlog_events"] for data in payload if data["source"] == "client") > 20
    recorder = [data for data in payload if data["source"] == "recorder"][-1]
    assert recorder["lost"] == 0
    assert recorder["high_water"] > 20


async def until(happened: Callable[[], bool]) -> None:
    """Wait until something has happened."""
    async with asyncio.timeout(60):
        while not happened():  # noqa: ASYNC110 (polled: nothing signals it)
            await asyncio.sleep(0.01)


async def until_it_halts(count: Callable[[], int]) -> None:
    """Wait until a number has begun to grow, and then has not grown for many looks at it."""
    first = before = count()
    looks = 0
    give_up = time.monotonic() + 60
    while looks < 80:
        assert time.monotonic() < give_up
        await asyncio.sleep(0.01)
        now = count()
        looks = looks + 1 if now == before > first else 0
        before = now


def test_a_worker_that_is_killed_is_noticed(tmp_path: Path) -> None:
    """Its open requests fail as worker_lost, the others drain, and the session ends in order.

    They spend no error budget: what ended the session is the loss.
    """
    log = tmp_path / "events.db"

    async def scenario(mock: MockProcess) -> None:
        plan = plan_of(CLOSED, duration_s=60, budget=ErrorBudget(errors=1))
        async with session(mock, log, plan, [Sample(0, "a")]) as running:
            task = asyncio.create_task(running.run())
            await until(lambda: running.pool.progress.in_flight >= 5)
            os.kill(running.launcher.processes[1].pid, signal.SIGKILL)
            await asyncio.wait_for(task, 60)
            assert running.pool.progress.errors["worker_lost"] > 0
            assert running.pool.progress.in_flight == 0

    with start_mock(ttft="200ms", itl="20ms", tokens="10") as mock:
        asyncio.run(scenario(mock))
    result = events(log)
    assert violations(result) == []
    lost = of(EventType.ERROR, result)
    assert 0 < len(lost) <= 2
    assert {data["error"] for data in lost} == {"worker_lost"}
    (finding,) = of(EventType.FINDING, result)
    assert (finding["code"], finding["severity"]) == ("worker_lost", "error")
    assert "worker 1 of 2" in finding["message"].lower()
    assert "SIGKILL" in finding["message"]
    assert of(EventType.TEST_ENDED, result) == [{"reason": "worker_lost"}]
    assert of(EventType.STOP_PERFORMANCE_TRACKING, result)[0]["reason"] == "worker_lost"
    issued, ended = (of(kind, result) for kind in (EventType.LOADGEN_ISSUE_CALLED, EventType.COMPLETE))
    assert len(issued) == len(ended) + len(lost)


@pytest.mark.parametrize("load", [CLOSED, open_loop("constant", 50)])
def test_a_worker_that_crashes_says_why(quick_mock: MockProcess, tmp_path: Path, load: Load) -> None:
    """A bug ends the session at once, and its message is in the log."""
    log = tmp_path / "events.db"

    async def scenario() -> None:
        plan = plan_of(load, duration_s=60, extra_body={"what": set()})
        async with session(quick_mock, log, plan, [Sample(0, "a")]) as running:
            await asyncio.wait_for(running.run(), 60)

    asyncio.run(scenario())
    result = events(log)
    assert violations(result) == []
    assert of(EventType.TEST_ENDED, result) == [{"reason": "worker_lost"}]
    findings = of(EventType.FINDING, result)
    assert findings
    assert all("TypeError" in finding["message"] for finding in findings)
    assert all("report the bug" in finding["remedy"] for finding in findings)


def test_a_worker_that_is_lost_before_the_session() -> None:
    """Who waits for something before it hears why that failed, and not that a caller asked to stop."""

    async def scenario() -> None:
        stop = Stop()

        async def getting_ready() -> None:
            stop.drain("worker_lost")
            await asyncio.sleep(0)
            raise WorkerLostError("worker 0 was lost")

        with pytest.raises(WorkerLostError, match="worker 0"):
            await stop.unless_asked(getting_ready())
        stop.ask()
        with pytest.raises(StoppedEarlyError):
            await stop.unless_asked(asyncio.sleep(60))

    asyncio.run(scenario())


def test_a_worker_that_is_never_ready(quick_mock: MockProcess, tmp_path: Path) -> None:
    """There is an error that says how it ended, and no log."""

    async def scenario() -> None:
        with WorkerLauncher() as launcher:
            launcher.spawn(2)
            os.kill(launcher.processes[0].pid, signal.SIGKILL)
            running = Running(launcher, plan_of(CLOSED, 10), tmp_path / "events.db", QueueBounds())
            running.pool.begin([endpoint(quick_mock.url, {})], RequestSource([Sample(0, "a")]))
            with pytest.raises(WorkerLostError, match=r"worker 0 of 2 was lost \(killed by SIGKILL\)"):
                await running.pool.ready()
            running.clock.close()
            running.recorder.close()

    asyncio.run(scenario())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("asks", [1, 2])
def test_stopping(tmp_path: Path, asks: int) -> None:
    """Asked once, everybody drains; asked twice, everybody gives up what is in flight."""
    log = tmp_path / "events.db"

    async def scenario(mock: MockProcess) -> None:
        async with session(mock, log, plan_of(CLOSED, duration_s=60), [Sample(0, "a")]) as running:
            task = asyncio.create_task(running.run())
            await until(lambda: running.pool.progress.in_flight >= 5)
            for _ in range(asks):
                running.stop.ask()
            await asyncio.wait_for(task, 60)

    with start_mock(ttft="300ms" if asks == 1 else "60s", tokens="1") as mock:
        asyncio.run(scenario(mock))
    result = events(log)
    assert violations(result) == []
    assert of(EventType.TEST_ENDED, result) == [{"reason": "interrupted"}]
    ended = of(EventType.COMPLETE if asks == 1 else EventType.CANCELLED, result)
    assert len(ended) == len(of(EventType.LOADGEN_ISSUE_CALLED, result)) >= 5


@pytest.mark.skipif(
    sys.platform != "linux",
    reason="reads the command lines and environments of the workers from /proc, which only Linux has",
)
@pytest.mark.usefixtures("fresh_children")
def test_secrets_are_on_no_command_line(
    quick_mock: MockProcess, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor in an environment: others can read both."""
    monkeypatch.setattr(launcher, "can_fork", lambda: False)
    payload: list[list[bytes]] = []

    async def scenario() -> None:
        async with session(quick_mock, tmp_path / "events.db", plan_of(CLOSED, 1), []) as running:
            folders = [PROC / str(process.pid) for process in running.launcher.processes]
            payload.extend(
                [(folder / name).read_bytes() for name in ("cmdline", "environ")] for folder in folders
            )

    asyncio.run(scenario())
    assert all(b"loadgen.driver.workers.worker_process" in command for command, _ in payload)
    assert all(SECRET.encode() not in text for texts in payload for text in texts)


def test_workers_end_with_their_staff() -> None:
    """Also those that never got a message; and they do not mind the signals of a terminal."""
    with WorkerLauncher() as launcher:
        launcher.spawn(2)
        launcher.spawn(1)
        first, second = launcher.processes
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            os.kill(first.pid, number)
            os.kill(second.pid, number)
    assert [process.exit_status() for process in (first, second)] == ["exit code 0", "exit code 0"]


@pytest.mark.slow
def test_a_worker_that_is_never_continued(tmp_path: Path) -> None:
    """It says nothing any more, is taken for dead after a while, and does not hold up the session's end."""
    log = tmp_path / "events.db"
    bounds = QueueBounds(silence_s=1.5)

    async def scenario(mock: MockProcess) -> None:
        plan = plan_of(CLOSED, duration_s=60)
        async with session(mock, log, plan, [Sample(0, "a")], bounds=bounds) as running:
            task = asyncio.create_task(running.run())
            await until(lambda: running.pool.in_flight >= 5)
            os.kill(running.launcher.processes[0].pid, signal.SIGSTOP)
            await asyncio.wait_for(task, 60)

    with start_mock(ttft="50ms", itl="20ms", tokens="10") as mock:
        asyncio.run(scenario(mock))
    result = events(log)
    assert violations(result) == []
    assert of(EventType.TEST_ENDED, result) == [{"reason": "worker_lost"}]
    (finding,) = of(EventType.FINDING, result)
    assert "worker 0 of 2 was lost (no message for 1.5 s)" in finding["message"].lower()
    assert "SIGSTOP" in finding["remedy"]


@pytest.mark.parametrize("bounds", [QueueBounds(recorder_bytes=20_000), QueueBounds(recorder_events=40)])
def test_an_abort_does_not_wait_for_the_disk(
    quick_mock: MockProcess, tmp_path: Path, bounds: QueueBounds
) -> None:
    """Neither where too many events nor where too many bytes wait, so that no worker is read."""
    log = tmp_path / "events.db"

    async def scenario() -> None:
        plan = plan_of(CLOSED, duration_s=60)
        async with session(quick_mock, log, plan, [Sample(0, "a")], bounds=bounds) as running:
            with closing(sqlite3.connect(log, isolation_level=None)) as blocker:
                blocker.execute("BEGIN IMMEDIATE")
                task = asyncio.create_task(running.run())
                await until(lambda: running.pool._pause is not None and running.recorder.stalled_s > 0)
                running.stop.ask()
                running.stop.ask()
                await asyncio.wait_for(task, 60)
                assert running.recorder.stalled_s > 0

    asyncio.run(scenario())
    result = events(log)
    assert violations(result) == []
    assert of(EventType.TEST_ENDED, result) == [{"reason": "interrupted"}]


def test_a_log_is_complete_until_the_last_worker_is() -> None:
    """The one that is behind counts, also where it is lost: what it did not tell is missing."""

    async def scenario() -> list[int]:
        text: list[int] = []
        recorder = SimpleNamespace(
            expect_completeness=lambda: None,
            complete_until=lambda at_ns, **_: text.append(at_ns),
            put=text.append,
        )
        launcher = SimpleNamespace(counter=None, processes=[])
        pool = WorkerPool(launcher, plan_of(CLOSED, 1), recorder, system_clock(), Stop())  # type: ignore[arg-type]
        first, other = (SimpleNamespace(complete_until_ns=0, ended=False, lost=False) for _ in range(2))
        pool._workers = [first, other]  # type: ignore[list-item]
        for member, until_ns in ((first, 5), (other, 3), (other, 7), (first, 6)):
            member.complete_until_ns = until_ns
            pool.on_completeness()
        first.lost = True
        other.complete_until_ns = 9
        pool.on_completeness()
        first.ended = True
        pool.on_completeness()
        return text

    assert asyncio.run(scenario()) == [3, 5, 6, 9]


@pytest.mark.slow
def test_what_had_ended_is_in_a_log_that_says_so(quick_mock: MockProcess, tmp_path: Path) -> None:
    """At every moment of a run, by what the endpoint knows itself."""

    async def scenario() -> None:
        log = tmp_path / "events.db"
        before = len(quick_mock.truth())
        plan = plan_of(open_loop("constant", 400), 400)
        async with session(quick_mock, log, plan, [Sample(index=0, prompt="hi")]) as running:
            looks: list[tuple[int, set[str | None]]] = []
            over = asyncio.create_task(running.run())
            while not over.done():
                looks.append(await asyncio.to_thread(completeness_of, log))
                await asyncio.sleep(0.01)
            await over
        done = {
            record.request_id: record.done_ns for record in quick_mock.truth()[before:] if record.request_id
        }
        assert max(until_ns for until_ns, _ in looks) > min(done.values())
        for until_ns, expected in looks:
            assert {uuid for uuid, done_ns in done.items() if done_ns < until_ns} <= expected

    asyncio.run(scenario())


def completeness_of(log: Path) -> tuple[int, set[str | None]]:
    """Until when a log is complete, and the requests whose ends it has, as of one moment."""
    with closing(sqlite3.connect(log)) as connection:
        connection.execute("BEGIN")
        (until_ns,) = connection.execute("SELECT complete_until_ns FROM heartbeats").fetchone()
        ends = connection.execute("SELECT sample_uuid FROM events WHERE code = ?", [EventType.COMPLETE])
        return until_ns, {uuid for (uuid,) in ends}
