"""Connections of runs: kept, closed by the server after each response, and one per request."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.run.preparation import prepare
from loadgen.sessions.settings.perf import perf_settings
from reporter.log.database import open_log
from reporter.log.run_head import logged_settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess


@pytest.fixture(scope="module")
def closing() -> Iterator[MockProcess]:
    """A server that closes each connection after its first response, without an announcement."""
    with start_mock(ttft="1ms", itl="0", tokens="4", close=True) as server:
        yield server


@pytest.fixture
def perf(loadgen: Any) -> Callable[..., dict[str, Any]]:
    """Run a session of 40 requests, two at a time; return its report."""

    def perf(url: str, *options: str, count: int = 40) -> dict[str, Any]:
        done = loadgen(
            *("perf", "--url", url, "--model", "m", "-n", count, "-c", 2, "-q", "--out", "run"),
            *("--on-invalid", "warn", *options),
        )
        assert done.returncode == 0, done.stderr
        report: dict[str, Any] = orjson.loads(loadgen("report", "run", "--json").stdout)
        return report

    return perf


@pytest.mark.parametrize("transport", ["native", "python", "aiohttp"])
def test_a_server_that_closes_after_each_response_fails_no_request(
    perf: Any, closing: MockProcess, transport: str
) -> None:
    """A request that meets the close goes out again; the report names the habit of the server."""
    report = perf(closing.url, "--transport", transport)
    assert (report["counts"]["completed"], report["counts"]["by_error"]) == (40, {})
    assert "connections_closed" in [finding["code"] for finding in report["findings"]]


def test_one_connection_per_request(perf: Any, closing: MockProcess, tmp_path: Path) -> None:
    """It is a choice, kept in the log, and no finding then."""
    assert not prepare(perf_settings(url=["h"], model="m", connection="new")).targets[0].keep_alive
    report = perf(closing.url, "--header", "Connection: close")
    assert (report["counts"]["completed"], report["counts"]["reused"]) == (40, 0)
    assert "connections_closed" not in [finding["code"] for finding in report["findings"]]
    with open_log(tmp_path / "run") as log:
        settings = logged_settings(log)
    assert (settings["connection"], settings["headers"]) == ("new", ["User-Agent"])


def test_kept_connections_are_used_again(perf: Any) -> None:
    """Each worker opens as many as are in flight."""
    with start_mock(ttft="1ms", itl="0", tokens="4") as server:
        report = perf(f"{server.url}?api-version=2024-02-01")
    assert report["counts"]["reused"] == 38
    assert "connections_closed" not in [finding["code"] for finding in report["findings"]]
    assert report["run"]["url"].endswith("/v1?api-version=2024-02-01")
