"""Several endpoints and a drain with a bound, by real processes."""

from __future__ import annotations

import asyncio
import sqlite3
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import orjson

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.load import Closed, Load
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import Plan
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.driver.workers.pool import WorkerPool
from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from recorder.writer import EventRecorder
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


def measure(log: Path, urls: Sequence[str], load: Load, requests: int | None, **more: Any) -> WorkerPool:
    """Run a session of two workers; its pool, when it is over."""

    async def scenario() -> WorkerPool:
        limits: dict[str, Any] = {"duration_s": None, "warmup": 0} | more
        named = {"generation": Generation("m"), "protocol": "chat", "seed": 3, "timeouts": Timeouts(60)}
        plan, clock, stop = Plan(load, requests, **(limits | named)), system_clock(), Stop()
        with WorkerLauncher() as launcher:
            launcher.spawn(2)
            recorder = EventRecorder(path=log)
            pool = WorkerPool(launcher, plan, recorder, clock, stop)
            pool.begin(
                [endpoint(url, {}) for url in urls], RequestSource([Sample(0, "a"), Sample(1, "b")]), 4
            )
            await pool.ready()
            with recorder:
                await LoadSession(plan, pool, recorder.put, clock, stop).run()
                await pool.end()
        clock.close()
        return pool

    return asyncio.run(scenario())


def payloads(log: Path, kind: EventType) -> list[tuple[str, dict[str, Any]]]:
    """What the events of a kind tell, of which request."""
    query = "SELECT coalesce(sample_uuid, ''), data FROM events WHERE code = ? ORDER BY seq"
    with closing(sqlite3.connect(log)) as connection:
        rows = connection.execute(query, (kind.value,)).fetchall()
    return [(uuid, orjson.loads(data)) for uuid, data in rows]


def test_who_answers_is_asked_where_another_does_not(tmp_path: Path) -> None:
    """By least in flight, each worker leaves the endpoint alone that keeps its requests; the drain ends."""
    log = tmp_path / "events.db"
    load = Closed(6)
    with start_mock(ttft="0ms", tokens="2") as quick, start_mock(ttft="100s", tokens="2") as slow:
        pool = measure(log, [quick.url, slow.url], load, 40, balance="least-in-flight", drain_s=0.9)
        asked = Counter(issue["endpoint"] for _, issue in payloads(log, EventType.LOADGEN_ISSUE_CALLED))
        answered = {record.request_id for record in quick.truth(asked[0])}
    assert asked.total() == 40
    assert 2 <= asked[1] <= 6
    issued = dict(payloads(log, EventType.LOADGEN_ISSUE_CALLED))
    assert {uuid for uuid, issue in issued.items() if not issue["endpoint"]} == answered
    cancelled = payloads(log, EventType.CANCELLED)
    assert [(item["reason"], issued[uuid]["endpoint"]) for uuid, item in cancelled] == [
        ("drain_over", 1) for _ in range(asked[1])
    ]
    assert (pool.progress.completed, pool.progress.given_up) == (asked[0], asked[1])
    ((_, result),) = payloads(log, EventType.FINDING)
    assert result["code"] == "drain_over"
    assert result["message"].startswith(f"{asked[1]} requests were still in flight 0.9 s after")
    assert payloads(log, EventType.TEST_ENDED) == [("", {"reason": "completed"})]
