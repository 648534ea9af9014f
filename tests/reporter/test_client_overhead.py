"""Client overhead in the time to the first token, in runs small enough to work out by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from recorder import EventType
from reporter.client_health import ClientHealth
from reporter.findings.client_overhead import late_reads_ms

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.reporter.conftest import Run

    NewRun = Callable[..., Run]


def test_the_share_is_what_the_p99_would_lose(a_run: NewRun) -> None:
    """Of 50 ms from schedule to first token at the p99, 40 are the server's: a fifth is the client's own."""
    run = a_run(kind="constant", rate=10.0)
    for _ in range(100):
        run.answers(60, at_ms=16, usage=(1, 1), issue={"scheduled": 10, "sent": 20})
    report = run.stops(100).ends().report()
    assert report.own_ttft_share == pytest.approx(0.2)
    assert report.own_ms is not None
    assert report.own_ms.p99 == 10
    finding = report.findings[0]
    assert (finding.code, report.validity.valid) == ("client_limited", False)
    assert "Client overhead is 20 % of TTFT p99 (10.0 of 50.0 ms" in finding.message


def test_a_delay_below_the_p99_is_not_a_share_of_it(a_run: NewRun) -> None:
    """Where only quick answers were sent late, the p99 is the server's alone."""
    run = a_run()
    for slow in (True, False) * 50:
        run.answers(100, usage=(1, 1), issue={"scheduled": 0, "sent": 0 if slow else 90})
    report = run.ends().report()
    assert report.own_ms is not None
    assert (report.own_ms.p99, report.own_ttft_share) == (90, 0)
    assert report.validity.valid


@pytest.mark.parametrize(
    ("sending", "share"),
    [
        ({"sent": 1007.0, "reused": False, "connect_ms": 400.0, "tls_ms": 600.0}, 3 / 10),
        ({"sent": 7.0, "reused": True}, 5 / 12),
        ({"sent": 7.0}, 5 / 12),
    ],
)
def test_opening_a_connection_is_on_neither_side(
    a_run: NewRun, sending: dict[str, Any], share: float
) -> None:
    """3 ms late with the issue, and 2 to send: the latter are the set-up's where a connection was opened."""
    run = a_run().answers(sending["sent"] + 7, at_ms=5, usage=(1, 1), issue={"scheduled": 2, **sending})
    report = run.ends().report()
    assert report.own_ttft_share == pytest.approx(share)
    assert report.send_lag_ms is not None
    assert report.send_lag_ms.p50 == 2


@pytest.mark.parametrize(
    ("source", "lag_ms", "late_ms"),
    [("kernel", 5.0, 0.0), ("read", 5.0, 4.0), ("read", 1.0, 0.0), ("read", 500.0, 499.0), (None, 5.0, 0.0)],
)
def test_late_reads_are_the_clients_own(source: str | None, lag_ms: float, late_ms: float) -> None:
    """Where arrivals are stamped as they are read, the loop's lag is in the TTFT, but for an idle one's."""
    assert late_reads_ms(source, ClientHealth(readings=2, loop_lag_p50_ms=lag_ms)) == late_ms
    assert late_reads_ms(source, ClientHealth(readings=1, loop_lag_max_ms=lag_ms)) == late_ms


@pytest.mark.parametrize(("lag_ms", "share"), [(5.0, 0.1), (500.0, 1.0)])
def test_late_reads_of_the_worst_worker_are_in_the_share(a_run: NewRun, lag_ms: float, share: float) -> None:
    """Of 40 ms to the first token; all of it at most."""
    run = a_run()
    run.environment = {"timestamp_source": "read"}
    run.session(EventType.TELEMETRY, 5, source="client", worker=0, loop_lag_p50_ms=lag_ms)
    run.session(EventType.TELEMETRY, 5, source="client", worker=1, loop_lag_p50_ms=lag_ms / 2)
    assert run.answers(40, usage=(1, 1)).ends().report().own_ttft_share == pytest.approx(share)


def test_what_is_not_streamed_has_its_first_token_at_its_end(a_run: NewRun) -> None:
    """A whole response is judged by its latency."""
    run = a_run().answers(
        complete=100, at_ms=20, usage=(1, 9), stream=False, chunks=None, issue={"scheduled": 0}
    )
    assert run.ends().report().own_ttft_share == pytest.approx(0.2)


def test_the_longest_delay_is_that_of_a_request_with_a_latency(a_run: NewRun) -> None:
    """A request that failed has no latency that its delay could be in."""
    run = a_run()
    for late_ms in (1, 3):
        run.answers(60, at_ms=late_ms, usage=(1, 1), issue={"scheduled": 0, "sent": late_ms})
    run.issues(40, scheduled=0, sent=40).happens(EventType.ERROR, 60, error="reset", message="reset")
    assert run.ends().report().own_longest_ms == 3


def test_without_a_completed_request_there_is_no_share_to_report(a_run: NewRun) -> None:
    """Failures have no first token to take a share of."""
    report = a_run().fails().ends().report()
    assert (report.own_ttft_share, report.own_ms) == (None, None)
    assert (report.own_ttft_limit.share, report.own_ttft_limit.ms) == (0.1, 1.0)
