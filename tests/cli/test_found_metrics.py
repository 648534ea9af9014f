"""The server's metrics without an option: found at /metrics, or not, and then without a word."""

from __future__ import annotations

import asyncio
import socket
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.driver.client.endpoint import endpoint
from loadgen.mock_endpoint.process import start_mock
from loadgen.sessions.run.sensors import has_metrics
from recorder.sensors.exposition import is_known
from recorder.sensors.scrape import ScrapeTarget, scrape
from reporter.log.database import open_log
from reporter.log.run_head import logged_settings
from tests.remembered_logs import query

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from loadgen.mock_endpoint.process import MockProcess

pytestmark = pytest.mark.usefixtures("remembered_logs")

QUICK = {"ttft": "1ms", "itl": "0", "tokens": "4"}


@pytest.fixture
def perf(loadgen: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> Callable[..., Any]:
    """Run ten requests; return the report, and what the log's settings say of metrics."""

    def perf(url: str, *options: str) -> tuple[Any, Any, Any]:
        run = loadgen(
            *("perf", "--url", url, "--model", "m", "-n", 10, "-c", 2, "-q", "--out", "run"),
            *("--on-invalid", "warn", "--json", *options),
            LOADGEN_SERVER_METRICS="",  # which other tests set to `none`
        )
        assert run.returncode == 0, run.stderr
        with closing(open_log(tmp_path / "run", ["session"])) as log:
            settings = logged_settings(log)
        asked = settings["options"]["server_metrics"]
        return orjson.loads(run.stdout), settings["server_metrics_found"], asked

    return perf


def page_of(mock: MockProcess) -> str:
    """The URL of its page."""
    return f"{mock.url.removesuffix('/v1')}/metrics"


def test_a_page_that_is_found(perf: Callable[..., Any], tmp_path: Path) -> None:
    """The report compares both sides; the settings say that the page was found and not asked for."""
    with start_mock(**QUICK) as mock:
        report, pages, asked = perf(mock.url)
    assert (pages, asked) == ([page_of(mock)], [])
    rows = {row["quantity"]: row for row in report["server_side"]["compared"]}
    assert (rows["completed requests"]["client"], rows["completed requests"]["server"]) == (10, 10)
    sensors = query(tmp_path / "run", "SELECT DISTINCT source FROM sensor_readings").rows
    assert sensors == [("server",)]


@pytest.mark.parametrize("option", [("--server-metrics", "none"), ("--no-probe",)])
def test_nothing_is_looked_for(perf: Callable[..., Any], option: tuple[str, ...]) -> None:
    """The page is not requested at all."""
    with start_mock(**QUICK) as mock:
        report, pages, _ = perf(mock.url, *option)
        text = scrape(ScrapeTarget(page_of(mock))).text
    assert ("server_side" in report, pages) == (False, [])
    assert 'handler="/v1/chat/completions"' in text
    assert 'handler="/metrics"' not in text


def test_an_endpoint_without_metrics(perf: Callable[..., Any]) -> None:
    """Its run has no finding about them."""
    with start_mock(scenario="plain") as mock:
        report, pages, _ = perf(mock.url)
    assert ("server_side" in report, pages) == (False, [])
    assert [each["code"] for each in report["findings"] if "sensor" in each["code"]] == []


def test_none_stands_alone(loadgen: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    """Pages and their absence contradict each other."""
    run = loadgen("perf", "--model", "m", "--server-metrics", "none", "--server-metrics", "http://h/metrics")
    assert (run.returncode, "--server-metrics none: excludes pages" in run.stderr) == (2, True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("# TYPE vllm:num_requests_running gauge\nvllm:num_requests_running 0\n", True),
        ('ray_vllm_num_requests_running{model_name="m"} 0\n', True),
        ("llamacpp:requests_processing 0\n", True),
        ("", False),
        ("<html>vllm:num_requests_running 0</html>", False),
        ("python_gc_objects_collected_total 7\n", False),
        ('litellm_requests_total{model="vllm:num_requests_running"} 7\n', False),
        ("gateway_vllm_upstream_seconds 7\n", False),
        ('[{"vllm:num_requests_running": 1}]', False),
    ],
)
def test_which_pages_are_known(text: str, *, expected: bool) -> None:
    """Those with a line of a known metric; gateways have pages of others."""
    assert is_known(text) is expected


@pytest.fixture
def silent() -> Iterator[str]:
    """The URL of a server that accepts connections and never answers."""
    listening = socket.create_server(("127.0.0.1", 0))
    accepted = []

    def accept() -> None:
        with suppress(OSError):
            while True:
                accepted.append(listening.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    for connection in accepted:
        connection.close()


def test_a_server_that_does_not_answer(silent: str) -> None:
    """It is not waited for."""
    assert not asyncio.run(has_metrics(endpoint(silent, {}), timeout_s=0.05))
