"""The server's profiler: started after the warm-up, stopped after the drain, and a finding either way."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import orjson
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

_STREAM = b"".join(
    b"data: "
    + orjson.dumps({"choices": [{"index": 0, "delta": {"content": "a"}, "finish_reason": end}]})
    + b"\n\n"
    for end in (None, "stop")
)


class _Server(ThreadingHTTPServer):
    """A chat endpoint with the routes of a profiler, or without; `asked` has the operations in order."""

    daemon_threads = True

    def __init__(self, *, has_profiler: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.has_profiler = has_profiler
        self.asked: list[tuple[str, str | None]] = []


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def do_POST(self) -> None:
        """Answer a prompt with one token, and an operation of the profiler with an empty page."""
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        operation = self.path.rpartition("/")[2]
        self.server.asked.append((operation, self.headers.get("Authorization")))
        is_chat = operation == "completions"
        self.send_response(200 if is_chat or self.server.has_profiler else 404)
        body = _STREAM + b"data: [DONE]\n\n" if is_chat else b""
        self.send_header("Content-Type", "text/event-stream" if is_chat else "text/plain")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Stay silent."""


@contextmanager
def _served(*, has_profiler: bool) -> Iterator[_Server]:
    server = _Server(has_profiler=has_profiler)
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


@pytest.fixture
def findings(loadgen: Callable[..., subprocess.CompletedProcess[str]]) -> Callable[[_Server], dict[str, str]]:
    """Run four requests after a warm-up of two; return the messages of findings by code."""

    def run(server: _Server) -> dict[str, str]:
        run = loadgen(
            *(
                "perf",
                "--url",
                f"http://127.0.0.1:{server.server_port}/v1",
                "--model",
                "m",
                "--server-profile",
            ),
            *("--no-probe", "-c", 1, "-n", 4, "--warmup", 2, "-q", "--json", "--on-invalid", "warn"),
            LOADGEN_API_KEY="sk-of-the-endpoint",
        )
        assert run.returncode == 0, run.stderr
        return {finding["code"]: finding["message"] for finding in orjson.loads(run.stdout)["findings"]}

    return run


def test_the_profiler_runs_in_the_measured_phase(findings: Callable[[_Server], dict[str, str]]) -> None:
    """The server sees the warm-up, the start, the measured requests and the stop, each with the key."""
    with _served(has_profiler=True) as server:
        messages = findings(server)
    assert [operation for operation, _ in server.asked] == [
        *["completions"] * 2,
        "start_profile",
        *["completions"] * 4,
        "stop_profile",
    ]
    assert {key for _, key in server.asked} == {"Bearer sk-of-the-endpoint"}
    assert "contains the overhead" in messages["server_profiled"]
    assert "server_not_profiled" not in messages


def test_a_server_without_a_profiler(findings: Callable[[_Server], dict[str, str]]) -> None:
    """The run goes on, and a finding names the request that failed."""
    with _served(has_profiler=False) as server:
        messages = findings(server)
    assert [operation for operation, _ in server.asked].count("completions") == 6
    assert "stop_profile" not in dict(server.asked)
    assert messages["server_not_profiled"] == (
        f"POST http://127.0.0.1:{server.server_port}/start_profile failed: HTTP 404."
    )
    assert "server_profiled" not in messages
