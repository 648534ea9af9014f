"""Answers that this client's own limit cut off, where everything waits in one queue."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from reporter.findings.check_inputs import CheckInputs
from reporter.findings.client_timeouts import round_up
from reporter.findings.findings import findings
from reporter.report import Finding, RequestCounts

OFFLINE = CheckInputs(
    ended="completed",
    load={"kind": "offline", "max_concurrency": None},
    counts=RequestCounts(2400, 2400, 2315, 85, 0, 0, {"total_timeout": 85}, 0),
    timeouts_s={"total_timeout": 600.0, "connect_timeout": 10.0},
)


def cut(evidence: CheckInputs) -> list[Finding]:
    """The findings about answers that were cut off."""
    return [finding for finding in findings(evidence) if finding.code == "backlog_cut"]


def test_a_limit_inside_the_backlog_makes_the_run_invalid() -> None:
    """It says which option, how many requests, and with what limit the run would have got through."""
    (finding,) = cut(OFFLINE)
    assert finding.severity == "error"
    assert finding.message.startswith("The client's --timeout 10m ended 85 of 2,400 requests.")
    assert finding.remedy == "Repeat the run with a longer limit: --timeout 30m."


def test_several_limits() -> None:
    """Each is named, with its own limit; one that an old log does not have without."""
    counts = replace(OFFLINE.counts, by_error={"total_timeout": 80, "first_byte_timeout": 5})
    (finding,) = cut(replace(OFFLINE, counts=counts, timeouts_s={"first_byte_timeout": 90.5}))
    assert "--timeout and --first-byte-timeout 90.5s ended 85 of 2,400" in finding.message
    assert finding.remedy.endswith("--timeout TIME --first-byte-timeout 5m.")


@pytest.mark.parametrize(
    "changes",
    [
        {"load": {"kind": "closed", "concurrency": 8}},
        {"load": {"kind": "offline", "max_concurrency": 64}},
        {"counts": replace(OFFLINE.counts, by_error={"http_500": 85})},
        {"counts": replace(OFFLINE.counts, by_error={"idle_timeout": 85})},
    ],
)
def test_other_failures_are_the_servers(changes: dict[str, Any]) -> None:
    """A limit that does not count from the start of the run, and a failure that the client did not cause."""
    assert cut(replace(OFFLINE, **changes)) == []


def test_a_bound_that_bounds_nothing() -> None:
    """`--max-concurrency` of at least as many as there are requests changes nothing."""
    assert cut(replace(OFFLINE, load={"kind": "offline", "max_concurrency": 2400}))


@pytest.mark.parametrize(
    ("seconds", "rounded"), [(1, 60), (61, 120), (1300, 1800), (86_400, 86_400), (90_000, 172_800)]
)
def test_rounding_up(seconds: float, rounded: float) -> None:
    """To a duration that is easy to read, never to a shorter one."""
    assert round_up(seconds) == rounded
