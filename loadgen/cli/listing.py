"""`loadgen list`: the names that the other commands and the log use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from loadgen.cli.terminal.streams import end_with_the_reader, print_json
from loadgen.sessions.settings.format_options import Json
from loadgen.sessions.settings.option import Argument, Option

Kind = Literal[
    "agents",
    "events",
    "failures",
    "findings",
    "formats",
    "loads",
    "metrics",
    "plugins",
    "prompts",
    "protocols",
    "rulesets",
    "runs",
    "scenarios",
    "tasks",
    "tool-sets",
    "tools",
    "traces",
    "views",
]


SessionHistory = Literal["cumulative", "live", "recorded", "messages"]


def listing(
    kind: Annotated[Kind, Argument(help="The kind of list.", show_default=False)],
    name: Annotated[
        str | None,
        Argument(
            help="Only the entry of this name; of tasks with all details. For runs: a folder, by default "
            "runs. For prompts: the benchmark or file. For tools: an MCP server, by URL or command. For "
            "traces: a file or folder.",
        ),
    ] = None,
    *,
    json: Json = False,
    data: Annotated[
        Path | None,
        Option(
            metavar="DIR",
            help="Of tool-sets: a folder with tool sets, descriptions and models. Of tasks and "
            "prompts: a folder with the data of benchmarks.",
        ),
    ] = None,
    trace_format: Annotated[
        str | None, Option(metavar="FORMAT", help="Of traces: the format. Default: found by content.")
    ] = None,
    history: Annotated[
        SessionHistory | None,
        Option(help="Of traces: the history that rows with a session id hold."),
    ] = None,
    agentic: Annotated[
        str | None,
        Option(
            metavar="FORM", help="Of traces: made-up agentic sessions in place of a file: NAME=VALUE ...."
        ),
    ] = None,
) -> None:
    """List runs, or the names that the other commands and the log use: events, metrics, benchmarks, views.

    [bold]Examples[/bold]

    loadgen list metrics

    loadgen list tasks

    loadgen list tasks gpqa

    loadgen list runs artifacts --json

    loadgen list prompts mmlu_pro:shots=0 --data data > prompts.jsonl

    loadgen list traces traces/

    loadgen list tools http://127.0.0.1:8000/mcp > data/tool_sets/mine.yaml
    """
    from loadgen.sessions.vocabulary import words_of

    end_with_the_reader()
    if kind == "runs":
        from loadgen.cli.list_runs import show
        from loadgen.sessions.run_list import listed

        sys.stdout.write(show(listed(Path(name or "runs")), json=json))
        return
    if kind in {"prompts", "tools"}:
        from loadgen.sessions.listed_files import lines_of

        sys.stdout.writelines(lines_of(kind, name, data))
        return
    if kind == "traces":
        _list_trace(name, agentic, trace_format, history, json=json)
        return
    if kind == "plugins":
        _list_plugins(json=json)
        return
    if kind == "tasks":
        _list_tasks(name, data, json=json)
        return
    words = words_of(kind, name, data)
    if json:
        print_json(words)
        return
    width = max(map(len, words))
    for word, meaning in words.items():
        print(f"{word:<{width}}  {meaning}".rstrip())


def _list_trace(
    name: str | None, agentic: str | None, form: str | None, history: str | None, *, json: bool
) -> None:
    from loadgen.sessions.errors import UsageError
    from workloads.registry import service

    if (name is None) == (agentic is None):
        raise UsageError("list traces: name a file or folder, or give --agentic: loadgen list traces FILE")
    if name is None:
        summary = service("agentic_summary")(agentic, 0)
    else:
        summary = service("trace_summary")(Path(name), form, history)
    if json:
        print_json(summary)
    else:
        sys.stdout.write(service("trace_summary_text")(summary))


def _list_plugins(*, json: bool) -> None:
    from loadgen.sessions.plugin_list import plugins, table

    if json:
        print_json(plugins())
    else:
        print(table())


def _list_tasks(name: str | None, data: Path | None, *, json: bool) -> None:
    from loadgen.sessions.errors import printable
    from loadgen.sessions.task_listing import details, facts, table, usable
    from workloads.catalog import problems, workload

    if name is None:
        for error in problems():
            sys.stderr.write(f"warning: {printable(str(error))}\n")
    if json:
        chosen = usable() if name is None else [workload(name)]
        described = {task.name: facts(task, data) for task in chosen}
        print_json(described)
    else:
        print(table(data) if name is None else details(workload(name), data))
