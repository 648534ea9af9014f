"""The native server of the benchmarks: it streams at its pace, and what it writes down is true."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from http.client import HTTPConnection
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
TTFT_NS, GAP_NS, TOKENS = 20_000_000, 2_000_000, 8

CHECK = "import native_server; print(native_server.executable())"
"""Prints the path of the server that it has built."""


def build(**environment: str) -> subprocess.CompletedProcess[str]:
    """Build the server, or learn why it cannot be built."""
    return subprocess.run(
        [sys.executable, "-c", CHECK],
        cwd=BENCHMARKS,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(BENCHMARKS), **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The path of a server built for this test; skipped where there is no compiler."""
    cache = tmp_path_factory.mktemp("cache")
    built = build(XDG_CACHE_HOME=str(cache))
    # A compiler that rejects the source is a failure.
    if "the native server needs" in built.stderr:
        pytest.skip(built.stderr.splitlines()[-1])
    assert built.returncode == 0, built.stderr
    assert Path(built.stdout.strip()).parent.parent == cache
    return built.stdout.strip()


def test_a_missing_compiler_is_reported(tmp_path: Path) -> None:
    """The row of a work says why it was skipped."""
    code = "import capacity, cores\nfor row in capacity.measured('burst', cores.choose(), 1): print(row)"
    environment = {"PATH": "/nonexistent", "PYTHONPATH": str(BENCHMARKS), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert "not measured" in result.stdout, result.stderr
    assert "skipped: the native server needs" in result.stdout


def test_it_streams_at_its_pace_and_writes_what_it_did(server: str, tmp_path: Path) -> None:
    """Two requests on one connection, and one whose client leaves."""
    truth = tmp_path / "truth"
    arguments = [str(TTFT_NS // 1000), str(GAP_NS // 1000), str(TOKENS)]
    with subprocess.Popen([server, str(truth), *arguments], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        port = int(process.stdout.readline())
        leaving = HTTPConnection("127.0.0.1", port, timeout=30)
        leaving.request("POST", "/v1/chat/completions", body="{}")
        leaving.close()
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", "/v1/models")
        assert json.loads(connection.getresponse().read())["data"][0]["id"] == "bench"
        spans = []
        for name in ("first", "second"):
            started_ns = time.monotonic_ns()
            connection.request("POST", "/v1/chat/completions", body="{}", headers={"X-Request-Id": name})
            assert events_of(connection.getresponse().read().decode()) == TOKENS
            spans.append((started_ns, time.monotonic_ns()))
        connection.close()
        process.terminate()
    assert process.returncode == 0
    lines = [line.split() for line in truth.read_text().splitlines()]
    assert {"first", "second"} <= {line[0] for line in lines}
    for name, (started_ns, ended_ns) in zip(("first", "second"), spans, strict=True):
        ((received_ns, *sent_ns),) = ([int(field) for field in line[1:]] for line in lines if line[0] == name)
        assert started_ns <= received_ns <= ended_ns
        assert len(sent_ns) == TOKENS
        assert sent_ns == sorted(sent_ns)
        assert received_ns + sent_ns[-1] <= ended_ns
        # No token leaves before it is due.
        assert all(sent >= TTFT_NS + place * GAP_NS for place, sent in enumerate(sent_ns))


def events_of(body: str) -> int:
    """The tokens of a stream that ended as it must."""
    events = [line.removeprefix("data: ") for line in body.splitlines() if line]
    assert events.pop() == "[DONE]"
    *chunks, stop, usage = map(json.loads, events)
    assert stop["choices"][0]["finish_reason"] == "stop"
    assert usage["usage"]["completion_tokens"] == TOKENS
    words = [chunk["choices"][0]["delta"]["content"] for chunk in chunks]
    assert words == [f" token{number}" for number in range(TOKENS)]
    return len(words)
