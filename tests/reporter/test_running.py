"""A run that is going on can be reported, and does not notice."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

import pytest

from recorder import Event, EventRecorder, EventType, schema
from recorder.session import Session
from recorder.store import Store
from reporter import MetricsReporter
from tests.reporter.conftest import BASE_NS, WALL_NS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from reporter import Report
    from tests.reporter.conftest import Run


def report_of(folder: Path) -> Report:
    """What the reporter makes of it."""
    with MetricsReporter(folder) as reporter:
        return reporter.create_report()


@pytest.fixture
def going_on(a_run: Callable[..., Run]) -> tuple[Run, Store]:
    """A run of which one request has completed, and one has not; and the store that writes it."""
    run = a_run().answers(10, 20, at_ms=0, complete=30, usage=(2, 2)).issues(40)
    store = Store.create(run.folder / "events.db", Session("s", BASE_NS, WALL_NS, run.settings))
    store.append([schema.row(event) for event in run.events])
    return run, store


@pytest.mark.slow
def test_a_run_that_is_held_is_running(going_on: tuple[Run, Store]) -> None:
    """Its report has the figures so far, up to the last event; it is not valid yet, and nothing is wrong."""
    run, store = going_on
    report = report_of(run.folder)
    assert report.run.ended == report.window.kind == "running"
    assert report.window.duration_s == pytest.approx(0.040)
    assert (report.counts.completed, report.counts.in_flight) == (1, 1)
    assert [(finding.code, finding.severity) for finding in report.findings] == [("running", "warning")]
    assert not report.validity.valid
    assert report.validity.reasons == [report.findings[0].message]
    store.close()
    assert report_of(run.folder).run.ended == "cut_off"


def test_a_running_run_says_so_at_a_glance(going_on: tuple[Run, Store]) -> None:
    """In the heading and where the result will stand."""
    run, store = going_on
    shown: list[str] = []
    report_of(run.folder).display(shown.append)
    store.close()
    assert "so far 40.0 ms" in shown[0]
    assert "running since 2026-01-02 03:04 UTC" in shown[0]
    assert "STILL RUNNING" in shown[0]
    assert "INVALID" not in shown[0]


def test_a_run_that_has_its_end_is_over(going_on: tuple[Run, Store]) -> None:
    """Also while its log is being closed."""
    run, store = going_on
    store.append([schema.row(Event(EventType.TEST_ENDED, BASE_NS + 50, data={"reason": "completed"}))])
    assert report_of(run.folder).run.ended == "completed"
    store.close()


def test_a_run_that_has_just_begun(tmp_path: Path) -> None:
    """A log without events is a run in which nothing has happened yet."""
    store = Store.create(tmp_path / "events.db", Session())
    report = report_of(tmp_path)
    store.close()
    assert report.run.ended == "running"
    assert report.counts.issued == 0


@pytest.mark.slow
def test_readers_cost_a_busy_writer_nothing(tmp_path: Path) -> None:
    """Thousands of events per second are written while reports are made; none is lost, or waits."""
    bursts, size = 100, 100
    log = tmp_path / "events.db"
    with EventRecorder(path=log, settings={"load": {"kind": "closed"}}) as recorder:

        def record() -> None:
            for burst in range(bursts):
                for number in range(size):
                    uuid, at_ns = f"{burst}-{number}", time.monotonic_ns()
                    issue = {"phase": "performance", "scheduled_ns": at_ns}
                    recorder.record_event(EventType.LOADGEN_ISSUE_CALLED, at_ns, uuid, data=issue)
                    recorder.record_event(EventType.ERROR, time.monotonic_ns(), uuid, data={"error": "reset"})
                time.sleep(0.005)

        writing = threading.Thread(target=record)
        writing.start()
        seen = []
        while writing.is_alive():
            seen.append(report_of(tmp_path).counts)
        writing.join()
        recorder.wait_for_writes()
        last = report_of(tmp_path).counts
    assert recorder.health.lost == 0
    assert last.issued == last.failed == bursts * size
    assert [counts.issued for counts in seen] == sorted(counts.issued for counts in seen)
    assert all(counts.issued == counts.failed + counts.in_flight for counts in seen)
    assert [path.name for path in tmp_path.iterdir()] == ["events.db"]
