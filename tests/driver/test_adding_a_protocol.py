"""docs/adding-a-protocol.md does what it says."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from reporter.log.query import query
from tests.recipe import blocks, with_line

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
BLOCKS = blocks("adding-a-protocol.md")
TABLE = "loadgen/driver/client/protocols.py"
CODEC = "loadgen/driver/client/llama_cpp.py"
WORDS = ("It", " is", " so", ".")
END = {"content": "", "stop": True, "stop_type": "eos", "tokens_predicted": 4, "tokens_evaluated": 3}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a copy of `loadgen` that has the page's file and the page's line."""
    folder = tmp_path_factory.mktemp("llama_cpp")
    shutil.copytree(ROOT / "loadgen", folder / "loadgen", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / CODEC).write_text(BLOCKS[CODEC], encoding="utf-8")
    table = folder / TABLE
    source = table.read_text(encoding="utf-8")
    table.write_text(with_line(source, "PROTOCOLS", BLOCKS[TABLE]), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def server() -> Iterator[tuple[str, list[Any]]]:
    """A server that speaks the protocol: where it is, and the bodies that it was sent."""
    bodies: list[Any] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append((self.path, orjson.loads(self.rfile.read(int(self.headers["Content-Length"])))))
            frames = [*({"content": word, "stop": False} for word in WORDS), END]
            body = b"".join(b"data: " + orjson.dumps(frame) + b"\n\n" for frame in frames)
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as listening:
        Thread(target=listening.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{listening.server_port}", bodies
        listening.shutdown()


def loadgen(package: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """Run a command of the copy."""
    return subprocess.run(
        [sys.executable, "-m", "loadgen", *map(str, arguments)],
        check=False,
        capture_output=True,
        text=True,
        cwd=package,
        env=os.environ | {"PYTHONPATH": str(package)},
    )


def test_it_is_measured(package: Path, server: tuple[str, list[Any]], tmp_path: Path) -> None:
    """Its path, its members, its texts and its counts, from worker processes as well."""
    url, bodies = server
    prompts = tmp_path / "prompts.jsonl"
    prompts.write_text('{"prompt": "why?"}\n', encoding="utf-8")
    run = loadgen(
        package,
        *("perf", "--url", url, "--model", "m", "--protocol", "llama_cpp", "--prompts", prompts, "-n", 2),
        *("--max-tokens", 9, "--request-seed", 7, "--no-probe", "-q", "--out", tmp_path / "run"),
    )
    assert "llama_cpp" in run.stdout, run.stderr
    asked = {"prompt": "why?", "stream": True, "n_predict": 9, "seed": 7}
    assert bodies == [("/completion", asked)] * 2
    answers = query(
        tmp_path / "run",
        "select output, output_tokens, chunks, finish_reason from samples join outputs using (sample_uuid)",
    )
    assert answers.rows == [("It is so.", 4, 4, "eos")] * 2


def test_it_is_listed_and_suggested(package: Path) -> None:
    """Lists, choices and messages have it from the line alone."""
    listed = loadgen(package, "list", "protocols").stdout
    assert re.search(r"(?m)^llama_cpp +POST /completion, llama.cpp completions$", listed)
    wrong = loadgen(package, "perf", "--model", "m", "--protocol", "llama_cp")
    assert "'llama_cp' is not a protocol; did you mean 'llama_cpp'" in wrong.stderr
    refused = loadgen(package, "perf", "--model", "m", "--protocol", "responses", "--request-seed", 1)
    assert "chat, completions and llama_cpp have it" in refused.stderr
