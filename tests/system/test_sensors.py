"""Sensors next to a real run: on its clock, in its log, and of no consequence to it whatever a page does."""

from __future__ import annotations

import signal
import socket
import sqlite3
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from loadgen.mock_endpoint.process import start_mock
from recorder.event import EventType
from tests.admission import Admission
from tests.conftest import clean_environment
from tests.preloaded import GIVE_UP_S
from tests.remembered_logs import query

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

pytestmark = pytest.mark.usefixtures("remembered_logs")


def perf(preloaded: Preloaded, url: str, folder: Path, *options: Any, **variables: str) -> Any:
    """A run of thirty requests."""
    return preloaded.run(
        *(
            "perf",
            "--url",
            url,
            "--model",
            "m",
            "-n",
            30,
            "-c",
            3,
            "-q",
            "--out",
            folder,
            "--on-invalid",
            "warn",
        ),
        *options,
        cwd=folder.parent,
        env=clean_environment(**variables),
    )


def readings(run: Path) -> list[dict[str, Any]]:
    """The payloads of all readings."""
    with sqlite3.connect(run / "events.db") as log:
        rows = log.execute("SELECT data FROM events WHERE code = ?", [EventType.SENSOR_READING]).fetchall()
    log.close()
    return [orjson.loads(data) for (data,) in rows]


@pytest.mark.slow
def test_the_log_has_what_the_server_counted(preloaded: Preloaded, tmp_path: Path) -> None:
    """From before the first request to after the last one: as many requests and tokens as were asked for."""
    with start_mock(ttft="20ms", itl="2ms", tokens="4") as mock:
        run = perf(
            preloaded, mock.url, tmp_path / "run", "--server-metrics", "--server-metrics-interval", "200ms"
        )
    assert run.returncode == 0, run.stderr
    moments = query(
        tmp_path / "run",
        "SELECT moment, at_ns, completed_requests_total, output_tokens_total, ttft_requests_total, "
        "ttft_sum_s FROM server_metrics ORDER BY at_ns",
    ).rows
    first, last = moments[0], moments[-1]
    assert (first[0], last[0]) == ("first", "last")
    grown = [after - before for before, after in zip(first[2:], last[2:], strict=True)]
    assert grown[:3] == [30, 120, 30]
    assert 0.02 * 30 <= grown[3] < 30
    spans = query(tmp_path / "run", "SELECT min(issued_ns), max(ended_ns) FROM samples").rows
    assert first[1] < spans[0][0] < spans[0][1] < last[1]
    pages = query(tmp_path / "run", "SELECT moment, text FROM server_pages ORDER BY at_ns").rows
    assert [moment for moment, _ in pages] == ["first", "last"]
    assert "# TYPE vllm:request_success_total counter\n" in pages[1][1]
    hosts = query(tmp_path / "run", "SELECT DISTINCT name, unit FROM sensors WHERE source = 'host'").rows
    assert ("cpu_pct", "%") in hosts
    assert query(tmp_path / "run", "FROM violations").rows == []


@pytest.fixture
def endless() -> Iterator[str]:
    """A page that never ends."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=pour, args=(connection,), daemon=True).start()

    def pour(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
            while True:
                connection.sendall(b"vllm:num_requests_running 1\n" * 10_000)

    threading.Thread(target=serve, daemon=True).start()
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/metrics"
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()


@pytest.mark.slow
def test_an_endless_page_harms_no_run(preloaded: Preloaded, tmp_path: Path, endless: str) -> None:
    """All requests are measured; each reading says what is wrong."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4") as mock:
        run = perf(preloaded, mock.url, tmp_path / "run", "--server-metrics", endless)
    assert run.returncode == 0, run.stderr
    errors = {reading["error"] for reading in readings(tmp_path / "run") if reading["source"] == "server"}
    assert errors <= {"too_large", "timeout"}
    assert errors
    assert query(tmp_path / "run", "SELECT count(*) FROM samples WHERE status = 'completed'").rows == [(30,)]


@pytest.mark.slow
def test_the_key_goes_to_the_endpoint_only(preloaded: Preloaded, tmp_path: Path) -> None:
    """A page of another host gets no header; and no key is in the log."""
    asked: list[bytes] = []
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                with connection:
                    asked.append(connection.recv(65536))
                    body = b"vllm:num_requests_running 1\n# sk-very-secret\n"
                    head = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n".encode()
                    connection.sendall(head + body)

    threading.Thread(target=serve, daemon=True).start()
    other = f"http://127.0.0.1:{listening.getsockname()[1]}/metrics"
    with start_mock(ttft="1ms", itl="1ms", tokens="4", api_key="sk-very-secret") as mock:
        run = perf(
            preloaded,
            mock.url,
            tmp_path / "run",
            *("--server-metrics", other),
            LOADGEN_API_KEY="sk-very-secret",
        )
    listening.shutdown(socket.SHUT_RDWR)
    listening.close()
    assert run.returncode == 0, run.stderr
    assert asked
    assert all(b"secret" not in request for request in asked)


def test_a_sensor_process_that_is_killed(preloaded: Preloaded, tmp_path: Path) -> None:
    """The run goes on to its end, and says what is missing."""
    with start_mock(ttft="1ms", itl="1ms", tokens="4") as mock, Admission(mock.url) as admission:
        killing = threading.Thread(target=_kill_sensors, args=(tmp_path / "run", admission), daemon=True)
        killing.start()
        page = mock.url.removesuffix("/v1") + "/metrics"
        run = perf(preloaded, admission.url, tmp_path / "run", "--no-probe", "--server-metrics", page)
        killing.join()
    assert run.returncode == 0, run.stderr
    findings = query(tmp_path / "run", "SELECT code, message FROM findings WHERE code = 'sensors_lost'").rows
    assert "killed by SIGKILL" in findings[0][1]
    assert query(tmp_path / "run", "SELECT count(*) FROM samples WHERE status = 'completed'").rows == [(30,)]


def _kill_sensors(run: Path, admission: Admission) -> None:
    """Kill the sensor process below this one once it has read something; then let the requests through."""
    import psutil

    give_up = time.monotonic() + GIVE_UP_S
    while time.monotonic() < give_up:
        with suppress(sqlite3.Error):
            if (run / "events.db").exists() and readings(run):
                break
        time.sleep(0.01)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            if "loadgen.driver.sensing.sensor_loop" in process.cmdline():
                process.send_signal(signal.SIGKILL)
    admission.open()
