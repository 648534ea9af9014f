"""Triton's stream and KServe's tensors, against a server that keeps requests and times."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

import pytest

from loadgen import perf
from loadgen.driver.client.codec import Generation
from loadgen.driver.client.protocols import codec_of
from loadgen.driver.errors import CannotAskError, MalformedResponseError
from loadgen.sessions.run.endpoint_checks import ask_endpoint
from loadgen.sessions.settings.endpoint_options import CheckSettings
from workloads.sample import Sample

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


class TritonStandIn:
    """A server of one model, with the bodies of requests and the times of texts, by request."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, dict[str, Any]]] = []
        self.first_ns: dict[str, int] = {}
        stand_in = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                tensor = {"name": "text_input", "datatype": "BYTES", "shape": [1]}
                described = {"/v2/health/ready": {}, "/v2/models/llama": {"inputs": [tensor], "outputs": []}}
                answer = json.dumps(described.get(self.path, {"error": "no such path"})).encode()
                self.send_response(200 if self.path in described else 404)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                stand_in.asked.append((self.path, body))
                streams = self.path.endswith("generate_stream")
                output = {"name": "text_output", "datatype": "BYTES", "shape": [1], "data": ["one two"]}
                texts = [{"text_output": text} for text in ("one", " two", " three")]
                parts = [b"data: %b\n\n" % json.dumps(text).encode() for text in texts]
                if not streams:
                    parts = [json.dumps({"model_name": "m", "outputs": [output]}).encode()]
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream" if streams else "application/json")
                self.send_header("Content-Length", str(sum(map(len, parts))))
                self.end_headers()
                for part in parts:
                    time.sleep(0.01)
                    stand_in.first_ns.setdefault(self.headers["X-Request-Id"], time.monotonic_ns())
                    self.wfile.write(part)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.httpd.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.httpd.server_address[1]}/v2/models/llama"


@pytest.fixture(scope="module")
def triton() -> Iterator[TritonStandIn]:
    """A stand-in for Triton."""
    stand_in = TritonStandIn()
    yield stand_in
    stand_in.httpd.shutdown()
    stand_in.httpd.server_close()


def test_a_run_of_each_protocol(triton: TritonStandIn, tmp_path: Path) -> None:
    """The stream has three tokens, the first at the time of the server's write; tensors have one text."""
    common: dict[str, Any] = {
        "url": triton.url,
        "model": "llama",
        "requests": 4,
        "concurrency": 1,
        "max_tokens": 3,
        "server_metrics": ["none"],
        "probe": False,
        "on_invalid": "warn",
    }
    streamed = perf(protocol="triton", out=tmp_path / "triton", **common)
    rows = streamed.sql("SELECT sample_uuid, status, chunks, first_token_ns FROM samples").fetchall()
    assert [row[1:3] for row in rows] == [("completed", 3)] * 4
    assert all(triton.first_ns[uuid] <= first_ns for uuid, _, _, first_ns in rows)
    path, body = triton.asked[0]
    assert path == "/v2/models/llama/generate_stream"
    assert (body["max_tokens"], body["stream"], len(body["text_input"]) > 10) == (3, True, True)

    triton.asked.clear()
    whole = perf(protocol="kserve", out=tmp_path / "kserve", **common)
    counts, report = whole.report().counts, whole.report()
    assert (counts.completed, report.ttft_ms) == (4, None)
    path, body = triton.asked[0]
    assert path == "/v2/models/llama/infer"
    assert [(each["name"], each["datatype"]) for each in body["inputs"]] == [
        ("text_input", "BYTES"),
        ("max_tokens", "INT32"),
    ]


def test_a_check_names_tensors_and_protocols(triton: TritonStandIn) -> None:
    """A check asks for readiness at the root of the host, and for the model's tensors below the URL."""
    lines: dict[str, tuple[str, str]] = {}
    settings = CheckSettings(url=triton.url, model="llama", protocol="triton")
    asyncio.run(ask_endpoint(settings, lambda line: lines.update({line.check: (line.status, line.detail)})))
    assert lines["ready"] == ("ok", "/v2/health/ready says so")
    assert lines["tensors"] == ("ok", "inputs text_input BYTES [1]; outputs unknown")
    assert lines["protocols"] == ("ok", "triton, kserve")


def test_foreign_tensors_are_refused() -> None:
    """An error is an error; a response without texts is malformed; chats cannot be asked."""
    codec = codec_of("kserve", {})
    assert codec.whole({"error": "no such model"}).error == "no such model"
    for payload in ({"outputs": []}, {"outputs": [{"datatype": "FP32", "data": [1.0]}]}, {"outputs": 3}):
        with pytest.raises(MalformedResponseError):
            codec.whole(payload)
    with pytest.raises(CannotAskError, match="--protocol chat"):
        codec.request(Sample(0, "", chat=({"role": "user", "content": "hi"},)), Generation("m"))
    body: Any = codec.request(Sample(0, "hi", temperature=0.5), Generation("m", extra_body={"id": "7"}))
    assert [each["data"] for each in body["inputs"]] == [["hi"], [0.5]]
    assert body["id"] == "7"
