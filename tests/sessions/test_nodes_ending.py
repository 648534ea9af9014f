"""What ends a session on several nodes: an endpoint that falls behind, a drain that is over, failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from recorder.lifecycle import violations
from tests.driver.test_worker_pool import events, of
from tests.sessions.test_nodes import findings, prepared_of, run

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("endpoint", "options", "reason", "code"),
    [
        pytest.param(
            {"ttft": "50ms", "slots": 1},
            {"rate": "200", "duration": 60.0, "stop_on_overload": True},
            "overloaded",
            "overloaded",
            marks=pytest.mark.slow,  # six windows of it must be measured
        ),
        ({"ttft": "30s"}, {"concurrency": 6, "duration": 1.0, "drain": 0.2}, "completed", "drain_over"),
        (
            {"scenario": "http_500"},
            {"concurrency": 6, "requests": 10_000, "max_error_rate": 0.5},
            "error_budget",
            "error_budget",
        ),
        (
            {"ttft": "20ms"},
            {"concurrency": 6, "requests": 10_000, "abort_on_fail": True, "require": ["ttft:p(99)<1ms"]},
            "gate_lost",
            "gate_lost",
        ),
    ],
)
def test_a_session_ends_on_all_nodes(
    tmp_path: Path, endpoint: dict[str, Any], options: dict[str, Any], reason: str, code: str
) -> None:
    """One finding says why; every node stops issuing, and gives up what is in flight or has its answer."""
    with start_mock(itl="0ms", tokens="2", **endpoint) as mock:
        run(prepared_of(mock, probe=False, shards=tmp_path / "shared", **options), tmp_path / "run")
    assert [name for name, _ in findings(tmp_path / "run")] == [code]
    logs = sorted((tmp_path / "shared").glob("*/node-*/events.db"))
    assert len(logs) == 3
    for log in logs:
        logged = events(log)
        assert not list(violations(logged))
        assert of(EventType.TEST_ENDED, logged) == [{"reason": reason}]
        endings = {data["reason"] for data in of(EventType.CANCELLED, logged)}
        endings |= {data["error"] for data in of(EventType.ERROR, logged)}
        assert endings <= {"http_500" if code == "error_budget" else code}
        assert endings or code == "gate_lost"  # all had their answers within its second
        assert len(of(EventType.LOADGEN_ISSUE_CALLED, logged)) < 3000
