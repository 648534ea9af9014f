"""`loadgen optimize tools` against an endpoint that chooses by words in the descriptions."""

from __future__ import annotations

import json
import shutil
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

import pytest

from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from tests.conftest import clean_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.preloaded import Preloaded

TOOLS = """
name: Notes
tools:
  - {name: find_note, what: Find a note., parameters: {word: string}}
  - {name: save_note, what: Save a note., parameters: {text: string}}
"""


class Chooser(BaseHTTPRequestHandler):
    """Right for every request with `exactly` in a description, else for two of three."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Choose a tool, or propose descriptions where there are no tools."""
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        text, tools = asked["messages"][-1]["content"], asked.get("tools")
        if tools is None:
            message: dict[str, Any] = {"content": json.dumps({"find_note": "Find exactly one note."})}
        else:
            names = ["find_note", "save_note"]
            described = " ".join(tool["function"]["description"] for tool in tools)
            is_right = "exactly" in described or int(text.split()[-1].rstrip(".")) % 3 > 0
            name = names[text.startswith("Save") is is_right]
            call = {"id": "1", "type": "function", "function": {"name": name, "arguments": "{}"}}
            message = {"content": None, "tool_calls": [call]}
        answer = {
            "choices": [{"index": 0, "message": {"role": "assistant", **message}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
        }
        body = json.dumps(answer).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 (the name that it has there)
        """Write nothing."""


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """The endpoint."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Chooser) as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A tool set and sixty scenarios."""
    folder = tmp_path / "data"
    (folder / "tool_sets").mkdir(parents=True)
    (folder / "tool_sets" / "notes.yaml").write_text(TOOLS)
    rows = [
        {"id": f"{verb}-{number}", "level": "simple", "ask": f"{verb} note {number}.", "expect": [tool]}
        for number in range(30)
        for verb, tool in (("Find", "find_note"), ("Save", "save_note"))
    ]
    (folder / "scenarios.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


@pytest.mark.slow
def test_descriptions_are_improved_and_the_session_resumed(
    url: str, data: Path, tmp_path: Path, preloaded: Preloaded
) -> None:
    """The result of a session that is cut off and resumed is that of one run, to the byte."""
    command = ("optimize", "tools", "--url", url, "--model", "m", "--no-stream", "--tools", "notes")
    budget = ("--max-calls", "150")
    out = tmp_path / "out"
    ended = preloaded.run(
        *(*command, *budget, "--data", data, "--variant", "maximum_accuracy", "--out", out, "--json", "-q"),
        cwd=tmp_path,
        env=clean_environment(),
    )
    assert ended.returncode == 0, ended.stderr
    result = json.loads(ended.stdout)
    (variant,) = result["variants"]
    assert variant["status"] == "improved"
    assert (variant["baseline"]["accuracy"], variant["optimized"]["accuracy"]) == (
        pytest.approx(2 / 3, abs=0.2),
        1,
    )
    assert variant["change"]["accuracy_interval"][0] > 0
    original, optimized = load_tool_set("notes", data), load_tool_set_of(out, data)
    assert [tool.description() for tool in original.tools] != [tool.description() for tool in optimized.tools]
    calls = sum(json.loads(report.read_text())["counts"]["issued"] for report in out.glob("*/report.json"))
    assert result["spent"]["calls"] == calls

    for folder in sorted(out.glob("[0-9]*"))[-2:]:
        shutil.rmtree(folder)
    before = (out / "optimization.json").read_bytes()
    (out / "optimization.json").unlink()
    resumed = preloaded.run("resume", out, "-q", cwd=tmp_path, env=clean_environment())
    assert resumed.returncode == 0, resumed.stderr
    assert (out / "optimization.json").read_bytes() == before
    assert "accuracy +" in resumed.stdout
    shown = preloaded.run("report", out, cwd=tmp_path, env=clean_environment())
    assert shown.stdout == resumed.stdout


def load_tool_set_of(out: Path, data: Path) -> Any:
    """The tool set with the descriptions that a session kept."""
    shutil.copytree(data / "tool_sets", out / "tool_sets")
    return load_tool_set("notes", out, "maximum_accuracy")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--tools", "nots"], "did you mean 'notes'"),
        (["--tools", "notes", "--max-calls", "50"], "--max-calls 50: training on the baseline"),
        (["--tools", "notes", "--max-cost", "1"], "--max-cost needs prices"),
        (["--tools", "notes", "--levels", "easy"], "levels=easy"),
        (["--tools", "notes", "--reflection-api-key", "sk-1"], "is for --reflection-url"),
    ],
)
def test_mistakes(options: list[str], message: str, data: Path, tmp_path: Path, preloaded: Preloaded) -> None:
    """Nothing is sent, and no folder is left."""
    ended = preloaded.run(
        *("optimize", "tools", "--url", "http://127.0.0.1:9", "--model", "m", "--data", data, *options),
        cwd=tmp_path,
        env=clean_environment(),
    )
    assert ended.returncode == 2, ended.stderr
    assert message in ended.stderr
    assert "sk-1" not in ended.stderr
    assert not (tmp_path / "runs").exists()
