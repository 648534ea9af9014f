"""Embeddings are measured with `--protocol json`, as docs/protocols.md shows."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING

from tests.cli.stand_ins import ReceivedRequest, Reply, stand_in
from tests.documented_commands import shown

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path


def embed(request: ReceivedRequest) -> Reply:
    """A vector, as OpenAI's API and vLLM send it."""
    asked = json.loads(request.body)
    vector = {"object": "embedding", "index": 0, "embedding": [0.25] * 768}
    answer = {
        "object": "list",
        "data": [vector],
        "model": asked["model"],
        "usage": {"prompt_tokens": 7, "total_tokens": 7},
    }
    return 200, "application/json", json.dumps(answer).encode()


def test_the_documented_command_measures_embeddings(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """All requests complete with a latency, and each has the prompt as `input`."""
    [command] = [command for command in shown() if "/v1/embeddings" in command.line]
    with stand_in(embed) as server:
        words = [server.url if "127.0.0.1" in word else word for word in shlex.split(command.line)[1:]]
        words[words.index("-n") + 1] = "6"
        done = loadgen(*words, "--on-invalid", "warn", "--no-probe", "--out", "run", "-q")
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "run" / "report.json").read_text())
    assert report["counts"]["completed"] == 6
    assert report["latency_ms"]["count"] == 6
    bodies = [json.loads(request.body) for request in server.requests]
    assert {body["model"] for body in bodies} == {"NAME"}
    assert all(body.keys() == {"model", "input"} and len(body["input"]) > 256 for body in bodies)
    assert {request.path for request in server.requests} == {"/v1/embeddings"}
