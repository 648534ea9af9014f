"""Requests whose client left (`--abandon`): in no latency, in no error rate, and never asked again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder import EventType

if TYPE_CHECKING:
    from collections.abc import Callable

    from reporter.log.query import QueryResult
    from tests.reporter.conftest import Run


def test_no_figure_has_a_request_that_was_left(
    a_run: Callable[..., Run], ask: Callable[..., QueryResult]
) -> None:
    """Latencies are of the others; a segment that follows asks none of them again; the counts add up."""
    run = a_run().answers(10, 11).answers(900, 901, kind=EventType.CANCELLED, reason="abandoned")
    run.answers(20, 21).answers(1, 950, kind=EventType.CANCELLED, reason="abandoned")
    run.answers(400, 401, kind=EventType.CANCELLED, reason="drain_over")
    report = run.ends().report()
    assert report.ttft_ms is not None
    assert (report.ttft_ms.count, report.ttft_ms.max) == (2, 20)
    counts = report.counts
    assert (counts.completed, counts.left_early, counts.cancelled, counts.failed) == (2, 2, 1, 0)
    assert counts.issued == 5
    rows = ask(run.folder, "SELECT status, bool_and(settled) FROM requests GROUP BY ALL ORDER BY ALL").rows
    assert rows == [("cancelled", False), ("completed", True), ("left", True)]
