"""Requests of several attempts: the last one counts, and the others are reported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recorder import EventType
from reporter.log.query import query

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def retried(run: Run, uuid: str, failed_at: float, *, first_chunk: float | None = None) -> Run:
    """A request is issued and sent at 0, and its first attempt fails."""
    run.issues(0, uuid=uuid, sent=1, reused=True)
    if first_chunk is not None:
        run.happens(EventType.FIRST_CHUNK, first_chunk, uuid)
    return run.happens(EventType.RETRY, failed_at, uuid, attempt=1, error="truncated", wait_ms=10)


def ended(run: Run, uuid: str, kind: EventType, at_ms: float, **data: Any) -> Run:
    """Its second attempt ends it."""
    return run.happens(kind, at_ms, uuid, status=200, attempts=2, **data)


def test_the_last_attempt_counts(a_run: NewRun) -> None:
    """TTFT from the last sending to the first token after it; latency from the issue, over all attempts."""
    run = retried(a_run(), "a", 30, first_chunk=20)
    run.happens(EventType.REQUEST_SENT, 50, "a", reused=False, connect_ms=5.0)
    run.happens(EventType.FIRST_CHUNK, 70, "a")
    report = ended(run, "a", EventType.COMPLETE, 80, chunks=1).ends().report()
    assert (report.counts.issued, report.counts.completed, report.counts.failed) == (1, 1, 0)
    assert (report.counts.retries, report.counts.retried) == (1, 0)
    assert report.ttft_ms is not None
    assert report.latency_ms is not None
    assert (report.ttft_ms.max, report.latency_ms.max) == (20, 80)
    # The pause between attempts is not client overhead.
    assert report.send_lag_ms is None
    assert [finding.code for finding in report.findings if finding.severity == "error"] == []


def test_the_first_token_of_a_failed_attempt_does_not_count(a_run: NewRun) -> None:
    """Where the second attempt received no token."""
    run = retried(a_run(), "a", 30, first_chunk=20).happens(EventType.REQUEST_SENT, 50, "a", reused=True)
    ended(run, "a", EventType.ERROR, 90, error="idle_timeout", message="m").ends()
    samples = query(run.write(), "SELECT first_token_ns, attempts, error FROM samples")
    assert list(samples.rows) == [(None, 2, "idle_timeout")]


def test_an_attempt_does_not_end_a_request(a_run: NewRun) -> None:
    """A run that was cut off while a request waited for its next attempt has that in flight."""
    report = retried(a_run(), "a", 30).report()
    assert (report.counts.in_flight, report.counts.failed, report.counts.retries) == (1, 0, 1)
    assert [finding.code for finding in report.findings if finding.code.startswith("ended")] == []


def test_without_retries_there_are_none(a_run: NewRun) -> None:
    """One attempt each."""
    run = a_run().answers(5, usage=(1, 1)).fails().ends()
    assert run.report().counts.retries == 0
