"""The files that `loadgen list` writes: the questions of a benchmark, and the tools of an MCP server."""

from __future__ import annotations

import asyncio
import logging
import shlex
from typing import TYPE_CHECKING, Any, Final

from loadgen.sessions.errors import SetupError, UsageError
from loadgen.sessions.extra_packages import importing
from loadgen.sessions.files.plain_files import as_yaml
from workloads.benchmark import dataset
from workloads.conversation_sample import conversation_of
from workloads.task import parse

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_TIMEOUT_S: Final = 30.0
_MOST_PAGES: Final = 100


def tool_set_lines(server: str | None) -> Iterator[str]:
    """The file of a tool set, as YAML, with the tools that a server lists."""
    try:
        command = shlex.split(server or "")
    except ValueError as error:
        raise UsageError(f"list tools {server}: not a command ({error})") from error
    if server is None or not command:
        raise UsageError("list tools: name an MCP server: loadgen list tools URL, or 'COMMAND ARGUMENTS'")
    with importing("list tools", "mcp"):
        from mcp import Client, MCPError, StdioServerParameters
    logging.getLogger("mcp").addHandler(logging.NullHandler())  # its tracebacks of lines that are not JSON
    is_url = server.startswith(("http://", "https://"))
    place = server if is_url else StdioServerParameters(command=command[0], args=command[1:])
    try:
        name, tools = asyncio.run(_listed(Client(place, read_timeout_seconds=_TIMEOUT_S)))
    except (OSError, MCPError, ExceptionGroup) as error:
        raise SetupError(f"{server}: no MCP server answers ({_first_of(error)})") from error
    if not tools:
        raise UsageError(f"{server}: the MCP server has no tools")
    yield as_yaml({"name": name, "tools": tools}).decode()


async def _listed(client: Any) -> tuple[str, list[dict[str, Any]]]:
    tools, cursor = [], None
    async with client:
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        name = client.server_info.name
    return name, [
        {
            "name": tool.name,
            "what": (tool.description or "").strip() or tool.title or tool.name,
            "schema": tool.input_schema,
        }
        for tool in tools
    ]


def _first_of(error: BaseException) -> str:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error) or type(error).__name__


def lines_of(kind: str, name: str | None, data: Path | None) -> Iterator[str]:
    """The lines of a file for other commands: `prompts` of a benchmark, or `tools` of a server."""
    if kind == "prompts":
        return prompt_lines(name, data)

    return tool_set_lines(name)


def prompt_lines(task: str | None, data: Path | None) -> Iterator[str]:
    """Each question of a benchmark as a line of JSON, in the order of its rows.

    A line has the question's `id`, its `prompt` (the last text of the user, by which a replies file of
    `loadgen mock` finds it), the `messages` of its first turn, its `tools` and `tags` if any, and the later
    turns of a conversation as `follow_ups`.
    """
    import orjson

    if task is None:
        raise UsageError("list prompts: name a benchmark: loadgen list prompts TASK [--data DIR]")
    for question in dataset([parse(task)], data).questions:
        sample = question.sample
        later = [[dict(message) for message in turn.messages] for turn in conversation_of(sample).follow_ups]
        more = {"tools": sample.tools, "tags": sample.tags, "follow_ups": later}
        line = {
            "id": question.id,
            "prompt": sample.prompt,
            "messages": sample.messages(),
            **{name: value for name, value in more.items() if value},
        }
        yield orjson.dumps(line, str, orjson.OPT_APPEND_NEWLINE).decode()
