"""A run that asks more of an endpoint than it can do ends early, with --stop-on-overload."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.run_session import outcome, run
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.query import query

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
def test_an_endpoint_that_falls_behind_ends_the_run(tmp_path: Path) -> None:
    """Of 60 seconds a few pass; what is in flight is given up; the report says why, and is invalid."""
    with start_mock(models=("m",), ttft="20ms", itl="0", tokens="2", slots=1) as mock:
        report, folder = run(
            perf_settings(
                url=[mock.url],
                model="m",
                rate="200",
                duration=60.0,
                stop_on_overload=True,
                quiet=True,
                out=tmp_path / "run",
            )
        )
    assert report.run.ended == "overloaded"
    assert outcome(report) == 4
    [finding] = [finding for finding in report.findings if finding.code == "overloaded"]
    assert finding.severity == "error"
    assert report.counts.in_flight == 0
    assert report.counts.cancelled > 0
    reasons = query(folder, "SELECT DISTINCT data->>'reason' FROM events WHERE type = 'CANCELLED'")
    assert reasons.rows == [("overloaded",)]
    assert report.window.duration_s is not None
    assert report.window.duration_s < 30
