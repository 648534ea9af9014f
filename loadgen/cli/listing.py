"""`loadgen list`: the names that the other commands and the log use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from loadgen.sessions.settings.formats import Json
from loadgen.sessions.settings.option import Argument, Option

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


Kind = Literal[
    "events",
    "failures",
    "loads",
    "metrics",
    "prompts",
    "protocols",
    "rulesets",
    "runs",
    "scenarios",
    "tasks",
    "tool-sets",
    "views",
]


def listing(
    kind: Annotated[Kind, Argument(help="What to list.", show_default=False)],
    name: Annotated[
        str | None,
        Argument(
            help="Only the entry of this name; of tasks with all details. Of runs: their folder, by default "
            "runs. Of prompts: the benchmark or file.",
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
) -> None:
    """List runs, or the names that the other commands and the log use: events, metrics, benchmarks, views.

    [bold]Examples[/bold]

    loadgen list metrics

    loadgen list tasks

    loadgen list tasks gpqa

    loadgen list runs artifacts --json

    loadgen list prompts mmlu_pro:shots=0 --data data > prompts.jsonl
    """
    from loadgen.cli.terminal.pipe import end_with_the_reader
    from loadgen.sessions.vocabulary import (
        events,
        failures,
        loads,
        metrics,
        protocols,
        rulesets,
        scenarios,
        tool_sets,
        views,
    )

    end_with_the_reader()
    if kind == "runs":
        from loadgen.cli.run_list import show
        from loadgen.sessions.run_list import listed

        sys.stdout.write(show(listed(Path(name or "runs")), json=json))
        return
    if kind == "prompts":
        from loadgen.sessions.prompt_lines import prompt_lines

        sys.stdout.writelines(prompt_lines(name, data))
        return
    sources: Mapping[str, Callable[[], Mapping[str, str]]] = {
        "events": events,
        "failures": failures,
        "loads": loads,
        "metrics": metrics,
        "protocols": protocols,
        "rulesets": rulesets,
        "scenarios": scenarios,
        "tool-sets": lambda: tool_sets(data),
        "views": views,
    }
    if kind == "tasks":
        _list_tasks(name, data, json=json)
        return
    words = _of_name(kind, name, sources[kind]())
    if json:
        import orjson

        print(orjson.dumps(words, option=orjson.OPT_INDENT_2).decode())
        return
    width = max(map(len, words))
    for word, meaning in words.items():
        print(f"{word:<{width}}  {meaning}".rstrip())


def _of_name(kind: str, name: str | None, words: Mapping[str, str]) -> Mapping[str, str]:
    """The entry of a name; every entry without one.

    Raises:
        UsageError: No entry has this name.
    """
    if name is None:
        return words
    if name not in words:
        from loadgen.sessions.errors import UsageError
        from workloads.errors import did_you_mean

        raise UsageError(
            f"{name}: not one of the {kind}{did_you_mean(name, words)}; `loadgen list {kind}` lists them"
        )
    return {name: words[name]}


def _list_tasks(name: str | None, data: Path | None, *, json: bool) -> None:
    """Print every benchmark, or the details of one.

    Raises:
        TaskError: No benchmark has this name.
    """
    from loadgen.sessions.errors import printable
    from loadgen.sessions.task_listing import details, table, usable
    from loadgen.sessions.tasks import facts
    from workloads.catalog import problems, workload

    if name is None:
        for error in problems():
            sys.stderr.write(f"warning: {printable(str(error))}\n")
    if json:
        import orjson

        chosen = usable() if name is None else [workload(name)]
        described = {task.name: facts(task, data) for task in chosen}
        print(orjson.dumps(described, option=orjson.OPT_INDENT_2).decode())
    else:
        print(table(data) if name is None else details(workload(name), data))
