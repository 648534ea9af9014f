"""`loadgen list`: the words that the other commands and the log use."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from workloads.workload import Workload

Kind = Literal[
    "events", "failures", "loads", "metrics", "protocols", "rulesets", "scenarios", "tasks", "views"
]


def listing(
    kind: Annotated[Kind, typer.Argument(help="What to list.", show_default=False)],
    *,
    json: Annotated[bool, typer.Option("--json", help="Print a JSON object.")] = False,
) -> None:
    """List events, failures, loads, metrics, protocols, rulesets, mock scenarios, benchmarks, or views.

    [bold]Example[/bold]

    loadgen list metrics
    """
    from cli.pipe import end_with_the_reader

    end_with_the_reader()
    sources: Mapping[str, Callable[[], Mapping[str, str]]] = {
        "events": events,
        "failures": failures,
        "loads": loads,
        "metrics": metrics,
        "protocols": protocols,
        "rulesets": rulesets,
        "scenarios": scenarios,
        "tasks": tasks,
        "views": views,
    }
    words = sources[kind]()
    if json:
        import orjson

        told: Mapping[str, Any] = task_facts() if kind == "tasks" else words
        print(orjson.dumps(told, option=orjson.OPT_INDENT_2).decode())
        return
    width = max(map(len, words))
    for word, meaning in words.items():
        print(f"{word:<{width}}  {meaning}".rstrip())


def events() -> Mapping[str, str]:
    """Event names of the log, with their codes."""
    from recorder.event import EventType

    return {kind.name: f"code {kind.value}" for kind in EventType}


def failures() -> Mapping[str, str]:
    """Failure names, with the side that each one blames, and what they mean."""
    from loadgen.client.failure import HTTP_BLAMES, HTTP_MEANING, Failure

    named = {name.value: f"blames the {name.blames}: {name.meaning}" for name in Failure}
    return named | {"http_<code>": f"blames the {HTTP_BLAMES}: {HTTP_MEANING}"}


def loads() -> Mapping[str, str]:
    """Kinds of load, with the options that choose them."""
    from loadgen.plan import LoadKind

    options = {
        LoadKind.CLOSED: "--concurrency N",
        LoadKind.CONSTANT: "--rate R --arrival constant",
        LoadKind.POISSON: "--rate R",
        LoadKind.GAMMA: "--rate R --arrival gamma --burstiness B",
        LoadKind.UNIFORM: "--rate R --arrival uniform",
        LoadKind.TRACE: "--trace FILE|RUN",
        LoadKind.OFFLINE: "--offline",
    }
    return {kind.value: options[kind] for kind in LoadKind}


def metrics() -> Mapping[str, str]:
    """Metrics that a target can name, with their units."""
    from rulesets.quantity import ACCURACY, METRICS, SCORES

    every = METRICS | {f"{SCORES}NAME": ACCURACY}
    return {name: ", ".join([one.kind, *filter(None, one.units)]) for name, one in every.items()}


def protocols() -> Mapping[str, str]:
    """Protocols, with their paths."""
    from loadgen.workers.parts import CODECS, DESCRIBED

    fixed = {name: f"POST {codec.path}" for name, codec in CODECS.items()}
    return fixed | dict.fromkeys(DESCRIBED, "POST --path, with --body; the text stands at --text-at")


def rulesets() -> Mapping[str, str]:
    """Rulesets that come with the program, with the models and scenarios that they have rules for."""
    from rulesets.catalog import names
    from rulesets.loading import read

    books = {name: read(name) for name in names()}
    return {name: "; ".join(["locked"] * book.locked + [book.contents()]) for name, book in books.items()}


def scenarios() -> Mapping[str, str]:
    """Scenarios of the mock endpoint: what the server does, and what a client must see."""
    from loadgen.mock_endpoint.scenarios.catalog import CHAOS, SCENARIOS

    described = {
        name: f"{scenario.about}: {' or '.join(scenario.sees)}" for name, scenario in SCENARIOS.items()
    }
    return described | {CHAOS: "short answers, and a share of faults (--fault-share)"}


def tasks() -> Mapping[str, str]:
    """Benchmarks: what they ask, how many questions, how answers are scored, what can be said about them."""
    return {name: _told(facts) for name, facts in task_facts().items()}


def task_facts() -> Mapping[str, Mapping[str, Any]]:
    """What there is to know of each benchmark, as JSON."""
    from workloads.catalog import TASKS, workload

    return {name: _facts(workload(name)) for name in TASKS}


def _facts(workload: Workload) -> Mapping[str, Any]:
    scorers = [
        {
            "name": scorer.name,
            "version": scorer.version,
            "definition": scorer.definition,
            "judge": scorer.judge or None,
            "runs_code": scorer.runs_code,
            "headlines": [headline.name for headline in scorer.headlines],
            "note": scorer.note or None,
        }
        for scorer in workload.scorers
    ]
    return {
        "title": workload.title,
        "version": workload.version,
        "questions": workload.source.rows,
        "hub": workload.source.hub,
        "licence": workload.source.licence or None,
        "files": list(workload.source.files),
        "options": dict(workload.options),
        "max_tokens": workload.max_tokens,
        "temperature": workload.temperature,
        "groups": list(workload.groups),
        "scorers": scorers,
    }


def _told(facts: Mapping[str, Any]) -> str:
    """The facts of a benchmark in a line."""
    rows = None if facts["questions"] is None else f"{facts['questions']:,} questions"
    scorers = [
        scorer["name"] + " (judge)" * (scorer["judge"] is not None) + " (runs code)" * scorer["runs_code"]
        for scorer in facts["scorers"]
    ]
    options = ", ".join(f"{name}={value}" for name, value in facts["options"].items())
    parts = (facts["title"], rows, f"scorers: {', '.join(scorers)}", options and f"options: {options}")
    return "; ".join(filter(None, parts))


def views() -> Mapping[str, str]:
    """Views of the log that SQL can ask."""
    from reporter.query import VIEWS

    return VIEWS
