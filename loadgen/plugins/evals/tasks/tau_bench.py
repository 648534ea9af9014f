"""tau-bench: an agent with tools serves a simulated user (Yao et al., arXiv:2406.12045).

The airline's 50 and the shop's 115 tasks. A task is done where the database is at the end what the task's own
actions make of it, and the agent has said what it should; see `loadgen.plugins.evals.environments.tau`.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING, Any, Final

from loadgen.plugins.evals.environments.tau import episode
from loadgen.plugins.evals.environments.tau.reward import spoken_outputs
from loadgen.plugins.evals.headlines import by_tag
from loadgen.plugins.evals.tasks.benchmarks import ScoreRule, benchmark
from workloads.cells import text
from workloads.episode_program import EpisodeProgram, EpisodeSample
from workloads.errors import ColumnError, MalformedError, TaskError, did_you_mean
from workloads.question import Question
from workloads.score import Score, graded, unparsed
from workloads.scorer import Headline, Reference
from workloads.sources import FileRow, decoded, one_document, one_text, read_rows
from workloads.workload import Inputs, Source

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from workloads.answer import Answer

_COMMIT: Final = "59a200c6d575d595120f1cb70fea53cef0632f6b"
_PUBLISHED: Final = f"https://raw.githubusercontent.com/sierra-research/tau-bench/{_COMMIT}"
DOMAINS: Final = {"airline": ("flights", "reservations", "users"), "retail": ("orders", "products", "users")}
"""The tables of each domain."""


def questions(inputs: Inputs) -> Iterator[Question]:
    """One episode a task."""
    index = 0
    for domain in chosen("tau_bench", inputs.options["domain"], DOMAINS):
        (policy,) = inputs.more(f"{domain} policy")
        files = {}
        for table in DOMAINS[domain]:
            inputs.more(f"{domain} {table}")
            (files[table],) = map(str, inputs.paths(f"{domain} {table}"))
        for number, row in enumerate(inputs.more(f"{domain} tasks")):
            yield question_of(index, f"{domain}_{number}", domain, row, policy["text"], files)
            index += 1


def chosen(task: str, wanted: str, domains: Sequence[str] | dict[str, Any]) -> list[str]:
    """Read the option `domain`: `all`, or domains with `+` between."""
    names = set(domains if wanted == "all" else wanted.split("+"))
    for name in sorted(names - set(domains)):
        raise TaskError(
            f"{task}: domain={wanted}: there is no {name!r}{did_you_mean(name, domains)}; there are all, "
            f"{', '.join(domains)}"
        )
    return [name for name in domains if name in names]


def question_of(
    index: int, identifier: str, domain: str, row: FileRow, policy: str, files: dict[str, str]
) -> Question:
    """The episode of a task."""
    actions, outputs = row["actions"], row["outputs"]
    if not isinstance(actions, list) or not all(
        isinstance(action, dict) and {"name", "kwargs"} <= action.keys() for action in actions
    ):
        raise ColumnError(f"{row.place}: 'actions' must be a list of objects with 'name' and 'kwargs'")
    if not isinstance(outputs, list) or not all(isinstance(output, str) for output in outputs):
        raise ColumnError(f"{row.place}: 'outputs' must be a list of texts")
    instruction = text(row, "instruction")
    data = {"domain": domain, "instruction": instruction, "actions": actions}
    sample = EpisodeSample(
        index,
        instruction,
        chat=({"role": "system", "content": policy},),
        tools=tuple(episode.TOOLS[domain]().schemas),
        tags={"domain": domain},
        episode=EpisodeProgram(f"{episode.__name__}:play", data, files=files, user=True),
    )
    return Question(identifier, sample, {"actions": actions, "outputs": outputs})


def grade(reference: Reference, answer: Answer) -> Score:
    """1 if the database is in the expected state, and every output was given to the user."""
    if answer.episode is None or "database" not in answer.episode.details:
        ending = "not an episode" if answer.episode is None else answer.episode.ending
        return unparsed(f"neither the user nor the agent has ended the conversation: {ending}")
    replies = [
        message.get("content") or ""
        for message in answer.episode.messages
        if message["role"] == "assistant" and not message.get("tool_calls")
    ]
    unsaid = [output for output, done in spoken_outputs(replies, reference["outputs"]).items() if not done]
    matches = answer.episode.details["database"] == answer.episode.details["expected"]
    reasons = [] if matches else ["another database than after the task's actions"]
    reasons += [f"not said: {', '.join(unsaid)}"] if unsaid else []
    return graded(
        not reasons,
        replies[-1] if replies else "",
        "; ".join(reasons),
        database=float(matches),
        outputs=float(not unsaid),
    )


def declared_tasks(path: Path, content: bytes) -> Iterator[FileRow]:
    """Tasks in the repository's format, `[Task(instruction=…, actions=[Action(name=…, kwargs={…})], …)]`.

    The file is Python, of which only literals are read. Others have separate rows.
    """
    if ".py" not in path.suffixes:
        yield from read_rows(path, content)
        return
    try:
        tree = ast.parse(decoded(path, content))
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Task":
                yield FileRow(f"{path}, line {node.lineno}", _value(node))
    except (SyntaxError, ValueError) as error:
        raise MalformedError(f"{path}: no tasks that can be read: {error}") from error


def _value(node: ast.expr) -> Any:
    """A literal; a nested call is an object of arguments."""
    match node:
        case ast.Call(func=ast.Name(id="Task" | "Action"), keywords=keywords):
            return {keyword.arg: _value(keyword.value) for keyword in keywords}
        case ast.List(elts=elements):
            return [_value(element) for element in elements]
    return ast.literal_eval(node)


def _source(
    domain: str, file: str, columns: tuple[str, ...], rows: int | None = None, read: Any = one_document
) -> Source:
    """A file of a domain, in the repository's layout or in a flat folder."""
    inside = f"tau_bench/envs/{domain}/{file}"
    name = inside.rpartition("/")[2]
    short = inside.removeprefix("tau_bench/")
    return Source(
        files=(f"{inside}*", f"{short}*", f"{domain}_{name}*", f"{name}*"),
        urls=(f"{_PUBLISHED}/{inside}",),
        columns=columns,
        rows=rows,
        revision=_COMMIT,
        licence="MIT",
        read=read,
    )


_TASKS: Final = {
    domain: _source(domain, "tasks_test.py", ("instruction", "actions", "outputs"), rows, declared_tasks)
    for domain, rows in (("airline", 50), ("retail", 115))
}

WORKLOAD: Final = benchmark(
    "tau_bench",
    questions,
    source=Source(
        files=("tau_bench/envs/*/tasks_test.py", "*_tasks_test.py*", "tasks_test.py"),
        urls=_TASKS["airline"].urls,
        columns=("instruction", "actions", "outputs"),
        revision=_COMMIT,
        licence="MIT",
        read=declared_tasks,
    ),
    further={
        f"{domain} {name}": source
        for domain, tables in DOMAINS.items()
        for name, source in {
            "tasks": _TASKS[domain],
            "policy": _source(domain, "wiki.md", ("text",), 1, one_text),
            **{table: _source(domain, f"data/{table}.json", ("document",), 1) for table in tables},
        }.items()
    },
    official=ScoreRule(
        grade,
        headlines=(
            Headline("reward"),
            *by_tag("domain", DOMAINS),
        ),
    ),
)
