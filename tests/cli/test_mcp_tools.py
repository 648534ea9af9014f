"""`loadgen list tools`: the tools of a real MCP server become a tool set that is asked."""

from __future__ import annotations

import shlex
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from loadgen.plugins.tool_selection.tool_sets import load_tool_set
from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.listed_files import tool_set_lines
from workloads.errors import MalformedError
from workloads.question_loading import load
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


SERVER = """
import sys
from mcp.server import MCPServer

server = MCPServer("Notes")

@server.tool()
def find_note(word: str, newest: bool = False) -> str:
    "Find a note by a word in it."
    return ""

@server.tool(title="Keep a text")
def save(text: str) -> str:
    return ""

if len(sys.argv) > 1:
    server.run("streamable-http", port=int(sys.argv[1]))
server.run("stdio")
"""
EMPTY = "from mcp.server import MCPServer\nMCPServer('Nothing').run('stdio')\n"


@pytest.fixture(scope="module", autouse=True)
def _mcp() -> None:
    """The module keeps the standard error of the import, which a command in a test closes.

    Workers of the suite that run no test of it are spared its second.
    """
    pytest.importorskip("mcp", reason="the extra `mcp`")


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A server with two tools."""
    path = tmp_path / "notes server.py"
    path.write_text(SERVER)
    return path


def test_the_tools_of_a_command_are_asked(
    loadgen: Callable[..., subprocess.CompletedProcess[str]], program: Path, tmp_path: Path
) -> None:
    """With their own schemas, descriptions, and a title where there is no description."""
    done = loadgen("list", "tools", shlex.join([sys.executable, str(program)]))
    assert done.returncode == 0, done.stderr
    (tmp_path / "tool_sets").mkdir()
    (tmp_path / "tool_sets" / "notes.yaml").write_text(done.stdout)
    scenario = '{"id": "1", "level": "simple", "ask": "Find the note on tea.", "expect": ["find_note"]}'
    (tmp_path / "scenarios.jsonl").write_text(scenario)
    (question,) = load(parse("tool_selection:tools=notes"), tmp_path).questions
    functions = [tool["function"] for tool in question.sample.tools or ()]
    assert [(function["name"], function["description"]) for function in functions] == [
        ("find_note", "Find a note by a word in it."),
        ("save", "Keep a text"),
    ]
    assert functions[0]["parameters"]["required"] == ["word"]
    assert functions[0]["parameters"]["properties"]["newest"]["type"] == "boolean"


def test_a_server_by_its_url(program: Path) -> None:
    """Over Streamable HTTP."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with subprocess.Popen([sys.executable, program, str(port)], stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            assert any("running on" in line for line in server.stderr)
            (text,) = tool_set_lines(f"http://127.0.0.1:{port}/mcp")
        finally:
            server.terminate()
    assert text.startswith("name: Notes\ntools:\n- name: find_note\n")


def test_servers_that_are_refused(tmp_path: Path) -> None:
    """A message each: nothing named, a program that ends, a program that is not there, no tools."""
    (tmp_path / "empty.py").write_text(EMPTY)
    empty = shlex.join([sys.executable, str(tmp_path / "empty.py")])
    for server, kind, message in (
        (None, UsageError, "name an MCP server"),
        ("' ", UsageError, "not a command"),
        (f"{sys.executable} -c pass", SetupError, "no MCP server answers"),
        (str(tmp_path / "nowhere"), SetupError, "No such file"),
        ("http://127.0.0.1:9/mcp", SetupError, "no MCP server answers"),
        (empty, UsageError, "has no tools"),
    ):
        with pytest.raises(kind, match=message):
            list(tool_set_lines(server))


def test_a_tool_has_parameters_or_a_schema(tmp_path: Path) -> None:
    """Not both."""
    (tmp_path / "tool_sets").mkdir()
    file = tmp_path / "tool_sets" / "both.yaml"
    file.write_text("tools: [{name: a, what: b, parameters: {c: string}, schema: {type: object}}]")
    with pytest.raises(MalformedError, match=r"tools\[0\]: has parameters and schema; leave one out"):
        load_tool_set("both", tmp_path)
