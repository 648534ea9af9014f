"""The error budget: when it is spent, and that it ends a session of real workers."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.driver.client.codec import Generation
from loadgen.driver.client.endpoint import endpoint
from loadgen.driver.client.timeouts import Timeouts
from loadgen.driver.ending import budget_spent
from loadgen.driver.load import Closed
from loadgen.driver.load_session import LoadSession
from loadgen.driver.plan import ErrorBudget, Plan
from loadgen.driver.progress import SessionProgress
from loadgen.driver.requests.request_source import RequestSource
from loadgen.driver.stop import Stop
from loadgen.driver.system.clock import system_clock
from loadgen.driver.workers.launcher import WorkerLauncher
from loadgen.driver.workers.pool import WorkerPool
from recorder.event import EventType
from recorder.writer import EventRecorder
from reporter.reporter import MetricsReporter
from workloads.sample import Sample

if TYPE_CHECKING:
    from pathlib import Path

    from reporter.report import Report


def progress(completed: int, **errors: int) -> SessionProgress:
    """A session that has come so far."""
    return SessionProgress(completed=completed, errors=Counter(errors))


@pytest.mark.parametrize(
    ("budget", "completed", "failed", "spent"),
    [
        (ErrorBudget(), 0, 10**6, None),
        (ErrorBudget(errors=5), 1000, 4, None),
        (ErrorBudget(errors=5), 1000, 5, "5 requests failed, and --max-errors is 5"),
        (ErrorBudget(rate=0.1), 0, 19, None),
        (ErrorBudget(rate=0.1), 18, 2, None),
        (ErrorBudget(rate=0.1), 17, 3, "3 of 20 requests failed (15.0 %), and --max-error-rate is 10.0 %"),
        (ErrorBudget(rate=0), 20, 0, None),
        (ErrorBudget(rate=0), 19, 1, "1 of 20 requests failed (5.0 %), and --max-error-rate is 0.0 %"),
        (ErrorBudget(rate=1), 0, 100, None),
        (ErrorBudget(errors=50, rate=0.1), 10, 10, "10 of 20 requests failed"),
    ],
)
def test_when_it_is_spent(budget: ErrorBudget, completed: int, failed: int, spent: str | None) -> None:
    """With that many, or with more than that share of enough."""
    text = budget.spent(progress(completed, reset=failed))
    assert text is None if spent is None else spent in str(text)


def test_what_the_log_says_of_it() -> None:
    """An error, with what failed most."""
    event = budget_spent("so much", progress(0, reset=1, http_500=7, dns=2, tls=1), 5)
    assert (event.type, event.at_ns) == (EventType.FINDING, 5)
    assert event.data is not None
    assert (event.data["code"], event.data["severity"]) == ("error_budget", "error")
    assert "so much. Most frequent: http_500 (7), dns (2), " in event.data["message"]


def report_of(url: str, folder: Path, **changes: Any) -> Report:
    """Run a session of two workers against a URL, and report it."""
    settings = {"requests": None, "duration_s": 60.0, "warmup": 0} | changes
    load = Closed(4)
    plan = Plan(load=load, generation=Generation("m"), protocol="chat", seed=1, **settings)

    async def scenario() -> None:
        stop, clock = Stop(), system_clock()
        recorder = EventRecorder(path=folder / "events.db")
        with closing(clock), WorkerLauncher() as launcher:
            launcher.spawn(2)
            pool = WorkerPool(launcher, plan, recorder, clock, stop)
            pool.begin([endpoint(url, {})], RequestSource([Sample(0, "a")]))
            await pool.ready()
            with recorder:
                await LoadSession(plan, pool, recorder.put, clock, stop).run()
                await pool.end()

    asyncio.run(scenario())
    with MetricsReporter(folder) as reporter:
        return reporter.create_report()


def test_a_dead_endpoint_ends_a_run_soon(tmp_path: Path, refusing: str) -> None:
    """Instead of a minute of refusals; the run is invalid, and says why."""
    report = report_of(refusing, tmp_path, timeouts=Timeouts(10), budget=ErrorBudget(errors=3))
    assert report.run.ended == "error_budget"
    assert 3 <= report.counts.failed == report.counts.issued < 100
    assert report.counts.completed == 0
    assert not report.validity.valid
    assert {"error_budget", "nothing_completed"} <= {finding.code for finding in report.findings}


def test_workers_retry(tmp_path: Path, refusing: str) -> None:
    """As often as the plan says; the report counts requests, and attempts beyond the first."""
    report = report_of(refusing, tmp_path, timeouts=Timeouts(60), retries=1, requests=4, duration_s=None)
    counts = report.counts
    assert (counts.issued, counts.failed, counts.retries, counts.by_error) == (4, 4, 4, {"refused": 4})
    assert "never_ended" not in {finding.code for finding in report.findings}
