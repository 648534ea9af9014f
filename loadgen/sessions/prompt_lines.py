"""The questions of a benchmark as lines of JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

from loadgen.sessions.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def lines_of(kind: str, name: str | None, data: Path | None) -> Iterator[str]:
    """The lines of a file for other commands: `prompts` of a benchmark, or `tools` of a server."""
    if kind == "prompts":
        return prompt_lines(name, data)
    from loadgen.sessions.mcp_tools import tool_set_lines

    return tool_set_lines(name)


def prompt_lines(task: str | None, data: Path | None) -> Iterator[str]:
    """Each question of a benchmark as a line of JSON, in the order of its rows.

    A line has the question's `id`, its `prompt` (the last text of the user, by which a replies file of
    `loadgen mock` finds it), the `messages` of its first turn, its `tools` and `tags` if any, and the later
    turns of a conversation as `follow_ups`.
    """
    import orjson

    from workloads.benchmark import dataset
    from workloads.task import parse

    if task is None:
        raise UsageError("list prompts: name a benchmark: loadgen list prompts TASK [--data DIR]")
    for question in dataset([parse(task)], data).questions:
        sample = question.sample
        later = [[dict(message) for message in turn.messages] for turn in sample.follow_ups]
        more = {"tools": sample.tools, "tags": sample.tags, "follow_ups": later}
        line = {
            "id": question.id,
            "prompt": sample.prompt,
            "messages": sample.messages(),
            **{name: value for name, value in more.items() if value},
        }
        yield orjson.dumps(line, str, orjson.OPT_APPEND_NEWLINE).decode()
