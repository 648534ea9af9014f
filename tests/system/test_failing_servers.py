"""A server that dies in a run, or limits the rate: the run is invalid, and its result says why."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable


@pytest.fixture
def perf(loadgen: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[..., tuple[str, Any]]:
    """Run a session that ends invalid; return the line with its result, and the report as JSON."""

    def perf(url: str, *options: Any) -> tuple[str, Any]:
        run = loadgen("perf", "--url", url, "--model", "m", "--no-probe", "-q", "--out", "run", *options)
        assert run.returncode == 4, run.stderr
        (result,) = [line for line in run.stdout.splitlines() if line.startswith("Result ")]
        return result, orjson.loads(loadgen("report", "run", "--json").stdout)

    return perf


def test_a_server_that_dies(perf: Callable[..., tuple[str, Any]]) -> None:
    """Some streams have ended, some are cut, and what comes later finds nothing to connect to."""
    with start_mock(ttft="1ms", itl="1ms", tokens="uniform:1..1000", die_after="500ms") as mock:
        result, report = perf(mock.url, "--rate", 100, "-n", 150)
        truths = mock.truth()
    counts = report["counts"]
    assert re.fullmatch(r"Result +INVALID +The endpoint went away after [\d.]+ (ms|s)", result), result
    assert counts["completed"] + counts["failed"] == 150
    assert counts["completed"] == [truth.outcome for truth in truths].count("completed")
    assert counts["by_error"]["refused"] > 0
    assert set(counts["by_error"]) <= {"refused", "truncated", "reset"}
    assert [finding["severity"] for finding in report["findings"] if finding["code"] == "endpoint_gone"] == [
        "error"
    ]


def test_a_gateway_whose_server_died(perf: Callable[..., tuple[str, Any]]) -> None:
    """The endpoint is gone, though something answers."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4", fail_after="1s") as mock:
        result, report = perf(mock.url, "--rate", 50, "-n", 150)
    assert re.fullmatch(r"Result +INVALID +The endpoint went away after [\d.]+ (ms|s)", result), result
    assert report["counts"]["by_error"] == {"http_502": report["counts"]["failed"]}


def test_readings_of_a_server_that_dies(perf: Callable[..., tuple[str, Any]]) -> None:
    """The table of server and client needs a last reading; a finding says when the readings ended."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4", die_after="1s") as mock:
        _, report = perf(mock.url, "--rate", 50, "-n", 150, "--server-metrics")
    assert report["server_side"]["compared"] == []
    (unread,) = [each["message"] for each in report["findings"] if each["code"] == "sensor_unread"]
    # On a busy machine the page is read before the first request only.
    assert re.search(
        "Readings (stopped [0-9.]+ s|failed) after the first request, so nothing is compared", unread
    )
    assert not [each for each in report["findings"] if each["code"].startswith("server_")]


def test_a_server_that_limits_the_rate(perf: Callable[..., tuple[str, Any]]) -> None:
    """Of sixty requests, twenty are answered and forty refused."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4", rate_limit="20/1h") as mock:
        result, report = perf(mock.url, "-c", 4, "-n", 60)
    assert re.fullmatch(
        r"Result +INVALID +The endpoint limited the rate: 40 of 60 requests were answered 429", result
    ), result
    assert report["counts"]["by_error"] == {"http_429": 40}
